// The one structure that every kernel shares: a read-only view of transactions.
// Row r holds items[offsets[r] .. offsets[r + 1]), sorted and unique.
#pragma once

#include "core/arrays.hpp"
#include "core/control.hpp"

namespace veilset {

// Raises what Ctrl-C means to Python. The caller may hold the GIL or not.
inline void look_for_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// body(part) for the parts of a long array, with a look for Ctrl-C in between: it may be a file that is read only now.
// The caller may hold the GIL or not.
template <class T, class Body>
void in_parts(View<T> values, Body body) {
    constexpr Index part = 1 << 24;
    for (Index begin = 0; begin < values.size(); begin += part) {
        look_for_signals();
        body(values.subspan(begin, std::min(part, values.size() - begin)));
    }
}

struct Csr {
    View<int64_t> offsets;
    View<int32_t> items;
    int32_t vocabulary;

    Csr(View<int64_t> offsets_, View<int32_t> items_, int32_t vocabulary_)
        : offsets(offsets_), items(items_), vocabulary(vocabulary_) {
        // Reading outside the arrays would be worse than an error: check once, O(n).
        if (offsets.empty() || offsets.front() != 0 || offsets.back() != items.size())
            throw std::invalid_argument("offsets do not frame the items");
        for (Index r = 1; r < offsets.size(); ++r)
            if (offsets[r] < offsets[r - 1]) throw std::invalid_argument("offsets decrease");
        in_parts(items, [&](View<int32_t> part) {
            for (int32_t item : part)
                if (item < 0 || item >= vocabulary) throw std::invalid_argument("item outside the vocabulary");
        });
    }

    Index rows() const { return offsets.size() - 1; }
    View<int32_t> row(Index r) const { return items.between(offsets[r], offsets[r + 1]); }
};

// Rows as arrays. for_each_item(row, body) calls body(item) for the items of a row, twice: they are counted first.
template <class ForEachItem>
nb::tuple make_rows(Control& control, int threads, Index rows, ForEachItem for_each_item) {
    constexpr Index rows_per_block = 1024;
    control.charge((rows + 1) * int64_t(sizeof(int64_t)));
    List<int64_t> ends(rows + 1, 0);
    control.in_blocks(1, threads, rows, rows_per_block, [&](Index r, int) {
        int64_t length = 0;
        for_each_item(r, [&](int32_t) { ++length; });
        ends[r + 1] = length;
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    control.charge(ends.back() * int64_t(sizeof(int32_t)));
    List<int32_t> codes(ends.back());
    control.in_blocks(2, threads, rows, rows_per_block, [&](Index r, int) {
        int32_t* at = codes.data() + ends[r];
        for_each_item(r, [&](int32_t item) { *at++ = item; });
        if (!std::is_sorted(codes.data() + ends[r], at)) std::sort(codes.data() + ends[r], at);
    });
    return to_tuple(ends, codes);
}

}  // namespace veilset
