// Rows to text, block by block. Names come as they are to be written (encoded, quoted), as one block of bytes; the rows
// may be a slice, whose offsets begin above 0.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "text/fields.hpp"

namespace veilset {
namespace {

// Reading outside the arrays would be worse than an error.
struct Slice {
    std::span<const int64_t> offsets;
    std::span<const int32_t> items;

    Slice(const Array<int64_t>& offsets_, const Array<int32_t>& items_, int64_t vocabulary)
        : offsets(span_of(offsets_)), items(span_of(items_)) {
        if (offsets.empty() || offsets.front() < 0 || offsets.back() > int64_t(items.size()) ||
            !std::is_sorted(offsets.begin(), offsets.end()))
            throw std::invalid_argument("offsets do not frame the items");
        for (int32_t item : items.subspan(offsets.front(), offsets.back() - offsets.front()))
            if (item < 0 || item >= vocabulary) throw std::invalid_argument("item outside the vocabulary");
    }

    size_t rows() const { return offsets.size() - 1; }
    std::span<const int32_t> row(size_t r) const { return items.subspan(offsets[r], offsets[r + 1] - offsets[r]); }
};

struct Names {
    std::span<const int64_t> starts;
    std::string_view bytes;

    Names(const Array<int64_t>& starts_, const Array<uint8_t>& names)
        : starts(span_of(starts_)), bytes(reinterpret_cast<const char*>(names.data()), names.size()) {
        if (starts.empty() || starts.front() < 0 || starts.back() > int64_t(bytes.size()) ||
            !std::is_sorted(starts.begin(), starts.end()))
            throw std::invalid_argument("starts do not frame the names");
    }

    int64_t count() const { return int64_t(starts.size()) - 1; }
    std::string_view operator[](int32_t item) const {
        return bytes.substr(starts[item], starts[item + 1] - starts[item]);
    }
};

// One row a line.
std::string row_lines(const Slice& rows, const Names& names, std::string_view head, std::string_view between,
                      std::string_view tail) {
    std::string out;
    for (size_t r = 0; r < rows.rows(); ++r) {
        out += head;
        bool first = true;
        for (int32_t item : rows.row(r)) {
            if (!first) out += between;
            first = false;
            out += names[item];
        }
        out += tail;
        out += '\n';
    }
    return out;
}

// One item a line, behind the number of its row; an empty row is a line with `nothing`.
std::string item_lines(const Slice& rows, const Names& names, std::string_view head, std::string_view middle,
                       std::string_view tail, std::string_view nothing, int64_t first_row) {
    std::string out, front;
    auto add_line = [&](std::string_view name) {
        out += front;
        out += name;
        out += tail;
        out += '\n';
    };
    for (size_t r = 0; r < rows.rows(); ++r) {
        front.assign(head).append(std::to_string(first_row + int64_t(r))).append(middle);
        if (rows.row(r).empty()) add_line(nothing);
        for (int32_t item : rows.row(r)) add_line(names[item]);
    }
    return out;
}

// Runs work() without the GIL; it gives a text.
template <class Work>
nb::bytes text_of(Work work) {
    std::string out;
    {
        nb::gil_scoped_release release;
        out = work();
    }
    return nb::bytes(out.data(), out.size());
}

nb::bytes format_rows(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int64_t>& starts,
                      const Array<uint8_t>& names_, const std::string& delimiter, bool long_form, int64_t first_row) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return text_of([&] {
        return long_form ? item_lines(rows, names, "", delimiter, "", "", first_row)
                         : row_lines(rows, names, "", delimiter, "");
    });
}

nb::bytes format_json_lines(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int64_t>& starts,
                            const Array<uint8_t>& names_, const nb::bytes& head, const nb::bytes& tail) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return text_of([&] { return row_lines(rows, names, view_of(head), ", ", view_of(tail)); });
}

nb::bytes format_json_long(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int64_t>& starts,
                           const Array<uint8_t>& names_, const nb::bytes& head, const nb::bytes& middle,
                           const nb::bytes& tail, int64_t first_row) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return text_of(
        [&] { return item_lines(rows, names, view_of(head), view_of(middle), view_of(tail), "null", first_row); });
}

// A line of 0 and 1 for each row, one for each item of the vocabulary.
nb::bytes format_wide(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary_size,
                      const std::string& delimiter) {
    const Slice rows(offsets, items, vocabulary_size);
    const char between = only_char(delimiter);
    return text_of([&] {
        std::string zeros;
        for (int32_t item = 0; item < vocabulary_size; ++item) zeros.append({'0', between});
        if (zeros.empty()) zeros = "\n";
        else zeros.back() = '\n';
        std::string out;
        out.reserve(rows.rows() * zeros.size());
        for (size_t r = 0; r < rows.rows(); ++r) {
            const size_t first = out.size();
            out += zeros;
            for (int32_t item : rows.row(r)) out[first + 2 * size_t(item)] = '1';
        }
        return out;
    });
}

}  // namespace

void register_text_write(nb::module_& m) {
    m.def("format_rows", &format_rows, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("names").noconvert(), nb::arg("delimiter"), nb::arg("long_form"),
          nb::arg("first_row"));
    m.def("format_json_lines", &format_json_lines, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("names").noconvert(), nb::arg("head"), nb::arg("tail"));
    m.def("format_json_long", &format_json_long, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("names").noconvert(), nb::arg("head"), nb::arg("middle"),
          nb::arg("tail"), nb::arg("first_row"));
    m.def("format_wide", &format_wide, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("vocabulary_size"), nb::arg("delimiter"));
}

}  // namespace veilset
