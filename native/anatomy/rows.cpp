// Rows put together from the columns of others: what is published of buckets whose columns were permuted.
#include "core/csr.hpp"

namespace veilset {
namespace {

// For the places of buckets that begin at `starts`, those of the same bucket in an order that the random numbers draw
// (Fisher and Yates).
Output<int64_t> shuffled_in_buckets(View<int64_t> start, View<uint64_t> draw) {
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
nb::tuple anatomy_rows(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> column,
                       View<int32_t> source, int64_t columns, int threads) {
    const Csr data(offsets, items, int32_t(column.size()));
    if (columns < 1 || source.size() != data.rows() * columns)
        throw std::invalid_argument("one source for each row and column, please");
    if (std::any_of(column.begin(), column.end(), [&](int32_t c) { return c < 0 || c >= columns; }))
        throw std::invalid_argument("no such column");
    if (std::any_of(source.begin(), source.end(), [&](int32_t r) { return r < 0 || r >= data.rows(); }))
        throw std::invalid_argument("no such row");
    return make_rows(control, threads, data.rows(), [&](Index r, auto body) {
        for (Index c = 0; c < columns; ++c)
            for (int32_t item : data.row(source[r * columns + c]))
                if (column[item] == c) body(item);
    });
}

}  // namespace

void register_anatomy_rows(nb::module_& m) {
    m.def("shuffled_in_buckets", &shuffled_in_buckets, "starts"_a, "random"_a);
    def_kernel(m, "rows", anatomy_rows, "offsets"_a, "items"_a, "column_of"_a, "sources"_a, nb::kw_only(), "columns"_a,
               "threads"_a);
}

}  // namespace veilset
