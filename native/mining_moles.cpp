// Minimal moles, found from the columns (the auditor counts along the rows: it shares only the CSR view with this).
//
// A depth-first search over public itemsets, items from the rarest to the most frequent. A node is a safe itemset P
// with its cover (the rows that hold it) and the items that may extend it. Branches are visited from the last to the
// first, so that every subset of P + {a, b} has been judged before it: the safe ones are in a trie, and an itemset
// with a subset outside of it is no minimal mole and is not extended (thesis Observation 4).
//
// Covers are bitmaps where the data is dense and lists of rows where it is sparse.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "control.hpp"
#include "csr.hpp"

namespace veilset {
namespace {

constexpr int32_t none = -1;

struct Limits {
    int64_t h_num, h_den, k;
    int64_t p;  // 0: unlimited
    bool breach(int64_t with, int64_t support) const { return with * h_den > h_num * support; }
    bool may_grow(size_t size) const { return p == 0 || int64_t(size) < p; }
};

// The data by columns: covers of the public items that occur, and for each row its sensitive items.
struct Columns {
    std::vector<int32_t> items;  // rank -> vocabulary code, rarest first
    std::vector<int32_t> sensitive;
    Vector<int64_t> row_offsets, sens_offsets;
    Vector<int32_t> row_items, row_sensitive;
    int64_t rows;

    Columns(const Csr& data, std::span<const uint8_t> is_sensitive, Control& control)
        : row_offsets(control), sens_offsets(control), row_items(control), row_sensitive(control), rows(data.rows()) {
        std::vector<int64_t> support(size_t(data.vocabulary), 0);
        for (int32_t item : data.items) ++support[size_t(item)];
        std::vector<int32_t> rank(size_t(data.vocabulary), none);
        for (int32_t i = 0; i < data.vocabulary; ++i) {
            if (is_sensitive[size_t(i)]) {
                rank[size_t(i)] = int32_t(sensitive.size());
                sensitive.push_back(i);
            } else if (support[size_t(i)] > 0) {
                items.push_back(i);
            }
        }
        std::stable_sort(items.begin(), items.end(), [&](int32_t a, int32_t b) { return support[size_t(a)] < support[size_t(b)]; });
        for (size_t i = 0; i < items.size(); ++i) rank[size_t(items[i])] = int32_t(i);
        row_offsets.push_back(0);
        sens_offsets.push_back(0);
        for (int64_t r = 0; r < rows; ++r) {
            for (int32_t item : data.row(r)) (is_sensitive[size_t(item)] ? row_sensitive : row_items).push_back(rank[size_t(item)]);
            std::sort(row_items.begin() + row_offsets.back(), row_items.end());
            row_offsets.push_back(int64_t(row_items.size()));
            sens_offsets.push_back(int64_t(row_sensitive.size()));
        }
    }
};

struct TidList {
    using Words = Vector<int32_t>;
    Words rows;
    int64_t support() const { return int64_t(rows.size()); }
};

struct Bitmap {
    using Words = Vector<uint64_t>;
    Words words;
    int64_t ones;
    int64_t support() const { return ones; }
};

// What a cover type must be able to do; built once for the data.
class TidLists {
public:
    using Cover = TidList;
    TidLists(const Columns& data, Control& control) : data_(data), control_(control), counts_(data.sensitive.size(), 0) {}

