// A set of kept public items, free of moles: would one more item bring a mole with it?
// Every itemset of kept items is safe already, so only itemsets with the new item need a look: those inside its cohort.
#include "mining/limits.hpp"
#include "mining/rows.hpp"
#include "mining/slots.hpp"

namespace veilset {
namespace {

using namespace mining;

class Keeping {
public:
    Keeping(Array<int64_t> offsets, Array<int32_t> items, Array<uint8_t> sensitive, int64_t h_num, int64_t h_den,
            int64_t k, int64_t p)
        : offsets_(std::move(offsets)), items_(std::move(items)), sensitive_(std::move(sensitive)),
          data_(offsets_, items_, int32_t(sensitive_.size())), limits_{h_num, h_den, k, p},
          kept_(sensitive_.size(), false), begin_(sensitive_.size() + 1, 0), local_(sensitive_.size(), none),
          counts_(sensitive_.size(), 0) {
        group(begin_, rows_, [&](auto put) {
            for (Index r = 0; r < data_.rows(); ++r)
                for (int32_t item : data_.row(r)) put(item, int32_t(r));
        });
    }

    void keep(int32_t item) { kept_.at(item) = true; }
    void drop(int32_t item) { kept_.at(item) = false; }

    bool brings_mole(int32_t item, int64_t memory_limit, double time_limit) {
        if (item < 0 || item >= data_.vocabulary || sensitive_[item]) throw std::invalid_argument("not a public item");
        if (limits_.allow_everything()) return false;
        const auto rows = part(rows_, begin_, item);
        if (limits_.rare(rows.size()) || (limits_.may_grow(1) && rows.size() <= few && has_rare_pair(rows)))
            return true;
        Control control(memory_limit, time_limit, nb::none());
        bool found = false;
        control.single([&] { found = Cohort(*this, rows, control).has_mole(); });
        return found;
    }

private:
    // Most items of sparse data bring a rare pair. In a few rows that is seen sooner than a thread is started.
    static constexpr Index few = 4096;
    bool has_rare_pair(View<int32_t> rows) {
        List<int32_t> met;
        for (int32_t r : rows)
            for (int32_t item : data_.row(r))
                if (kept_[item] && counts_[item]++ == 0) met.push_back(item);
        bool found = false;
        for (int32_t item : met) found |= limits_.rare(std::exchange(counts_[item], 0));
        return found;
    }

    // The rows that hold the new item, with their kept and their sensitive items renumbered from 0; equal rows are one
    // row with a weight.
    class Cohort {
    public:
        Cohort(Keeping& owner, View<int32_t> rows, Control& control)
            : limits_(owner.limits_), control_(control), items_(control), sens_(control), weights_(control) {
            List<int32_t> met;
            int32_t items = 0, sensitive = 0;
            const bool nothing_to_hide = limits_.h_num >= limits_.h_den;
            Slots numbers(control);
            for (int32_t r : rows) {
                control_.poll();
                for (int32_t item : owner.data_.row(r)) {
                    const bool hidden = owner.sensitive_[item];
                    if (hidden ? nothing_to_hide : !owner.kept_[item]) continue;
                    int32_t& local = owner.local_[item];
                    if (local == none) {
                        local = hidden ? sensitive++ : items++;
                        met.push_back(item);
                    }
                    (hidden ? sens_ : items_).values.push_back(local);
                }
                std::sort(items_.values.begin() + items_.first.back(), items_.values.end());
                add(numbers);
            }
            for (int32_t item : met) owner.local_[item] = none;
            item_count_ = items;
            with_.assign(sensitive, 0);
        }

        bool has_mole() {
            const bool some_rare = a_row_is_rare();
            // Every itemset that occurs is part of a row, and no rarer.
            if (!some_rare && with_.empty()) return false;
            Index longest = 0;
            for (Index r = 0; r < weights_.size(); ++r) longest = std::max(longest, row(r).size());
            if (some_rare && limits_.may_grow(longest)) return true;  // the new item and that row
            Places everybody(control_);
            for (Index r = 0; r < weights_.size(); ++r) everybody.push_back({int32_t(r), items_.first[r]});
            return mole_at_or_above(everybody, 1);
        }

    private:
        struct Place {
            int32_t row;
            int64_t next;
        };
        using Places = Vector<Place>;

        View<int32_t> row(Index r) const { return items_[r]; }
        View<int32_t> hidden_in(Index r) const { return sens_[r]; }

