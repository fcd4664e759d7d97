// Partial suppression for ρ-uncertainty: all public occurrences stay, and sensitive ones are put back, row by row,
// where every rule inside the row stays below ρ.
//
// Short rows come first, in passes until nothing changes. Then occurrences go and others return, at random: whatever
// keeps the promise may return, and what goes does so with a chance that falls (simulated annealing, in rows of up to
// ten items). The work is counted, not timed. Then passes again, and what is worth more stays.
//
// An occurrence of α in a row that holds S adds one to the support of χα for every χ within S. So only rules χ -> α and
// χα -> β with χ, β within S can become surer, and looking at all parts of S decides. Supports are kept in a table of
// all parts of short rows; in a row that is too long for it, no sensitive item comes back. If it is to be truthful, the
// supports in the original have to keep every such rule below ρ, too.

#include <cmath>

#include "partial/supports.hpp"

namespace veilset {
namespace {

using namespace partial;

class Returning {
public:
    Returning(const Csr& data, View<uint8_t> returns, View<int64_t> worth, Rho rho, bool truthful, int64_t most_parts,
              Control& control)
        : data_(data), returns_(returns), worth_(worth), rho_(rho), truthful_(truthful), control_(control),
          table_(control), exchanged_(control), met_(control) {
        by_length_ = ordered_by(data.rows(), [&](int32_t r) { return data.row(r).size(); });
        for (int32_t r : by_length_) {
            const Index length = data.row(r).size();
            if (length >= longest || parts_ + (int64_t(1) << length) > most_parts) break;
            parts_ += int64_t(1) << length;
            ++short_;
        }
    }

    // `work` bounds the exchanges.
    List<uint8_t> run(int64_t work) {
        count();
        kept_.assign(data_.items.size(), 1);
        for (Index at = 0; at < kept_.size(); ++at) kept_[at] = !returns_[data_.items[at]];
        put_all_back();
        const List<uint8_t> first = kept_;
        anneal(work);
        put_all_back();
        return worth(kept_) > worth(first) ? std::move(kept_) : first;
    }

private:
    static constexpr Index longest = 24, longest_exchanged = 10;
    static constexpr double hot = 0.3, cold = 0.1;
    static constexpr int64_t steps = 100, most_turns = 10;  // of each occurrence in one step

    void put_all_back() {
        for (int64_t back = 1; back > 0;) {
            back = 0;
            for (Index n = 0; n < short_; ++n) {
                control_.poll();
                back += put_back(by_length_[n]);
            }
        }
    }

    int64_t worth(const List<uint8_t>& kept) const {
        int64_t all = 0;
        for (Index at = 0; at < kept.size(); ++at)
            if (kept[at]) all += worth_[data_.items[at]];
        return all;
    }

    struct Position {
        int32_t row;
        int64_t next;
    };

    // All parts of short rows, with the rows that hold them: depth first, over the items in their order.
    void count() {
        List<Position> rows;
        List<uint8_t> is_short(data_.rows(), 0);
        for (Index n = 0; n < short_; ++n) is_short[by_length_[n]] = 1;
        for (Index r = 0; r < data_.rows(); ++r) rows.push_back({int32_t(r), data_.offsets[r]});
        is_short_ = std::move(is_short);
        walk(View(rows), 0, 0, false);
    }

    void walk(View<Position> rows, int64_t depth, uint64_t hash, bool returns) {
        control_.poll();
        table_.add(hash, {int32_t(rows.size()), returns ? 0 : int32_t(rows.size())});
        while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
        Level& at = *levels_[depth];
        at.number.resize(data_.vocabulary, -1);
        at.items.clear();
        for (const Position& one : rows)
            if (is_short_[one.row])
                for (int64_t i = one.next; i < data_.offsets[one.row + 1]; ++i)
                    if (at.number[data_.items[i]] < 0)
                        at.number[data_.items[i]] = 0, at.items.push_back(data_.items[i]);
        if (at.items.empty()) return;
        for (Index n = 0; n < at.items.size(); ++n) at.number[at.items[n]] = int32_t(n);
        at.begin.assign(at.items.size() + 1, 0);
        group(at.begin, at.rows, [&](auto put) {
            for (const Position& one : rows)
                for (int64_t i = one.next; i < data_.offsets[one.row + 1]; ++i)
                    if (const int32_t n = at.number[data_.items[i]]; n >= 0) put(n, Position{one.row, i + 1});
        });
        for (int32_t item : at.items) at.number[item] = -1;
        for (Index n = 0; n < at.items.size(); ++n) {
            const int32_t item = at.items[n];
            walk(part(at.rows, at.begin, n), depth + 1, hash + stirred(item), returns || returns_[item]);
        }
    }