    std::vector<Cover> singles() const {
        std::vector<Cover> covers(data_.items.size(), Cover{TidList::Words(control_)});
        for (int64_t r = 0; r < data_.rows; ++r)
            for (int64_t i = data_.row_offsets[size_t(r)]; i < data_.row_offsets[size_t(r) + 1]; ++i)
                covers[size_t(data_.row_items[size_t(i)])].rows.push_back(int32_t(r));
        return covers;
    }
    Cover intersect(const Cover& a, const Cover& b) const {
        Cover both{TidList::Words(control_)};
        std::set_intersection(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(both.rows));
        return both;
    }
    // The most frequent sensitive item of the cover and its count.
    std::pair<int32_t, int64_t> most_sensitive(const Cover& cover) {
        for_each_sensitive(cover, [&](int32_t s) { ++counts_[size_t(s)]; });
        std::pair<int32_t, int64_t> most{none, 0};
        for_each_sensitive(cover, [&](int32_t s) {
            const int64_t count = counts_[size_t(s)];
            if (count > most.second || (count == most.second && s < most.first)) most = {s, count};
        });
        for_each_sensitive(cover, [&](int32_t s) { counts_[size_t(s)] = 0; });
        return most;
    }
    // Covers of {a, b} for the safe items b after a, read off the rows of a: few pairs of a sparse file occur.
    template <class Body>
    void for_each_pair(int32_t a, const std::vector<Cover>& singles, const std::vector<bool>& safe, Body body) {
        pairs_.resize(singles.size(), Cover{TidList::Words(control_)});
        std::vector<int32_t> met;
        for (int32_t row : singles[size_t(a)].rows) {
            auto end = data_.row_items.begin() + data_.row_offsets[size_t(row) + 1];
            for (auto at = std::upper_bound(data_.row_items.begin() + data_.row_offsets[size_t(row)], end, a); at != end; ++at) {
                if (!safe[size_t(*at)]) continue;
                if (pairs_[size_t(*at)].rows.empty()) met.push_back(*at);
                pairs_[size_t(*at)].rows.push_back(row);
            }
        }
        std::sort(met.begin(), met.end());
        for (int32_t b : met) {
            body(b, Cover(pairs_[size_t(b)]));
            pairs_[size_t(b)].rows.clear();
        }
    }
    template <class Body>
    void for_each_row(const Cover& cover, Body body) const {
        for (int32_t row : cover.rows) body(row);
    }

private:
    template <class Body>
    void for_each_sensitive(const Cover& cover, Body body) const {
        for (int32_t row : cover.rows)
            for (int64_t i = data_.sens_offsets[size_t(row)]; i < data_.sens_offsets[size_t(row) + 1]; ++i) body(data_.row_sensitive[size_t(i)]);
    }
    const Columns& data_;
    Control& control_;
    std::vector<int64_t> counts_;
    std::vector<Cover> pairs_;
};

class Bitmaps {
public:
    using Cover = Bitmap;
    Bitmaps(const Columns& data, Control& control) : data_(data), control_(control), words_(size_t(data.rows + 63) / 64) {
        sensitive_ = from_rows(data.sensitive.size(), data.sens_offsets, data.row_sensitive);
    }
    std::vector<Cover> singles() const { return from_rows(data_.items.size(), data_.row_offsets, data_.row_items); }
    Cover intersect(const Cover& a, const Cover& b) const {
        Cover both{Bitmap::Words(words_, control_), 0};
        both.ones = and_store_count(a.words.data(), b.words.data(), both.words.data(), words_);
        return both;
    }
    std::pair<int32_t, int64_t> most_sensitive(const Cover& cover) const {
        std::pair<int32_t, int64_t> most{none, 0};
        for (size_t s = 0; s < sensitive_.size(); ++s) {
            const int64_t count = and_count(cover.words.data(), sensitive_[s].words.data(), words_);
            if (count > most.second) most = {int32_t(s), count};
        }
        return most;
    }
    template <class Body>
    void for_each_pair(int32_t a, const std::vector<Cover>& singles, const std::vector<bool>& safe, Body body) {
        for (size_t b = size_t(a) + 1; b < singles.size(); ++b) {
            if (!safe[b]) continue;
            Cover both = intersect(singles[size_t(a)], singles[b]);
            if (both.ones > 0) body(int32_t(b), std::move(both));
        }
    }
    template <class Body>
    void for_each_row(const Cover& cover, Body body) const {
        for (size_t w = 0; w < words_; ++w)
            for (uint64_t left = cover.words[w]; left; left &= left - 1) body(int32_t(64 * w + size_t(__builtin_ctzll(left))));
    }

private:
    std::vector<Cover> from_rows(size_t count, const Vector<int64_t>& offsets, const Vector<int32_t>& items) const {
        std::vector<Cover> covers(count, Cover{Bitmap::Words(words_, 0, control_), 0});
        for (int64_t r = 0; r < data_.rows; ++r)
            for (int64_t i = offsets[size_t(r)]; i < offsets[size_t(r) + 1]; ++i) {
                Cover& cover = covers[size_t(items[size_t(i)])];
                cover.words[size_t(r / 64)] |= uint64_t(1) << (r % 64);
                ++cover.ones;
            }
        return covers;
    }
    const Columns& data_;
    Control& control_;
    size_t words_;
    std::vector<Cover> sensitive_;
};

// The safe itemsets: (parent, item) -> node, in one hash table. The nodes of single items are their ranks.
class Trie {
public:
    Trie(size_t items, Control& control) : keys_(1024, empty, control), nodes_(1024, 0, control), items_(items), next_(int64_t(items)) {}

