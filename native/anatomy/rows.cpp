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

// The sources with something for every place. sources: for each place and column the row whose value comes there,
// permuted inside buckets that begin at `starts`; values: those of the rows, 0 for nothing. A place that has nothing
// but that gets the value of one column of another place, which has several: both are drawn. Rows all of which have
// something leave no place empty.
Output<int32_t> without_empty_places(View<int32_t> sources, View<int32_t> values, View<int64_t> starts,
                                     View<uint64_t> draw, int64_t columns) {
    const Index places = draw.size();
    if (columns < 1 || sources.size() != places * columns || values.size() != places * columns)
        throw std::invalid_argument("one source and one value for each row and column, please");
    if (starts.empty() || starts.front() != 0 || starts.back() != places || !std::ranges::is_sorted(starts))
        throw std::invalid_argument("starts do not frame the places");
    List<int32_t> source(sources.begin(), sources.end());
    const auto something = [&](int64_t place, int64_t column) {
        const int32_t row = source[place * columns + column];
        if (row < 0 || row >= places) throw std::invalid_argument("no such row");
        return values[row * columns + column] != 0;
    };
    const auto held = [&](int64_t place) {
        int64_t count = 0;
        for (int64_t column = 0; column < columns; ++column) count += something(place, column);
        return count;
    };
    for (Index bucket = 1; bucket < starts.size(); ++bucket) {
        const int64_t begin = starts[bucket - 1], size = starts[bucket] - begin;
        for (int64_t place = begin; place < begin + size; ++place) {
            if (held(place) > 0) continue;
            uint64_t random = draw[place];
            int64_t donor = begin + int64_t(random % uint64_t(size)), tried = 0;
            for (; held(donor) < 2 && tried < size; ++tried) donor = donor + 1 == begin + size ? begin : donor + 1;
            if (tried == size) throw std::invalid_argument("some row has nothing");
            random >>= 32;
            int64_t chosen = int64_t(random % uint64_t(held(donor)));
            for (int64_t column = 0; column < columns; ++column)
                if (something(donor, column) && chosen-- == 0)
                    std::swap(source[place * columns + column], source[donor * columns + column]);
        }
    }
    return to_numpy(std::move(source));
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
    m.def("without_empty_places", &without_empty_places, "sources"_a, "values"_a, "starts"_a, "random"_a, nb::kw_only(),
          "columns"_a);
    def_kernel(m, "rows", anatomy_rows, "offsets"_a, "items"_a, "column_of"_a, "sources"_a, nb::kw_only(), "columns"_a,
               "threads"_a);
}

}  // namespace veilset
