// Association rules with one item on the right side, out of all frequent itemsets: every subset of one is among them,
// so the support of a left side is looked up, not counted.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

// The hash of an itemset is the sum of those of its items, so that leaving one out is a subtraction. Every bit of an
// item goes into every bit of its hash: were they multiples of each other, itemsets with equal sums of items would
// collide.
uint64_t hash_of(int32_t item) {
    uint64_t x = (uint64_t(item) + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t hash_of(std::span<const int32_t> itemset) {
    uint64_t hash = 0;
    for (int32_t item : itemset) hash += hash_of(item);
    return hash;
}

// Where an itemset stands in the list. A slot holds the upper half of a hash and a place; hashes only lead to places
// whose items are then compared.
class Index {
public:
    Index(const Csr& itemsets, Control& control)
        : itemsets_(itemsets), slots_(std::bit_ceil(2 * size_t(itemsets.rows()) + 1), empty, control) {
        if (uint64_t(itemsets.rows()) > place_bits) throw OutOfMemory();
    }

    // Several threads may add at once: which of them comes first does not change what is found.
    void add(int64_t place) {
        const uint64_t hash = hash_of(itemsets_.row(place)), entry = (hash & ~place_bits) | uint64_t(place);
        for (size_t slot = first(hash);; slot = after(slot)) {
            uint64_t free = empty;
            if (std::atomic_ref(slots_[slot]).compare_exchange_strong(free, entry, std::memory_order_relaxed)) return;
        }
    }
    void fetch(uint64_t hash) const { __builtin_prefetch(slots_.data() + first(hash)); }
    // The place of `itemset` without its item at `left_out`; `hash` is what remains of its hash.
    int64_t find(std::span<const int32_t> itemset, size_t left_out, uint64_t hash) const {
        for (size_t slot = first(hash); slots_[slot] != empty; slot = after(slot)) {
            if ((slots_[slot] ^ hash) & ~place_bits) continue;
            const int64_t place = int64_t(slots_[slot] & place_bits);
            const auto there = itemsets_.row(place);
            if (there.size() + 1 == itemset.size() &&
                std::equal(there.begin(), there.begin() + ptrdiff_t(left_out), itemset.begin()) &&
                std::equal(there.begin() + ptrdiff_t(left_out), there.end(), itemset.begin() + ptrdiff_t(left_out) + 1))
                return place;
        }
        throw std::invalid_argument("an itemset is there without one of its subsets");
    }

private:
    static constexpr uint64_t empty = ~uint64_t(0), place_bits = 0xFFFFFFFFu;
    size_t first(uint64_t hash) const { return size_t(hash) & (slots_.size() - 1); }
    size_t after(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

    const Csr& itemsets_;
    Vector<uint64_t> slots_;
};

struct Found {
    Vector<int32_t> items, sizes;  // of the left sides
    Vector<int64_t> left_supports;
    Vector<int32_t> consequents;
    Vector<int64_t> supports;
    explicit Found(Control& control)
        : items(control), sizes(control), left_supports(control), consequents(control), supports(control) {}

    void add(std::span<const int32_t> itemset, size_t left_out, int64_t left_support, int64_t support) {
        items.insert(items.end(), itemset.begin(), itemset.begin() + ptrdiff_t(left_out));
        items.insert(items.end(), itemset.begin() + ptrdiff_t(left_out) + 1, itemset.end());
        sizes.push_back(int32_t(itemset.size()) - 1);
        left_supports.push_back(left_support);
        consequents.push_back(itemset[left_out]);
        supports.push_back(support);
    }
};

nb::tuple rules(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int64_t>& supports,
                const Array<uint8_t>& consequents, int64_t confidence_num, int64_t confidence_den, int64_t min_size,
                int threads, int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr itemsets(offsets, items, int32_t(consequents.size()));
    if (int64_t(supports.size()) != itemsets.rows())
        throw std::invalid_argument("there is not one support for each itemset");
    Control control(memory_limit, time_limit, std::move(progress));
    const auto support = span_of(supports);
    const auto on_the_right = span_of(consequents);
    const int64_t block = std::clamp<int64_t>(itemsets.rows() / 64, 1, 1024),
                  blocks = (itemsets.rows() + block - 1) / block;
    std::unique_ptr<Index> index;
    Vector<Found> found(control);
    control.single([&] {
        index = std::make_unique<Index>(itemsets, control);
        found.assign(blocks, Found(control));
    });
    auto for_each_itemset = [&](int64_t stage, auto body) {
        control.begin(stage, blocks);
        control.parallel(threads, blocks, [&](int64_t number, int) {
            for (int64_t i = number * block; i < std::min((number + 1) * block, itemsets.rows()); ++i) {
                control.poll();
                body(i, found[number]);
            }
        });
    };
    for_each_itemset(1, [&](int64_t i, Found&) { index->add(i); });
    for_each_itemset(2, [&](int64_t i, Found& here) {
        const auto itemset = itemsets.row(i);
        if (itemset.size() < 2 || int64_t(itemset.size()) < min_size) return;
        const uint64_t hash = hash_of(itemset);
        for (int32_t item : itemset) index->fetch(hash - hash_of(item));
        for (size_t j = 0; j < itemset.size(); ++j) {
            if (!on_the_right[itemset[j]]) continue;
            const int64_t left = support[index->find(itemset, j, hash - hash_of(itemset[j]))];
            if (support[i] * confidence_den >= left * confidence_num) here.add(itemset, j, left, support[i]);
        }
    });
    std::vector<int64_t> ends{0}, left_supports, rule_supports;
    std::vector<int32_t> left_items, right;
    control.single([&] {
        index.reset();
        size_t count = 0, entries = 0;
        for (const Found& f : found) {
            count += f.sizes.size();
            entries += f.items.size();
        }
        control.charge(int64_t(count * 28 + entries * 4));
        ends.reserve(count + 1);
        left_items.reserve(entries);
        left_supports.reserve(count);
        right.reserve(count);
        rule_supports.reserve(count);
        for (Found& f : found) {
            control.poll();
            for (int32_t size : f.sizes) ends.push_back(ends.back() + size);
            left_items.insert(left_items.end(), f.items.begin(), f.items.end());
            left_supports.insert(left_supports.end(), f.left_supports.begin(), f.left_supports.end());
            right.insert(right.end(), f.consequents.begin(), f.consequents.end());
            rule_supports.insert(rule_supports.end(), f.supports.begin(), f.supports.end());
            f = Found(control);
        }
    });
    return nb::make_tuple(to_numpy(std::move(ends)), to_numpy(std::move(left_items)),
                          to_numpy(std::move(left_supports)), to_numpy(std::move(right)),
                          to_numpy(std::move(rule_supports)));
}

}  // namespace

void register_mining_rules(nb::module_& m) {
    m.def("rules", &rules, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("supports").noconvert(), nb::arg("consequents").noconvert(), nb::kw_only(), nb::arg("confidence_num"),
          nb::arg("confidence_den"), nb::arg("min_size"), nb::arg("threads"), nb::arg("memory_limit"),
          nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