    int64_t find(int64_t parent, int32_t item) const {
        const size_t slot = slot_of(key(parent, item));
        return keys_[slot] == empty ? none : nodes_[slot];
    }
    int64_t insert(int64_t parent, int32_t item) {
        if (2 * size_ >= keys_.size()) grow();
        const size_t slot = slot_of(key(parent, item));
        ++size_;
        keys_[slot] = key(parent, item);
        return nodes_[slot] = next_++;
    }

private:
    static constexpr uint64_t empty = ~uint64_t(0);
    uint64_t key(int64_t parent, int32_t item) const { return uint64_t(parent) * items_ + uint64_t(item); }
    size_t slot_of(uint64_t key) const {
        size_t slot = (key * 0x9E3779B97F4A7C15u >> 20) & (keys_.size() - 1);
        while (keys_[slot] != empty && keys_[slot] != key) slot = (slot + 1) & (keys_.size() - 1);
        return slot;
    }
    void grow() {
        Vector<uint64_t> keys(2 * keys_.size(), empty, keys_.get_allocator());
        Vector<int64_t> nodes(2 * keys_.size(), 0, nodes_.get_allocator());
        keys.swap(keys_);
        nodes.swap(nodes_);
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i] != empty) {
                const size_t slot = slot_of(keys[i]);
                keys_[slot] = keys[i];
                nodes_[slot] = nodes[i];
            }
    }

    Vector<uint64_t> keys_;
    Vector<int64_t> nodes_;
    size_t items_;
    int64_t next_;
    size_t size_ = 0;
};

// The search. Sink: mole(itemset as ranks, covers, cover, sensitive rank or none, count with it).
template <class Covers, class Sink>
class Search {
    using Cover = typename Covers::Cover;
    struct Extension {
        int32_t item;
        Cover cover;
        int64_t node;
    };

public:
    Search(const Columns& data, Limits limits, Control& control, Sink& sink)
        : limits_(limits), control_(control), covers_(data, control), sink_(sink), singles_(covers_.singles()), trie_(data.items.size(), control),
          safe_(data.items.size(), false) {}

    void run() {
        control_.begin(1, int64_t(singles_.size()));
        for (size_t i = 0; i < singles_.size(); ++i) {
            const int32_t item = int32_t(i);
            itemset_.assign(1, item);
            safe_[i] = judge(singles_[i]);
        }
        if (!limits_.may_grow(1)) return;
        for (int32_t a = int32_t(singles_.size()) - 1; a >= 0; --a) {
            control_.advance();
            if (!safe_[size_t(a)]) continue;
            std::vector<Extension> pairs;
            covers_.for_each_pair(a, singles_, safe_, [&](int32_t b, Cover&& cover) {
                itemset_ = {a, b};
                if (judge(cover)) pairs.push_back({b, std::move(cover), trie_.insert(a, b)});
            });
            itemset_ = {a};
            if (limits_.may_grow(2)) expand(pairs);
        }
    }

private:
    // itemset_ is P; the extensions are the items e, in ascending order, for which P + e is safe.
    void expand(std::vector<Extension>& extensions) {
        for (size_t i = extensions.size(); i-- > 0;) {
            control_.poll();
            std::vector<Extension> deeper;
            itemset_.push_back(extensions[i].item);
            for (size_t j = i + 1; j < extensions.size(); ++j) {
                itemset_.push_back(extensions[j].item);
                if (subsets_safe()) {
                    Cover both = covers_.intersect(extensions[i].cover, extensions[j].cover);
                    if (both.support() > 0 && judge(both) && limits_.may_grow(itemset_.size()))
                        deeper.push_back({extensions[j].item, std::move(both), trie_.insert(extensions[i].node, extensions[j].item)});
                }
                itemset_.pop_back();
            }
            if (!deeper.empty()) expand(deeper);
            itemset_.pop_back();
        }
    }

