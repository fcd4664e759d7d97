// Delimited text: baskets and tables.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "text/fields.hpp"

namespace veilset {
namespace {

// The first record: its fields, where the next one starts, and on which line. If it is not complete, the next one
// starts at 0.
nb::tuple parse_record(const nb::bytes& input, const std::string& delimiter, bool last) {
    Fields fields(Block(input, 0, 1, last), delimiter);
    std::vector<nb::bytes> values;
    auto take = [&](std::string_view value) { values.emplace_back(value.data(), value.size()); };
    if ((last || !fields.done()) && !fields.record(take)) values.clear();
    return nb::make_tuple(values, int64_t(fields.at), fields.line);
}

// Every field is an item, but for that in the column `person` (-1: none), which says whose the line is. A line with
// nothing on it has no fields at all.
nb::tuple parse_basket(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line, bool last,
                       int64_t person) {
    Fields fields(Block(input, start, line, last), delimiter);
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> codes, owners;
    Dictionary names(fields.text), owner_names(fields.text);
    {
        nb::gil_scoped_release release;
        while (!fields.done()) {
            const size_t first = codes.size(), rows = offsets.size() - 1;
            const int64_t here = fields.line;
            int64_t column = 0;
            const bool complete = fields.record([&](std::string_view value) {
                if (column++ != person) codes.push_back(value.empty() ? empty_field : names.code(value));
                else if (!value.empty()) owners.push_back(owner_names.code(value));
            });
            if (!complete) {
                codes.resize(first);
                if (person >= 0) owners.resize(rows);
                break;
            }
            if (person >= 0 && owners.size() == rows) throw nobodys(here, person);
            if (codes.size() == first + 1 && column == 1 && codes.back() == empty_field) codes.pop_back();
            offsets.push_back(int64_t(codes.size()));
        }
    }
    nb::tuple strings = names.to_arrow(codes);
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(codes)), strings, int64_t(fields.at),
                          fields.line, coded(std::move(owners), owner_names));
}

// The chosen columns of a table with `width` columns, each with a dictionary of its own; that in `person` (-1: none)
// must not be empty. Blank lines are passed over.
nb::tuple parse_table(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line, bool last,
                      const std::vector<int32_t>& columns, int32_t width, int32_t person) {
    Fields fields(Block(input, start, line, last), delimiter);
    if (width < 1) throw std::invalid_argument("a table has at least one column");
    std::vector<std::vector<int32_t>> codes(columns.size());
    std::vector<Dictionary> values(columns.size(), Dictionary(fields.text));
    std::vector<int32_t> slot_of(width, -1);
    for (size_t i = 0; i < columns.size(); ++i) {
        if (slot_of.at(columns[i]) != -1) throw std::invalid_argument("a column is chosen twice");
        slot_of[columns[i]] = int32_t(i);
    }
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        size_t rows = 0;
        while (!fields.done()) {
            const int64_t here = fields.line;
            int32_t column = 0;
            bool something = false, somebodys = person < 0;
            const bool complete = fields.record([&](std::string_view value) {
                something |= !value.empty();
                somebodys |= column == person && !value.empty();
                const int32_t slot = column < width ? slot_of[column] : -1;
                ++column;
                if (slot < 0) return;
                codes[slot].push_back(value.empty() ? empty_field : values[slot].code(value));
            });
            if (!complete) {
                for (std::vector<int32_t>& column_codes : codes) column_codes.resize(rows);
                break;
            }
            if (column == 1 && !something && width > 1) {
                ++blank_lines;
                if (slot_of[0] >= 0) codes[slot_of[0]].pop_back();
                continue;
            }
            if (column != width) throw wrong_width(here, width, column);
            if (!somebodys) throw nobodys(here, person);
            ++rows;
        }
    }
    nb::list result;
    for (size_t i = 0; i < columns.size(); ++i) result.append(coded(std::move(codes[i]), values[i]));
    return nb::make_tuple(result, blank_lines, int64_t(fields.at), fields.line);
}

}  // namespace

void register_text_delimited(nb::module_& m) {
    m.def("parse_record", &parse_record, nb::arg("text"), nb::arg("delimiter"), nb::arg("last") = true);
    m.def("parse_basket", &parse_basket, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"),
          nb::arg("last"), nb::arg("person") = -1);
    m.def("parse_table", &parse_table, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"),
          nb::arg("last"), nb::arg("columns"), nb::arg("width"), nb::arg("person") = -1);
}

}  // namespace veilset
