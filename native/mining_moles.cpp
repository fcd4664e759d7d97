// Minimal moles, found from the columns (the auditor counts along the rows: it shares only the CSR view with this).
//
// A depth-first search over public itemsets, items from the rarest to the most frequent. A node is a safe itemset P
// with its cover (the rows that hold it) and the items that may extend it. Branches are visited from the last to the
// first, so that every subset of P + {a, b} has been judged before it: the safe ones are in a trie, and an itemset
// with a subset outside of it is no minimal mole and is not extended (thesis Observation 4).
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "csr.hpp"
#include "mining_covers.hpp"
#include "mining_limits.hpp"

namespace veilset {
namespace {

using namespace mining;

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
            control_.poll();
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
    if (limits.allow_everything()) return;
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

// A copy that can outlive the Control; it is charged for good, since NumPy will own it.
template <class T>
std::vector<T> plain(const Vector<T>& values, Control& control) {
    control.charge(int64_t(values.size() * sizeof(T)));
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
        sizes.append(nb::make_tuple(to_numpy(plain(of.items, control)), to_numpy(plain(of.support, control)), to_numpy(plain(of.sensitive, control)),
                                    to_numpy(plain(of.with, control))));
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

}  // namespace

void register_mining_moles(nb::module_& m) {
    m.def("minimal_moles", &minimal_moles, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(),
          nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"), nb::arg("p"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
    m.def("items_in_moles", &items_in_moles, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(),
          nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"), nb::arg("p"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
}

}  // namespace veilset