        // The items at the end of items_ and sens_ become a row, unless there is one like it.
        void add(Slots& numbers) {
            const auto known = items_.open(), hidden = sens_.open();
            const int32_t at = numbers.find_or_add(hash_of(hidden, hash_of(known, known.size())), [&](int32_t other) {
                return std::ranges::equal(row(other), known) && std::ranges::equal(hidden_in(other), hidden);
            });
            if (at < weights_.size()) {
                ++weights_[at];
                items_.values.resize(items_.first.back());
                sens_.values.resize(sens_.first.back());
                return;
            }
            weights_.push_back(1);
            items_.close();
            sens_.close();
        }

        // Whether fewer than k rows hold all the items of some row.
        bool a_row_is_rare() const {
            List<int64_t> support(item_count_, 0);
            int64_t everybody = 0;
            for (Index r = 0; r < weights_.size(); ++r) {
                everybody += weights_[r];
                for (int32_t item : row(r)) support[item] += weights_[r];
            }
            const auto rare = [&](int64_t held) { return limits_.rare(held); };
            if (rare(everybody) || std::ranges::any_of(support, rare)) return true;
            Groups<int32_t> holders(control_);
            holders.fill(item_count_, [&](auto put) {
                for (Index r = 0; r < weights_.size(); ++r)
                    for (int32_t item : row(r)) put(item, int32_t(r));
            });
            for (Index r = 0; r < weights_.size(); ++r) {
                control_.poll();
                const auto items = row(r);
                if (items.empty()) continue;  // everybody holds that
                const int32_t rarest =
                    *std::ranges::min_element(items, {}, [&](int32_t item) { return holders[item].size(); });
                int64_t held = weights_[r];
                for (int32_t other : holders[rarest]) {
                    if (!rare(held)) break;
                    if (other != r && std::ranges::includes(row(other), items)) held += weights_[other];
                }
                if (rare(held)) return true;
            }
            return false;
        }

        // `places`: the rows of an itemset of `size` items. Extensions take items in ascending order; one that all
        // these rows hold is left out, since the itemset without it has the same rows.
        bool mole_at_or_above(const Places& places, Index size) {
            control_.poll();
            int64_t support = 0;
            for (const Place& place : places) support += weights_[place.row];
            if (limits_.rare(support) || breach(places, support)) return true;
            if (!limits_.may_grow(size)) return false;
            List<int64_t> count(item_count_, 0);
            for_each_item(places, [&](int32_t item, Place place) { count[item] += weights_[place.row]; });
            if (std::any_of(count.begin(), count.end(), [&](int64_t c) { return c > 0 && limits_.rare(c); }))
                return true;
            if (with_.empty() && !limits_.may_grow(size + 1)) return false;
            List<Places> deeper(item_count_, Places(control_));
            for_each_item(places, [&](int32_t item, Place place) {
                if (count[item] < support) deeper[item].push_back(place);
            });
            for (Places& extension : deeper) {
                if (!extension.empty() && mole_at_or_above(extension, size + 1)) return true;
                Places(control_).swap(extension);
            }
            return false;
        }

        bool breach(const Places& places, int64_t support) {
            bool found = false;
            for (const Place& place : places)
                for (int32_t s : hidden_in(place.row))
                    found |= limits_.breach(with_[s] += weights_[place.row], support);
            for (const Place& place : places)
                for (int32_t s : hidden_in(place.row)) with_[s] = 0;
            return found;
        }

        template <class Body>
        void for_each_item(const Places& places, Body body) const {
            for (const Place& place : places)
                for (int64_t i = place.next; i < items_.first[place.row + 1]; ++i)
                    body(items_.values[i], Place{place.row, i + 1});
        }

        Limits limits_;
        Control& control_;
        Groups<int32_t> items_, sens_;
        Vector<int64_t> weights_;
        Index item_count_ = 0;
        List<int64_t> with_;
    };

    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<uint8_t> sensitive_;
    Csr data_;
    Limits limits_;
    List<bool> kept_;
    List<int64_t> begin_;  // item -> its part of rows_
    List<int32_t> rows_;
    List<int32_t> local_;
    List<int32_t> counts_;  // zeros between the calls
};

}  // namespace

void register_mining_keeping(nb::module_& m) {
    nb::class_<Keeping>(m, "Keeping")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<uint8_t>, int64_t, int64_t, int64_t, int64_t>(),
             "offsets"_a, "items"_a, "sensitive"_a, nb::kw_only(), "h_num"_a, "h_den"_a, "k"_a, "p"_a)
        .def("keep", &Keeping::keep, "item"_a)
        .def("drop", &Keeping::drop, "item"_a)
        .def("brings_mole", &Keeping::brings_mole, "item"_a, nb::kw_only(), "memory_limit"_a, "time_limit"_a);
}

}  // namespace veilset
