// Rows put together from the columns of others: what is published of buckets whose columns were permuted.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

// For the places of buckets that begin at `starts`, those of the same bucket in an order that the random numbers draw
// (Fisher and Yates).
Output<int64_t> shuffled_in_buckets(const Array<int64_t>& starts, const Array<uint64_t>& random) {
    const auto start = span_of(starts);
    const auto draw = span_of(random);
    if (start.empty() || start.front() != 0 || start.back() != draw.size())
        throw std::invalid_argument("starts do not frame the places");
    if (!std::is_sorted(start.begin(), start.end())) throw std::invalid_argument("starts decrease");
    List<int64_t> places(draw.size());
    std::iota(places.begin(), places.end(), 0);
    for (Index bucket = 1; bucket < start.size(); ++bucket)
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
    if (columns < 1 || source.size() != data.rows() * columns)
        throw std::invalid_argument("one source for each row and column, please");
    if (std::any_of(column.begin(), column.end(), [&](int32_t c) { return c < 0 || c >= columns; }))
        throw std::invalid_argument("no such column");
    if (std::any_of(source.begin(), source.end(), [&](int32_t r) { return r < 0 || r >= data.rows(); }))
        throw std::invalid_argument("no such row");
    Control control(memory_limit, time_limit, std::move(progress));
    return make_rows(control, threads, data.rows(), [&](Index r, auto body) {
        for (Index c = 0; c < columns; ++c)
            for (int32_t item : data.row(source[r * columns + c]))
                if (column[item] == c) body(item);
    });
}

}  // namespace

void register_anatomy_rows(nb::module_& m) {
    m.def("shuffled_in_buckets", &shuffled_in_buckets, array("starts"), array("random"));
    m.def("rows", &anatomy_rows, array("offsets"), array("items"), array("column_of"), array("sources"), nb::kw_only(),
          nb::arg("columns"), nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
}

}  // namespace veilset
