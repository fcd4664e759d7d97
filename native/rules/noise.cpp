// Select-a-size noise: every item of the vocabulary is turned over in every row with the same probability, so that one
// that is there goes and one that is not comes. Whether it is depends on (seed, row, item) and on nothing else.
#include <atomic>

#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

// The noise of one row. `odds` is the probability in units of 2^-53.
class Noise {
public:
    Noise(uint64_t seed, int64_t row, uint64_t odds) : chances_(seed, row), odds_(odds) {}
    bool turns(int32_t item) const { return chances_.of(item) < odds_; }

private:
    Chances chances_;
    uint64_t odds_;
};

// The rows with their noise.
nb::tuple add_noise(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary, uint64_t odds,
                    uint64_t seed, int threads) {
    const Csr data(offsets, items, vocabulary);
    return make_rows(control, threads, data.rows(), [&](Index row, auto keep) {
        const Noise noise(seed, row, odds);
        const auto held = data.row(row);
        Index next = 0;
        for (int32_t item = 0; item < vocabulary; ++item) {
            const bool there = next < held.size() && held[next] == item;
            next += there;
            if (there != noise.turns(item)) keep(item);
        }
    });
}

// The loss of the same noise without making it: the sum, over the rows, of the number of items that go times the leaves
// of the lowest node above all that is turned over. In the order of the tree that is the one above the first and the
// last of them, so that a row costs its own items and a short way from either end.
//
// `in_order` are the items as a walk of the tree meets them, `leaf_of` the node of each item, `parents` the node above
// each (larger than it; -1 above the root), `leaves` what each node counts.
int64_t noise_loss(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> order,
                   View<int32_t> leaf, View<int32_t> parent, View<int64_t> count, uint64_t odds, uint64_t seed,
                   int threads) {
    const Csr data(offsets, items, int32_t(order.size()));
    if (leaf.size() != order.size() || count.size() != parent.size())
        throw std::invalid_argument("arrays of different lengths");
    std::atomic<int64_t> lost{0};
    control.in_blocks(1, threads, data.rows(), 1024, [&](Index row, int) {
        const Noise noise(seed, row, odds);
        const auto turned = [&](int32_t item) { return noise.turns(item); };
        const auto held = data.row(row);
        const int64_t gone = std::count_if(held.begin(), held.end(), turned);
        if (gone == 0) return;
        int32_t first = leaf[*std::find_if(order.begin(), order.end(), turned)];
        int32_t last = leaf[*std::find_if(order.rbegin(), order.rend(), turned)];
        while (first != last) (first < last ? first : last) = parent[std::min(first, last)];
        lost.fetch_add(gone * count[first], std::memory_order_relaxed);
    });
    return lost;
}

}  // namespace

void register_rules_noise(nb::module_& m) {
    def_kernel(m, "add_noise", add_noise, "offsets"_a, "items"_a, nb::kw_only(), "vocabulary"_a, "odds"_a, "seed"_a,
               "threads"_a);
    def_kernel(m, "noise_loss", noise_loss, "offsets"_a, "items"_a, "in_order"_a, "leaf_of"_a, "parents"_a, "leaves"_a,
               nb::kw_only(), "odds"_a, "seed"_a, "threads"_a);
}

}  // namespace veilset