    // P + a and P + b are safe; what is left to ask is every subset that lacks one item of P.
    bool subsets_safe() const {
        for (size_t left_out = 0; left_out + 2 < itemset_.size(); ++left_out) {
            int64_t node = left_out == 0 ? itemset_[1] : itemset_[0];
            for (size_t i = left_out == 0 ? 2 : 1; i < itemset_.size() && node != none; ++i)
                if (i != left_out) node = trie_.find(node, itemset_[i]);
            if (node == none) return false;
        }
        return true;
    }

    // Is itemset_, whose proper subsets are all safe, safe itself? If not, it is a minimal mole.
    bool judge(const Cover& cover) {
        const int64_t support = cover.support();
        auto [sensitive, with] = covers_.most_sensitive(cover);
        if (support >= limits_.k && !limits_.breach(with, support)) return true;
        sink_.mole(itemset_, covers_, cover, sensitive, with);
        return false;
    }

    Limits limits_;
    Control& control_;
    Covers covers_;
    Sink& sink_;
    std::vector<Cover> singles_;
    Trie trie_;
    std::vector<bool> safe_;
    std::vector<int32_t> itemset_;
};

template <class Sink>
void search(const Columns& data, Limits limits, Control& control, Sink& sink) {
    // A bitmap costs rows/8 bytes an item, a list 4 bytes a row that holds it: they break even at a density of 1/32.
    const bool dense = int64_t(data.row_items.size()) * 32 > data.rows * int64_t(data.items.size());
    if (dense) Search<Bitmaps, Sink>(data, limits, control, sink).run();
    else Search<TidLists, Sink>(data, limits, control, sink).run();
}

// Keeps the moles, by size.
struct Collect {
    const Columns& data;
    Control& control;
    struct OfSize {
        Vector<int32_t> items, sensitive;
        Vector<int64_t> support, with;
    };
    std::vector<OfSize> sizes;

    template <class Covers>
    void mole(const std::vector<int32_t>& itemset, const Covers&, const typename Covers::Cover& cover, int32_t sensitive, int64_t with) {
        while (sizes.size() < itemset.size())
            sizes.push_back({Vector<int32_t>(control), Vector<int32_t>(control), Vector<int64_t>(control), Vector<int64_t>(control)});
        OfSize& of = sizes[itemset.size() - 1];
        const size_t first = of.items.size();
        for (int32_t item : itemset) of.items.push_back(data.items[size_t(item)]);
        std::sort(of.items.begin() + ptrdiff_t(first), of.items.end());
        of.support.push_back(cover.support());
        of.sensitive.push_back(sensitive == none ? none : data.sensitive[size_t(sensitive)]);
        of.with.push_back(with);
    }
};

// Marks the items that occur in any mole, minimal or not. X + v is a mole for every v that shares a row with a minimal
// mole X of fewer than p items; so such a row gives all of its items.
struct Mark {
    std::vector<uint8_t> items, rows;
    Limits limits;

    template <class Covers>
    void mole(const std::vector<int32_t>& itemset, const Covers& covers, const typename Covers::Cover& cover, int32_t, int64_t) {
        for (int32_t item : itemset) items[size_t(item)] = 1;
        if (limits.may_grow(itemset.size())) covers.for_each_row(cover, [&](int32_t row) { rows[size_t(row)] = 1; });
    }
};

template <class T>
std::vector<T> plain(const Vector<T>& values) {
    return {values.begin(), values.end()};
}

