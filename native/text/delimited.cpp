// Delimited text: baskets and tables.
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
    return nb::make_tuple(values, fields.consumed(), fields.line);
}

// Every field is an item, but for that in the column `person` (-1: none), which says whose the line is. With
// `gaps`, it may be empty. A line with nothing on it has no fields at all.
nb::tuple parse_basket(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line, bool last,
                       int64_t person, bool gaps) {
    Fields fields(Block(input, start, line, last), delimiter);
    List<int64_t> offsets{0};
    Coded items(fields.text), owners(fields.text);
    {
        nb::gil_scoped_release release;
        while (!fields.done()) {
            const int64_t here = fields.line;
            int64_t column = 0;
            const bool complete = fields.record([&](std::string_view value) {
                if (column++ != person) items.add(value);
                else if (gaps || !value.empty()) owners.add(value);
            });
            if (!complete) break;
            if (person >= 0 && owners.codes.size() < offsets.size()) {
                if (!gaps) throw nobodys(here, person);
                owners.add({});
            }
            if (column == 1 && person != 0 && items.codes.back() == empty_field) items.codes.pop_back();
            offsets.push_back(items.codes.size());
        }
        items.keep(offsets.back());
        owners.keep(offsets.size() - 1);
    }
    nb::tuple strings = items.names.to_arrow(items.codes);
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(items.codes)), strings, fields.consumed(),
                          fields.line, owners.to_python());
}

// The chosen columns of a table with `width` columns, each with a dictionary of its own; that in `person` (-1: none)
// must not be empty. Blank lines are passed over.
nb::tuple parse_table(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line, bool last,
                      const std::vector<int32_t>& columns, int32_t width, int32_t person) {
    Fields fields(Block(input, start, line, last), delimiter);
    if (width < 1) throw std::invalid_argument("a table has at least one column");
    List<Coded> chosen;
    List<int32_t> slot_of(width, -1);
    for (int32_t column : columns) {
        if (slot_of.at(column) != -1) throw std::invalid_argument("a column is chosen twice");
        slot_of[column] = int32_t(chosen.size());
        chosen.emplace_back(fields.text);
    }
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        Index rows = 0;
        while (!fields.done()) {
            const int64_t here = fields.line;
            int32_t column = 0;
            bool something = false, somebodys = person < 0;
            const bool complete = fields.record([&](std::string_view value) {
                something |= !value.empty();
                somebodys |= column == person && !value.empty();
                const int32_t slot = column < width ? slot_of[column] : -1;
                ++column;
                if (slot >= 0) chosen[slot].add(value);
            });
            if (!complete) break;
            if (column == 1 && !something && width > 1) {
                ++blank_lines;
                if (slot_of[0] >= 0) chosen[slot_of[0]].codes.pop_back();
                continue;
            }
            if (column != width) throw wrong_width(here, width, column);
            if (!somebodys) throw nobodys(here, person);
            ++rows;
        }
        for (Coded& column : chosen) column.keep(rows);
    }
    nb::list result;
    for (Coded& column : chosen) result.append(column.to_python());
    return nb::make_tuple(result, blank_lines, fields.consumed(), fields.line);
}

}  // namespace

void register_text_delimited(nb::module_& m) {
    m.def("parse_record", &parse_record, "text"_a, "delimiter"_a, "last"_a = true);
    m.def("parse_basket", &parse_basket, "text"_a, "delimiter"_a, "start"_a, "line"_a, "last"_a, "person"_a = -1,
          "gaps"_a = false);
    m.def("parse_table", &parse_table, "text"_a, "delimiter"_a, "start"_a, "line"_a, "last"_a, "columns"_a, "width"_a,
          "person"_a = -1);
}

}  // namespace veilset
