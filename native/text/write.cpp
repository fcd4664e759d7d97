// Rows to text, block by block. Names come as they are to be written (encoded, quoted), as one block of bytes; the rows
// may be a slice, whose offsets begin above 0.
#include <nanobind/stl/string.h>

#include "text/fields.hpp"

namespace veilset {
namespace {

// Reading outside the arrays would be worse than an error.
bool frame(View<int64_t> offsets, Index size) {
    return !offsets.empty() && offsets.front() >= 0 && offsets.back() <= size && std::ranges::is_sorted(offsets);
}

struct Slice {
    View<int64_t> offsets;
    View<int32_t> items;

    Slice(View<int64_t> offsets_, View<int32_t> items_, int64_t vocabulary) : offsets(offsets_), items(items_) {
        if (!frame(offsets, items.size())) throw std::invalid_argument("offsets do not frame the items");
        for (int32_t item : items.between(offsets.front(), offsets.back()))
            if (item < 0 || item >= vocabulary) throw std::invalid_argument("item outside the vocabulary");
    }

    Index rows() const { return offsets.size() - 1; }
    View<int32_t> row(Index r) const { return part(items, offsets, r); }
};

struct Names {
    View<int64_t> starts;
    View<uint8_t> bytes;

    Names(View<int64_t> starts_, View<uint8_t> names) : starts(starts_), bytes(names) {
        if (!frame(starts, bytes.size())) throw std::invalid_argument("starts do not frame the names");
    }

    Index count() const { return starts.size() - 1; }
    std::string_view operator[](int32_t item) const { return text_of(part(bytes, starts, item)); }
};

// One row a line.
std::string row_lines(const Slice& rows, const Names& names, std::string_view head, std::string_view between,
                      std::string_view tail) {
    std::string out;
    for (Index r = 0; r < rows.rows(); ++r) {
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
    for (Index r = 0; r < rows.rows(); ++r) {
        front.assign(head).append(std::to_string(first_row + r)).append(middle);
        if (rows.row(r).empty()) add_line(nothing);
        for (int32_t item : rows.row(r)) add_line(names[item]);
    }
    return out;
}

// Runs work() without the GIL; it gives a text.
template <class Work>
nb::bytes written(Work work) {
    std::string out;
    {
        nb::gil_scoped_release release;
        out = work();
    }
    return nb::bytes(out.data(), out.size());
}

nb::bytes format_rows(View<int64_t> offsets, View<int32_t> items, View<int64_t> starts, View<uint8_t> names_,
                      const std::string& delimiter, bool long_form, int64_t first_row) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return written([&] {
        return long_form ? item_lines(rows, names, "", delimiter, "", "", first_row)
                         : row_lines(rows, names, "", delimiter, "");
    });
}

nb::bytes format_json_lines(View<int64_t> offsets, View<int32_t> items, View<int64_t> starts, View<uint8_t> names_,
                            const nb::bytes& head, const nb::bytes& tail) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return written([&] { return row_lines(rows, names, text_of(head), ", ", text_of(tail)); });
}

nb::bytes format_json_long(View<int64_t> offsets, View<int32_t> items, View<int64_t> starts, View<uint8_t> names_,
                           const nb::bytes& head, const nb::bytes& middle, const nb::bytes& tail, int64_t first_row) {
    const Names names(starts, names_);
    const Slice rows(offsets, items, names.count());
    return written(
        [&] { return item_lines(rows, names, text_of(head), text_of(middle), text_of(tail), "null", first_row); });
}

// A line of 0 and 1 for each row, one for each item of the vocabulary.
nb::bytes format_wide(View<int64_t> offsets, View<int32_t> items, int32_t vocabulary_size,
                      const std::string& delimiter) {
    const Slice rows(offsets, items, vocabulary_size);
    const char between = only_char(delimiter);
    return written([&] {
        std::string zeros;
        for (int32_t item = 0; item < vocabulary_size; ++item) zeros.append({'0', between});
        if (zeros.empty()) zeros = "\n";
        else zeros.back() = '\n';
        std::string out;
        out.reserve(rows.rows() * zeros.size());
        for (Index r = 0; r < rows.rows(); ++r) {
            char* const line = out.data() + out.size();  // it stays there: all is reserved
            out += zeros;
            for (Index item : rows.row(r)) line[2 * item] = '1';
        }
        return out;
    });
}

}  // namespace

void register_text_write(nb::module_& m) {
    m.def("format_rows", &format_rows, "offsets"_a, "items"_a, "starts"_a, "names"_a, "delimiter"_a, "long_form"_a,
          "first_row"_a);
    m.def("format_json_lines", &format_json_lines, "offsets"_a, "items"_a, "starts"_a, "names"_a, "head"_a, "tail"_a);
    m.def("format_json_long", &format_json_long, "offsets"_a, "items"_a, "starts"_a, "names"_a, "head"_a, "middle"_a,
          "tail"_a, "first_row"_a);
    m.def("format_wide", &format_wide, "offsets"_a, "items"_a, "vocabulary_size"_a, "delimiter"_a);
}

}  // namespace veilset