    // The sensitive items of one row, those that are worth most first, then the most frequent; how many came
    // back.
    int64_t put_back(int32_t row) {
        int64_t back = 0;
        look_at(row, -1);
        List<int64_t> waiting;
        for (int64_t at = data_.offsets[row]; at < data_.offsets[row + 1]; ++at)
            if (!kept_[at]) waiting.push_back(at);
        std::ranges::sort(waiting, {}, [&](int64_t at) {
            return std::tuple(-worth_[data_.items[at]], -table_.at(stirred(data_.items[at])).before, at);
        });
        for (int64_t at : waiting) back += returned(at);
        return back;
    }

    // What a row has now, but for one occurrence, and all parts of it.
    void look_at(int32_t row, int64_t without) {
        held_.clear();
        parts_of_row_.assign(1, {0, &table_.at(0)});
        for (const bool returns : {false, true})
            for (int64_t at = data_.offsets[row]; at < data_.offsets[row + 1]; ++at) {
                const int32_t item = data_.items[at];
                if (bool(returns_[item]) != returns || !kept_[at] || at == without) continue;
                extend(stirred(item));
                if (returns) held_.push_back(item);
            }
        work_ += parts_of_row_.size();
    }

    bool returned(int64_t at) {
        const int32_t item = data_.items[at];
        if (!may_return(stirred(item))) return false;
        for (const Part& one : parts_of_row_) ++table_.at(one.hash + stirred(item)).now;
        extend(stirred(item));
        held_.push_back(item);
        kept_[at] = 1;
        return true;
    }

    struct Part {
        uint64_t hash;
        Supports* supports;
    };
    void extend(uint64_t item) {
        const Index before = parts_of_row_.size();
        for (Index n = 0; n < before; ++n) {
            const uint64_t hash = parts_of_row_[n].hash + item;
            parts_of_row_.push_back({hash, &table_.at(hash)});
        }
    }

    bool may_return(uint64_t alpha) {
        for (const Part& one : std::views::reverse(parts_of_row_)) {  // the largest, which few rows hold, first
            const Supports& with = table_.at(one.hash + alpha);
            if (rho_.reached(with.now + 1, one.supports->now)) return false;
            if (truthful_ && rho_.reached(with.before, one.supports->before)) return false;
        }
        // Part number n holds the last of the held items if the highest bits of n say so: they were added in this
        // order.
        const Index base = parts_of_row_.size() >> held_.size();
        for (Index h = 0; h < held_.size(); ++h) {
            const Index bit = base << h;
            for (Index n = 0; n < parts_of_row_.size(); ++n) {
                if (!(n & bit)) continue;
                const Supports& both = table_.at(parts_of_row_[n].hash + alpha);
                const Supports& known = table_.at(parts_of_row_[n - bit].hash + alpha);
                if (rho_.reached(both.now + 1, known.now + 1)) return false;
                if (truthful_ && rho_.reached(both.before, known.before)) return false;
            }
        }
        return true;
    }

    // Occurrences that may be exchanged, and for each sensitive item the others that it ever meets, in rows of any
    // length: a rule that starts from it may be about any of them.
    void list_exchanged() {
        Vector<std::pair<int32_t, int32_t>> met(control_);
        const auto each_once = [&] {
            std::ranges::sort(met);
            const auto [twice, end] = std::ranges::unique(met);
            met.resize(twice - met.begin());
        };
        for (Index n = 0, many = 1 << 20; n < short_; ++n) {
            control_.poll();
            const int32_t row = by_length_[n];
            for (int64_t at = data_.offsets[row]; at < data_.offsets[row + 1]; ++at) {
                const int32_t item = data_.items[at];
                if (!returns_[item]) continue;
                if (data_.row(row).size() <= longest_exchanged) exchanged_.emplace_back(row, at);
                for (int32_t other : data_.row(row))
                    if (returns_[other] && other != item) met.emplace_back(item, other);
            }
            if (met.size() < many) continue;
            each_once();
            many = std::max(many, 2 * met.size());
        }
        each_once();
        met_begin_.assign(data_.vocabulary + 1, 0);
        group(met_begin_, met_, [&](auto put) {
            for (const auto& [item, other] : met) put(item, other);
        });
    }

