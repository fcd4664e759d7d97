// The one structure that every kernel shares: a read-only view of transactions.
// Row r holds items[offsets[r] .. offsets[r + 1]), sorted and unique.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "core/arrays.hpp"

namespace veilset {

// Raises what Ctrl-C means to Python. The caller may hold the GIL or not.
inline void look_for_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// body(part) for the parts of a long array, with a look for Ctrl-C in between: it may be a file that is read only now.
// The caller may hold the GIL or not.
template <class T, class Body>
void in_parts(std::span<const T> values, Body body) {
    constexpr size_t part = size_t(1) << 24;
    for (size_t begin = 0; begin < values.size(); begin += part) {
        look_for_signals();
        body(values.subspan(begin, std::min(part, values.size() - begin)));
    }
}

struct Csr {
    std::span<const int64_t> offsets;
    std::span<const int32_t> items;
    int32_t vocabulary;

    Csr(const Array<int64_t>& offsets_, const Array<int32_t>& items_, int32_t vocabulary_)
        : offsets(span_of(offsets_)), items(span_of(items_)), vocabulary(vocabulary_) {
        // Reading outside the arrays would be worse than an error: check once, O(n).
        if (offsets.empty() || offsets.front() != 0 || offsets.back() != int64_t(items.size()))
            throw std::invalid_argument("offsets do not frame the items");
        for (size_t r = 1; r < offsets.size(); ++r)
            if (offsets[r] < offsets[r - 1]) throw std::invalid_argument("offsets decrease");
        in_parts(items, [&](std::span<const int32_t> part) {
            for (int32_t item : part)
                if (item < 0 || item >= vocabulary) throw std::invalid_argument("item outside the vocabulary");
        });
    }

    int64_t rows() const { return int64_t(offsets.size()) - 1; }
    std::span<const int32_t> row(int64_t r) const { return items.subspan(offsets[r], offsets[r + 1] - offsets[r]); }
};

}  // namespace veilset
