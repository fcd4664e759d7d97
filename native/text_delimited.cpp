// Delimited text (baskets, long tables) with RFC 4180 quoting, both ways. A field in quotes is taken to the letter, so that
// any name survives a round trip.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "text.hpp"

namespace veilset {
namespace {

struct Tokenizer {
    std::string_view text;
    char delimiter;
    size_t at;
    int64_t line;

    bool blank(char c) const { return is_blank(c) && c != delimiter; }

    void skip_line_end() {
        at += (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ? 2 : 1;
        ++line;
    }

    // Reads one record and calls field(value) for each of its fields.
    template <class Field>
    void record(Field field) {
        while (true) {
            while (at < text.size() && blank(text[at])) ++at;
            if (at < text.size() && text[at] == '"') {
                quoted(field);
            } else {
                size_t first = at;
                skip_to_field_end();
                size_t last = at;
                while (last > first && blank(text[last - 1])) --last;
                field(text.substr(first, last - first));
            }
            if (at >= text.size()) return;
            if (text[at] != delimiter) return skip_line_end();
            ++at;
        }
    }

private:
    void skip_to_field_end() {
        for (; at + 8 <= text.size(); at += 8) {
            const uint64_t word = load_word(text.data() + at);
            if (const uint64_t marks = marks_of(word, delimiter) | marks_of(word, '\n') | marks_of(word, '\r')) {
                at += first_mark(marks);
                return;
            }
        }
        while (at < text.size() && text[at] != delimiter && !is_line_end(text[at])) ++at;
    }

    template <class Field>
    void quoted(Field field) {
        const int64_t opened = line;
        size_t first = ++at;
        std::string unescaped;
        bool escaped = false;
        while (true) {
            if (at >= text.size()) throw ParseError(opened, "a quote is opened here and never closed");
            char c = text[at];
            if (c == '"') {
                if (at + 1 < text.size() && text[at + 1] == '"') {
                    unescaped.append(text.substr(first, at + 1 - first));
                    escaped = true;
                    at += 2;
                    first = at;
                    continue;
                }
                break;
            }
            if (c == '\n' || (c == '\r' && !(at + 1 < text.size() && text[at + 1] == '\n'))) ++line;
            ++at;
        }
        std::string_view tail = text.substr(first, at - first);
        ++at;
        while (at < text.size() && blank(text[at])) ++at;
        if (at < text.size() && text[at] != delimiter && !is_line_end(text[at]))
            throw ParseError(line, "text follows a closing quote; double the quotes inside a quoted name");
        if (!escaped) field(tail);
        else field(std::string_view(unescaped.append(tail)));
    }
};

char only_char(const std::string& delimiter) {
    if (delimiter.size() != 1) throw std::invalid_argument("the delimiter must be one character of one byte");
    return delimiter[0];
}

// One record: its fields, where the next one starts, and on which line.
nb::tuple parse_record(const nb::bytes& input, const std::string& delimiter) {
    Tokenizer tokens{view_of(input), only_char(delimiter), 0, 1};
    std::vector<nb::bytes> fields;
    tokens.record([&](std::string_view value) { fields.emplace_back(value.data(), value.size()); });
    return nb::make_tuple(fields, int64_t(tokens.at), tokens.line);
}

// All records; every field is an item. -1 stands for an empty field; a line with nothing on it has no fields at all.
nb::tuple parse_basket(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line) {
    Tokenizer tokens{view_of(input), only_char(delimiter), size_t(start), line};
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> codes;
    Dictionary names(tokens.text);
    {
        nb::gil_scoped_release release;
        while (tokens.at < tokens.text.size()) {
            size_t first = codes.size();
            tokens.record([&](std::string_view value) {
                codes.push_back(value.empty() ? empty_field : names.code(value));
            });
            if (codes.size() == first + 1 && codes.back() == empty_field) codes.pop_back();
            offsets.push_back(int64_t(codes.size()));
        }
    }
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(codes)), names.to_arrow());
}

// The chosen columns of a table with `width` columns, each with a dictionary of its own. Blank lines are passed over.
nb::tuple parse_table(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line,
                      const std::vector<int32_t>& columns, int32_t width) {
    Tokenizer tokens{view_of(input), only_char(delimiter), size_t(start), line};
    std::vector<std::vector<int32_t>> codes(columns.size());
    std::vector<Dictionary> values(columns.size(), Dictionary(tokens.text));
    std::vector<int32_t> slot_of(size_t(width), -1);
    for (size_t i = 0; i < columns.size(); ++i) slot_of.at(size_t(columns[i])) = int32_t(i);
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        while (tokens.at < tokens.text.size()) {
            const int64_t here = tokens.line;
            int32_t column = 0;
            bool something = false;
            tokens.record([&](std::string_view value) {
                something |= !value.empty();
                int32_t slot = column < width ? slot_of[size_t(column)] : -1;
                ++column;
                if (slot < 0) return;
                codes[size_t(slot)].push_back(value.empty() ? empty_field : values[size_t(slot)].code(value));
            });
            if (column == 1 && !something && width > 1) {
                ++blank_lines;
                if (slot_of[0] >= 0) codes[size_t(slot_of[0])].pop_back();
                continue;
            }
            if (column != width)
                throw ParseError(here, "the header has " + std::to_string(width) + " columns, this line has " + std::to_string(column));
        }
    }
    nb::list result;
    for (size_t i = 0; i < columns.size(); ++i) result.append(nb::make_tuple(to_numpy(std::move(codes[i])), values[i].to_arrow()));
    return nb::make_tuple(result, blank_lines);
}

// Transactions to text: names come encoded (and quoted where needed) as one block of bytes with offsets.
nb::bytes format_rows(const Array<int64_t>& offsets_, const Array<int32_t>& items_, const Array<int64_t>& starts_,
                      const Array<uint8_t>& names_, const std::string& delimiter, bool long_form) {
    auto offsets = span_of(offsets_);
    auto items = span_of(items_);
    auto starts = span_of(starts_);
    const char* names = reinterpret_cast<const char*>(names_.data());
    std::string out;
    {
        nb::gil_scoped_release release;
        for (size_t r = 0; r + 1 < offsets.size(); ++r) {
            if (long_form && offsets[r] == offsets[r + 1]) out += std::to_string(r + 1) + delimiter + "\n";
            for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
                if (long_form) out += std::to_string(r + 1) + delimiter;
                else if (i > offsets[r]) out += delimiter;
                size_t name = size_t(items[size_t(i)]);
                out.append(names + starts[name], size_t(starts[name + 1] - starts[name]));
                if (long_form) out += '\n';
            }
            if (!long_form) out += '\n';
        }
    }
    return nb::bytes(out.data(), out.size());
}

}  // namespace

void register_text_delimited(nb::module_& m) {
    m.def("parse_record", &parse_record, nb::arg("text"), nb::arg("delimiter"));
    m.def("parse_basket", &parse_basket, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"));
    m.def("parse_table", &parse_table, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"), nb::arg("columns"),
          nb::arg("width"));
    m.def("format_rows", &format_rows, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("names").noconvert(), nb::arg("delimiter"), nb::arg("long_form"));
}

}  // namespace veilset