    void anneal(int64_t work) {
        list_exchanged();
        if (exchanged_.empty()) return;
        double unit = 0;
        for (const auto& [row, at] : exchanged_) unit += double(worth_[data_.items[at]]) / double(exchanged_.size());
        for (int64_t step = 0, before = work_; step < steps; ++step) {
            const double heat = unit * hot * std::pow(cold / hot, double(step) / double(steps - 1));
            for (int64_t turns = 0;
                 work_ < before + work * (step + 1) / steps && turns < most_turns * exchanged_.size(); ++turns) {
                control_.poll();
                ++work_;
                const auto& [row, at] = exchanged_[random() % exchanged_.size()];
                if (!kept_[at]) {
                    look_at(row, -1);
                    returned(at);
                } else if (double(random() >> 11) * 0x1p-53 < std::exp(-double(worth_[data_.items[at]]) / heat)) {
                    look_at(row, at);
                    if (may_go(data_.items[at])) go(at);
                }
            }
        }
    }

    // Whether no rule gets too sure because one row less holds what it starts from.
    bool may_go(int32_t item) {
        for (int32_t other : part(met_, met_begin_, item)) {
            const uint64_t both = stirred(item) + stirred(other);
            if (table_.at(both).now == 0 || std::ranges::find(held_, other) != held_.end()) continue;
            work_ += parts_of_row_.size();
            for (const Part& one : parts_of_row_) {
                const int64_t with = table_.at(one.hash + both).now;
                if (with > 0 && rho_.reached(with, table_.at(one.hash + stirred(item)).now - 1)) return false;
            }
        }
        return true;
    }
    void go(int64_t at) {
        for (const Part& one : parts_of_row_) --table_.at(one.hash + stirred(data_.items[at])).now;
        kept_[at] = 0;
    }

    uint64_t random() { return mix(dice_ += random_step); }

    struct Level {
        List<int32_t> number, items;
        List<int64_t> begin;
        List<Position> rows;
    };

    const Csr& data_;
    View<uint8_t> returns_;
    View<int64_t> worth_;
    Rho rho_;
    bool truthful_;
    Control& control_;
    List<int32_t> by_length_;
    int64_t parts_ = 0;
    Index short_ = 0;
    List<uint8_t> is_short_, kept_;
    Table table_;
    List<std::unique_ptr<Level>> levels_;
    List<Part> parts_of_row_;
    List<int64_t> held_;  // the sensitive items of that row
    Vector<std::pair<int32_t, int64_t>> exchanged_;
    List<int64_t> met_begin_;
    Vector<int32_t> met_;
    int64_t work_ = 0;
    uint64_t dice_ = 0;
};

// Which occurrences are left. `returns`: the sensitive items that go first and may return; `most_parts`: how many parts
// of rows may be looked at; `work` bounds the exchanges.
Output<uint8_t> put_sensitive_back(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                                   View<uint8_t> returns, View<int64_t> worth, int64_t rho_num, int64_t rho_den,
                                   bool truthful, int64_t most_parts, int64_t work) {
    const Csr data(offsets, items, vocabulary);
    if (returns.size() != vocabulary || worth.size() != vocabulary)
        throw std::invalid_argument("a mark and a weight for each item, please");
    if (data.rows() > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("too many rows");
    control.begin(0, 1);
    return to_numpy(control.single(
        [&] { return Returning(data, returns, worth, {rho_num, rho_den}, truthful, most_parts, control).run(work); }));
}

}  // namespace

void register_partial_sensitive(nb::module_& m) {
    def_kernel(m, "put_sensitive_back", put_sensitive_back, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(),
               "returns"_a, "worth"_a, "rho_num"_a, "rho_den"_a, "truthful"_a, "most_parts"_a, "work"_a);
}

}  // namespace veilset