nb::list minimal_moles(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<uint8_t>& sensitive, int64_t h_num, int64_t h_den,
                       int64_t k, int64_t p, int64_t memory_limit, double time_limit, nb::object progress) {
    Csr csr(offsets, items, int32_t(sensitive.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    Columns data(csr, span_of(sensitive), control);
    Collect sink{data, control, {}};
    control.single([&] { search(data, {h_num, h_den, k, p}, control, sink); });
    nb::list sizes;
    for (auto& of : sink.sizes)
        sizes.append(nb::make_tuple(to_numpy(plain(of.items)), to_numpy(plain(of.support)), to_numpy(plain(of.sensitive)), to_numpy(plain(of.with))));
    return sizes;
}

Output<uint8_t> items_in_moles(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<uint8_t>& sensitive, int64_t h_num,
                               int64_t h_den, int64_t k, int64_t p, int64_t memory_limit, double time_limit, nb::object progress) {
    Csr csr(offsets, items, int32_t(sensitive.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    Columns data(csr, span_of(sensitive), control);
    const Limits limits{h_num, h_den, k, p};
    Mark sink{std::vector<uint8_t>(data.items.size(), 0), std::vector<uint8_t>(size_t(data.rows), 0), limits};
    control.single([&] { search(data, limits, control, sink); });
    for (int64_t r = 0; r < data.rows; ++r)
        if (sink.rows[size_t(r)])
            for (int64_t i = data.row_offsets[size_t(r)]; i < data.row_offsets[size_t(r) + 1]; ++i) sink.items[size_t(data.row_items[size_t(i)])] = 1;
    std::vector<uint8_t> mask(sensitive.size(), 0);
    for (size_t i = 0; i < sink.items.size(); ++i) mask[size_t(data.items[i])] = sink.items[i];
    return to_numpy(std::move(mask));
}

// A growing set of kept public items, free of moles: would one more item bring a mole with it?
// Every itemset of kept items is safe already, so only itemsets with the new item need a look: those inside its cohort.
class Keeping {
public:
    Keeping(Array<int64_t> offsets, Array<int32_t> items, Array<uint8_t> sensitive, int64_t h_num, int64_t h_den, int64_t k, int64_t p)
        : offsets_(std::move(offsets)), items_(std::move(items)), sensitive_(std::move(sensitive)), data_(offsets_, items_, int32_t(sensitive_.size())),
          limits_{h_num, h_den, k, p}, kept_(sensitive_.size(), false), begin_(sensitive_.size() + 1, 0), rows_(data_.items.size()),
          local_(sensitive_.size(), none) {
        for (int32_t item : data_.items) ++begin_[size_t(item) + 1];
        for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
        for (int64_t r = 0; r < data_.rows(); ++r)
            for (int32_t item : data_.row(r)) rows_[size_t(next[size_t(item)]++)] = int32_t(r);
    }

    void keep(int32_t item) { kept_.at(size_t(item)) = true; }

    bool brings_mole(int32_t item, int64_t memory_limit, double time_limit) {
        if (item < 0 || item >= data_.vocabulary || sensitive_.data()[item]) throw std::invalid_argument("not a public item");
        Control control(memory_limit, time_limit, nb::none());
        bool found = false;
        control.single([&] {
            Cohort cohort(*this, std::span(rows_).subspan(size_t(begin_[size_t(item)]), size_t(begin_[size_t(item) + 1] - begin_[size_t(item)])), control);
            found = cohort.has_mole();
        });
        return found;
    }

private:
    // The rows that hold the new item, with their kept and their sensitive items renumbered from 0.
    class Cohort {
    public:
        Cohort(Keeping& owner, std::span<const int32_t> rows, Control& control)
            : limits_(owner.limits_), control_(control), offsets_(control), items_(control), sens_offsets_(control), sens_(control) {
            std::vector<int32_t> met;
            int32_t items = 0, sensitive = 0;
            offsets_.push_back(0);
            sens_offsets_.push_back(0);
            for (int32_t row : rows) {
                for (int32_t item : owner.data_.row(row)) {
                    const bool hidden = owner.sensitive_.data()[item];
                    if (!hidden && !owner.kept_[size_t(item)]) continue;
                    int32_t& local = owner.local_[size_t(item)];
                    if (local == none) {
                        local = hidden ? sensitive++ : items++;
                        met.push_back(item);
                    }
                    (hidden ? sens_ : items_).push_back(local);
                }
                std::sort(items_.begin() + offsets_.back(), items_.end());
                offsets_.push_back(int64_t(items_.size()));
                sens_offsets_.push_back(int64_t(sens_.size()));
            }
            for (int32_t item : met) owner.local_[size_t(item)] = none;
            item_count_ = size_t(items);
            with_.assign(size_t(sensitive), 0);
        }

        bool has_mole() {
            Places everybody(control_);
            for (size_t r = 0; r + 1 < offsets_.size(); ++r) everybody.push_back({int32_t(r), offsets_[r]});
            return mole_at_or_above(everybody, 1);
        }

    private:
        struct Place {
            int32_t row;
            int64_t next;
        };
        using Places = Vector<Place>;

        // `places`: the rows of an itemset of `size` items. Extensions take items in ascending order.
        bool mole_at_or_above(const Places& places, size_t size) {
            control_.poll();
            if (int64_t(places.size()) < limits_.k || breach(places)) return true;
            if (!limits_.may_grow(size)) return false;
            std::vector<int64_t> count(item_count_, 0);
            for_each_item(places, [&](int32_t item, Place) { ++count[size_t(item)]; });
            if (std::any_of(count.begin(), count.end(), [&](int64_t c) { return c > 0 && c < limits_.k; })) return true;
            if (with_.empty() && !limits_.may_grow(size + 1)) return false;
            std::vector<Places> deeper(item_count_, Places(control_));
            for (size_t i = 0; i < item_count_; ++i) deeper[i].reserve(size_t(count[i]));
            for_each_item(places, [&](int32_t item, Place place) { deeper[size_t(item)].push_back(place); });
            for (Places& extension : deeper) {
                if (!extension.empty() && mole_at_or_above(extension, size + 1)) return true;
                Places(control_).swap(extension);
            }
            return false;
        }

        bool breach(const Places& places) {
            bool found = false;
            auto for_each_sensitive = [&](auto body) {
                for (const Place& place : places)
                    for (int64_t i = sens_offsets_[size_t(place.row)]; i < sens_offsets_[size_t(place.row) + 1]; ++i) body(size_t(sens_[size_t(i)]));
            };
            for_each_sensitive([&](size_t s) { found |= limits_.breach(++with_[s], int64_t(places.size())); });
            for_each_sensitive([&](size_t s) { with_[s] = 0; });
            return found;
        }

        template <class Body>
        void for_each_item(const Places& places, Body body) const {
            for (const Place& place : places)
                for (int64_t i = place.next; i < offsets_[size_t(place.row) + 1]; ++i) body(items_[size_t(i)], Place{place.row, i + 1});
        }

        Limits limits_;
        Control& control_;
        Vector<int64_t> offsets_;
        Vector<int32_t> items_;
        Vector<int64_t> sens_offsets_;
        Vector<int32_t> sens_;
        size_t item_count_ = 0;
        std::vector<int64_t> with_;
    };

    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<uint8_t> sensitive_;
    Csr data_;
    Limits limits_;
    std::vector<bool> kept_;
    std::vector<int64_t> begin_;  // item -> its part of rows_
    std::vector<int32_t> rows_;
    std::vector<int32_t> local_;
};

}  // namespace

void register_mining_moles(nb::module_& m) {
    m.def("minimal_moles", &minimal_moles, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(),
          nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"), nb::arg("p"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
    m.def("items_in_moles", &items_in_moles, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(),
          nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"), nb::arg("p"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
    nb::class_<Keeping>(m, "Keeping")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<uint8_t>, int64_t, int64_t, int64_t, int64_t>(), nb::arg("offsets").noconvert(),
             nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(), nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"),
             nb::arg("p"))
        .def("keep", &Keeping::keep, nb::arg("item"))
        .def("brings_mole", &Keeping::brings_mole, nb::arg("item"), nb::kw_only(), nb::arg("memory_limit"), nb::arg("time_limit"));
}

}  // namespace veilset
