// Association rules with one item on the right side, out of all frequent itemsets: every subset of one is among them,
// so the support of a left side is looked up, not counted.
#include <atomic>
#include <bit>
#include <optional>

#include "core/csr.hpp"
#include "core/random.hpp"
#include "mining/found.hpp"

namespace veilset {
namespace {

using mining::joined;
using mining::offsets_of;

// The hash of an itemset is the sum of those of its items, so that leaving one out is a subtraction. Every bit of an
// item goes into every bit of its hash: were they multiples of each other, itemsets with equal sums of items would
// collide.
uint64_t hash_of(int32_t item) { return mix((uint64_t(item) + 1) * random_step); }

uint64_t hash_of(View<int32_t> itemset) {
    uint64_t hash = 0;
    for (int32_t item : itemset) hash += hash_of(item);
    return hash;
}

// Where an itemset stands in the list. A slot holds the upper half of a hash and a place; hashes only lead to places
// whose items are then compared.
class Places {
public:
    Places(const Csr& itemsets, Control& control)
        : itemsets_(itemsets), slots_(std::bit_ceil(2 * uint64_t(itemsets.rows()) + 1), empty, control) {
        if (uint64_t(itemsets.rows()) > place_bits) throw OutOfMemory();
    }

    // Several threads may add at once: which of them comes first does not change what is found.
    void add(int64_t place) {
        const uint64_t hash = hash_of(itemsets_.row(place)), entry = (hash & ~place_bits) | uint64_t(place);
        for (Index slot = first(hash);; slot = after(slot)) {
            uint64_t free = empty;
            if (std::atomic_ref(slots_[slot]).compare_exchange_strong(free, entry, std::memory_order_relaxed)) return;
        }
    }
    void fetch(uint64_t hash) const { __builtin_prefetch(slots_.data() + first(hash)); }
    // The place of `itemset` without its item at `left_out`; `hash` is what remains of its hash.
    int64_t find(View<int32_t> itemset, Index left_out, uint64_t hash) const {
        for (Index slot = first(hash); slots_[slot] != empty; slot = after(slot)) {
            if ((slots_[slot] ^ hash) & ~place_bits) continue;
            const int64_t place = int64_t(slots_[slot] & place_bits);
            const auto there = itemsets_.row(place);
            if (there.size() + 1 == itemset.size() &&
                std::equal(there.begin(), there.begin() + left_out, itemset.begin()) &&
                std::equal(there.begin() + left_out, there.end(), itemset.begin() + left_out + 1))
                return place;
        }
        throw std::invalid_argument("an itemset is there without one of its subsets");
    }

private:
    static constexpr uint64_t empty = ~uint64_t(0), place_bits = 0xFFFFFFFFu;
    Index first(uint64_t hash) const { return hash & (slots_.size() - 1); }
    Index after(Index slot) const { return (slot + 1) & (slots_.size() - 1); }

    const Csr& itemsets_;
    Vector<uint64_t> slots_;
};

struct FoundRules {
    Vector<int32_t> items, sizes;  // of the left sides
    Vector<int64_t> left_supports;
    Vector<int32_t> consequents;
    Vector<int64_t> supports;
    explicit FoundRules(Control& control)
        : items(control), sizes(control), left_supports(control), consequents(control), supports(control) {}

    void add(View<int32_t> itemset, Index left_out, int64_t left_support, int64_t support) {
        items.insert(items.end(), itemset.begin(), itemset.begin() + left_out);
        items.insert(items.end(), itemset.begin() + left_out + 1, itemset.end());
        sizes.push_back(int32_t(itemset.size()) - 1);
        left_supports.push_back(left_support);
        consequents.push_back(itemset[left_out]);
        supports.push_back(support);
    }
};

nb::tuple rules(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> support,
                View<uint8_t> on_the_right, int64_t confidence_num, int64_t confidence_den, int64_t min_size,
                int threads) {
    const Csr itemsets(offsets, items, int32_t(on_the_right.size()));
    if (support.size() != itemsets.rows()) throw std::invalid_argument("there is not one support for each itemset");
    const Index block = std::clamp<Index>(itemsets.rows() / 64, 1, 1024);
    std::optional<Places> index = control.single([&] { return Places(itemsets, control); });
    Vector<FoundRules> found(Control::blocks(itemsets.rows(), block), FoundRules(control), control);
    control.in_blocks(1, threads, itemsets.rows(), block, [&](Index i, int) { index->add(i); });
    control.in_blocks(2, threads, itemsets.rows(), block, [&](Index i, int) {
        const auto itemset = itemsets.row(i);
        if (itemset.size() < std::max<Index>(2, min_size)) return;
        const uint64_t hash = hash_of(itemset);
        for (int32_t item : itemset) index->fetch(hash - hash_of(item));
        for (Index j = 0; j < itemset.size(); ++j) {
            if (!on_the_right[itemset[j]]) continue;
            const int64_t left = support[index->find(itemset, j, hash - hash_of(itemset[j]))];
            if (support[i] * confidence_den >= left * confidence_num)
                found[i / block].add(itemset, j, left, support[i]);
        }
    });
    List<int64_t> ends, left_supports, rule_supports;
    List<int32_t> left_items, right;
    control.single([&] {
        index.reset();
        ends = offsets_of(found, &FoundRules::sizes, control);
        left_items = joined(found, &FoundRules::items, control);
        left_supports = joined(found, &FoundRules::left_supports, control);
        right = joined(found, &FoundRules::consequents, control);
        rule_supports = joined(found, &FoundRules::supports, control);
    });
    return to_tuple(ends, left_items, left_supports, right, rule_supports);
}

}  // namespace

void register_mining_rules(nb::module_& m) {
    def_kernel(m, "rules", rules, "offsets"_a, "items"_a, "supports"_a, "consequents"_a, nb::kw_only(),
               "confidence_num"_a, "confidence_den"_a, "min_size"_a, "threads"_a);
}

}  // namespace veilset
