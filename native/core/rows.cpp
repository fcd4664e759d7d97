// Rows in canonical form: items mapped through the vocabulary, sorted, unique.
#include <bit>
#include <cstring>

#include "core/csr.hpp"

namespace veilset {
namespace {

// Maps every item through new_code (-1 drops it), then sorts each row and removes repetitions.
nb::tuple canonicalize(View<int64_t> offsets, View<int32_t> codes, View<int32_t> new_code) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != codes.size())
        throw std::invalid_argument("offsets do not frame the items");
    List<int64_t> out_offsets(offsets.size(), 0);
    List<int32_t> items(codes.size());
    {
        nb::gil_scoped_release release;
        Index size = 0;
        for (Index r = 0; r + 1 < offsets.size(); ++r) {
            if (offsets[r + 1] < offsets[r]) throw std::invalid_argument("offsets decrease");
            const Index first = size;
            bool increasing = true;
            for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
                int32_t code = codes[i];
                if (code >= int32_t(new_code.size())) throw std::invalid_argument("item outside the vocabulary");
                code = code < 0 ? -1 : new_code[code];
                if (code < 0) continue;
                increasing &= size == first || items[size - 1] < code;
                items[size++] = code;
            }
            if (!increasing) {
                auto begin = items.begin() + first, end = items.begin() + size;
                std::sort(begin, end);
                size = std::unique(begin, end) - items.begin();
            }
            out_offsets[r + 1] = size;
        }
        items.resize(size);
        items.shrink_to_fit();
    }
    return to_tuple(out_offsets, items);
}

// Which of `count` codes occur; -1 (an empty field) is passed over.
nb::object occurring(View<int32_t> codes, int64_t count) {
    List<uint8_t> seen(count, 0);
    for (int32_t code : codes) {
        if (code >= count) throw std::invalid_argument("item outside the vocabulary");
        if (code >= 0) seen[code] = 1;
    }
    return nb::cast(to_numpy(std::move(seen)));
}

// How often each of `count` codes occurs. NumPy's bincount would copy the codes, twice as wide.
nb::object count_codes(View<int32_t> codes, int64_t count) {
    List<int64_t> times(count, 0);
    in_parts(codes, [&](View<int32_t> part) {
        for (int32_t code : part) {
            if (code < 0 || code >= count) throw std::invalid_argument("item outside the vocabulary");
            ++times[code];
        }
    });
    return nb::cast(to_numpy(std::move(times)));
}

// The places of the bits that are set, from `offset` on, as Arrow counts them: the lowest bit of a byte first.
nb::object set_bits(View<uint8_t> bytes, int64_t offset, int64_t length) {
    if (offset < 0 || length < 0 || (offset + length + 7) / 8 > bytes.size())
        throw std::invalid_argument("bits out of range");
    List<int32_t> places;
    const int64_t end = offset + length;
    for (int64_t at = offset; at < end;) {
        uint64_t word = 0;
        if (at % 8 == 0 && at / 8 + 8 <= bytes.size()) {
            std::memcpy(&word, bytes.data() + at / 8, 8);
            for (; word != 0; word &= word - 1) {
                const int64_t bit = at + std::countr_zero(word);
                if (bit >= end) break;
                places.push_back(int32_t(bit - offset));
            }
            at += 64;
        } else {
            if (bytes[at / 8] >> (at % 8) & 1) places.push_back(int32_t(at - offset));
            ++at;
        }
    }
    return nb::cast(to_numpy(std::move(places)));
}

// The items of the rows at these places, one row after the other.
nb::object take_rows(View<int64_t> offsets, View<int32_t> items, View<int64_t> rows) {
    List<int32_t> out;
    {
        nb::gil_scoped_release release;
        Index size = 0;
        for (int64_t r : rows) {
            if (r < 0 || r >= offsets.size() - 1) throw std::invalid_argument("row out of range");
            if (offsets[r] < 0 || offsets[r + 1] < offsets[r] || Index(offsets[r + 1]) > items.size())
                throw std::invalid_argument("offsets do not frame the items");
            size += offsets[r + 1] - offsets[r];
        }
        out.reserve(size);
        for (int64_t r : rows) out.insert(out.end(), items.begin() + offsets[r], items.begin() + offsets[r + 1]);
    }
    return nb::cast(to_numpy(std::move(out)));
}

// Gathers (group, value) pairs into rows, one per group, in the order given; a value of -1 adds nothing.
nb::tuple gather(View<int32_t> groups, View<int32_t> values, int64_t count) {
    if (groups.size() != values.size()) throw std::invalid_argument("groups and values differ in length");
    List<int64_t> offsets(count + 1, 0);
    List<int32_t> items;
    {
        nb::gil_scoped_release release;
        for (int32_t number : groups)
            if (number < 0 || number >= count) throw std::invalid_argument("group out of range");
        group(offsets, items, [&](auto put) {
            for (Index i = 0; i < groups.size(); ++i)
                if (values[i] >= 0) put(groups[i], values[i]);
        });
    }
    return to_tuple(offsets, items);
}

}  // namespace

void register_core_rows(nb::module_& m) {
    m.def("canonicalize", &canonicalize, "offsets"_a, "codes"_a, "new_code"_a);
    m.def("set_bits", &set_bits, "bitmap"_a, "offset"_a, "length"_a);
    m.def("take_rows", &take_rows, "offsets"_a, "items"_a, "rows"_a);
    m.def("occurring", &occurring, "codes"_a, "count"_a);
    m.def("group", &gather, "groups"_a, "values"_a, "count"_a);
    m.def("count_codes", &count_codes, "codes"_a, "count"_a);
}

}  // namespace veilset
