// Select-a-size noise: every item of the vocabulary is turned over in every row with the same probability, so that one
// that is there goes and one that is not comes. Whether it is depends on (seed, row, item) and on nothing else.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 1024;

// The noise of one row. `odds` is the probability in units of 2^-53.
class Noise {
public:
    Noise(uint64_t seed, int64_t row, uint64_t odds) : chances_(seed, row), odds_(odds) {}
    bool turns(int32_t item) const { return chances_.of(item) < odds_; }

private:
    Chances chances_;
    uint64_t odds_;
};

template <class Body>
void for_each_block(Control& control, int threads, int64_t rows, Body body) {
    const int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
    control.begin(1, blocks);
    control.parallel(threads, blocks, [&](int64_t block, int) {
        for (int64_t row = block * rows_per_block; row < std::min(rows, (block + 1) * rows_per_block); ++row) {
            control.poll();
            body(row);
        }
    });
}

// The rows with their noise: first how long each gets, then its items.
nb::tuple add_noise(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary, uint64_t odds,
                    uint64_t seed, int threads, int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, vocabulary);
    Control control(memory_limit, time_limit, std::move(progress));
    auto noisy = [&](int64_t row, auto&& keep) {
        const Noise noise(seed, row, odds);
        const std::span<const int32_t> held = data.row(row);
        size_t next = 0;
        for (int32_t item = 0; item < vocabulary; ++item) {
            const bool there = next < held.size() && held[next] == item;
            next += there;
            if (there != noise.turns(item)) keep(item);
        }
    };
    control.charge((data.rows() + 1) * int64_t(sizeof(int64_t)));
    std::vector<int64_t> ends(data.rows() + 1, 0);
    for_each_block(control, threads, data.rows(), [&](int64_t row) {
        int64_t length = 0;
        noisy(row, [&](int32_t) { ++length; });
        ends[row + 1] = length;
    });
    for (size_t row = 1; row < ends.size(); ++row) ends[row] += ends[row - 1];
    control.charge(ends.back() * int64_t(sizeof(int32_t)));
    std::vector<int32_t> codes(ends.back());
    for_each_block(control, threads, data.rows(), [&](int64_t row) {
        int32_t* at = codes.data() + ends[row];
        noisy(row, [&](int32_t item) { *at++ = item; });
    });
    return nb::make_tuple(to_numpy(std::move(ends)), to_numpy(std::move(codes)));
}

// The loss of the same noise without making it: the sum, over the rows, of the number of items that go times the leaves
// of the lowest node above all that is turned over. In the order of the tree that is the one above the first and the
// last of them, so that a row costs its own items and a short way from either end.
//
// `in_order` are the items as a walk of the tree meets them, `leaf_of` the node of each item, `parents` the node above
// each (larger than it; -1 above the root), `leaves` what each node counts.
int64_t noise_loss(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int32_t>& in_order,
                   const Array<int32_t>& leaf_of, const Array<int32_t>& parents, const Array<int64_t>& leaves,
                   uint64_t odds, uint64_t seed, int threads, int64_t memory_limit, double time_limit,
                   nb::object progress) {
    const Csr data(offsets, items, int32_t(in_order.size()));
    const auto order = span_of(in_order), leaf = span_of(leaf_of), parent = span_of(parents);
    const auto count = span_of(leaves);
    if (leaf.size() != order.size() || count.size() != parent.size())
        throw std::invalid_argument("arrays of different lengths");
    Control control(memory_limit, time_limit, std::move(progress));
    std::atomic<int64_t> lost{0};
    for_each_block(control, threads, data.rows(), [&](int64_t row) {
        const Noise noise(seed, row, odds);
        const auto turned = [&](int32_t item) { return noise.turns(item); };
        const std::span<const int32_t> held = data.row(row);
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
    m.def("add_noise", &add_noise, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::kw_only(),
          nb::arg("vocabulary"), nb::arg("odds"), nb::arg("seed"), nb::arg("threads"), nb::arg("memory_limit"),
          nb::arg("time_limit"), nb::arg("progress").none());
    m.def("noise_loss", &noise_loss, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("in_order").noconvert(), nb::arg("leaf_of").noconvert(), nb::arg("parents").noconvert(),
          nb::arg("leaves").noconvert(), nb::kw_only(), nb::arg("odds"), nb::arg("seed"), nb::arg("threads"),
          nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
