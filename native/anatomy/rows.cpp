// Rows put together from the columns of others: what is published of buckets whose columns were permuted.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 1024;

// For the places of buckets that begin at `starts`, those of the same bucket in an order that the random numbers draw
// (Fisher and Yates).
Output<int64_t> shuffled_in_buckets(const Array<int64_t>& starts, const Array<uint64_t>& random) {
    const auto start = span_of(starts);
    const auto draw = span_of(random);
    if (start.empty() || start.front() != 0 || start.back() != int64_t(draw.size()))
        throw std::invalid_argument("starts do not frame the places");
    if (!std::is_sorted(start.begin(), start.end())) throw std::invalid_argument("starts decrease");
    std::vector<int64_t> places(draw.size());
    std::iota(places.begin(), places.end(), 0);
    for (size_t bucket = 1; bucket < start.size(); ++bucket)
        for (int64_t last = start[bucket] - 1; last > start[bucket - 1]; --last) {
            const uint64_t among = uint64_t(last - start[bucket - 1] + 1);
            const int64_t chosen = start[bucket - 1] + int64_t(uint64_t((unsigned __int128)(draw[last]) * among >> 64));
            std::swap(places[last], places[chosen]);
        }
    return to_numpy(std::move(places));
}

// Row r gets, for each column c, the items of column c of the row sources[r * columns + c].
nb::tuple anatomy_rows(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int32_t>& column_of,
                       const Array<int32_t>& sources, int64_t columns, int threads, int64_t memory_limit,
                       double time_limit, nb::object progress) {
    const auto column = span_of(column_of), source = span_of(sources);
    const Csr data(offsets, items, int32_t(column.size()));
    if (columns < 1 || int64_t(source.size()) != data.rows() * columns)
        throw std::invalid_argument("one source for each row and column, please");
    if (std::any_of(column.begin(), column.end(), [&](int32_t c) { return c < 0 || c >= columns; }))
        throw std::invalid_argument("no such column");
    if (std::any_of(source.begin(), source.end(), [&](int32_t r) { return r < 0 || r >= data.rows(); }))
        throw std::invalid_argument("no such row");
    Control control(memory_limit, time_limit, std::move(progress));
    const int64_t blocks = (data.rows() + rows_per_block - 1) / rows_per_block;
    const auto in_blocks = [&](int64_t stage, auto body) {
        control.begin(stage, blocks);
        control.parallel(threads, blocks, [&](int64_t block, int) {
            for (int64_t r = block * rows_per_block; r < std::min(data.rows(), (block + 1) * rows_per_block); ++r) {
                control.poll();
                body(r);
            }
        });
    };
    const auto for_each_item = [&](int64_t r, auto body) {
        for (int64_t c = 0; c < columns; ++c)
            for (int32_t item : data.row(source[r * columns + c]))
                if (column[item] == c) body(item);
    };
    control.charge((data.rows() + 1) * int64_t(sizeof(int64_t)));
    std::vector<int64_t> ends(data.rows() + 1, 0);
    in_blocks(1, [&](int64_t r) { for_each_item(r, [&](int32_t) { ++ends[r + 1]; }); });
    for (size_t r = 1; r < ends.size(); ++r) ends[r] += ends[r - 1];
    control.charge(ends.back() * int64_t(sizeof(int32_t)));
    std::vector<int32_t> codes(ends.back());
    in_blocks(2, [&](int64_t r) {
        int32_t* at = codes.data() + ends[r];
        for_each_item(r, [&](int32_t item) { *at++ = item; });
        std::sort(codes.data() + ends[r], at);
    });
    return nb::make_tuple(to_numpy(std::move(ends)), to_numpy(std::move(codes)));
}

}  // namespace

void register_anatomy_rows(nb::module_& m) {
    m.def("shuffled_in_buckets", &shuffled_in_buckets, nb::arg("starts").noconvert(), nb::arg("random").noconvert());
    m.def("rows", &anatomy_rows, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("column_of").noconvert(), nb::arg("sources").noconvert(), nb::kw_only(), nb::arg("columns"),
          nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
