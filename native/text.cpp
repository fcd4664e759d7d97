// Text to transactions and back: FIMI lines of ids, and delimited text (baskets, long tables) with RFC 4180 quoting.
//
// Common to both: a line ends with LF, CRLF or a lone CR; blanks around a field do not count; every error names its
// line. A field in quotes is taken to the letter, so that any name survives a round trip.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"

namespace veilset {
namespace {

struct ParseError : std::runtime_error {
    ParseError(int64_t line, const std::string& what) : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

std::string_view view_of(const nb::bytes& text) { return {static_cast<const char*>(text.data()), text.size()}; }

constexpr int32_t empty_field = -1;

int32_t checked_code(size_t count) {
    if (count > size_t(std::numeric_limits<int32_t>::max())) throw std::length_error("more than 2^31 distinct items");
    return int32_t(count);
}

// ---- FIMI: one transaction a line, ids separated by blanks ----

std::string shown(std::string_view text) {
    constexpr size_t longest = 40;
    std::string out;
    for (char c : text.substr(0, longest)) out += (static_cast<unsigned char>(c) < 32 || c == 127) ? '?' : c;
    return "'" + out + (text.size() > longest ? "...'" : "'");
}

nb::tuple parse_fimi(const nb::bytes& input) {
    std::string_view text = view_of(input);
    std::vector<int64_t> offsets{0};
    std::vector<int64_t> ids;
    std::vector<int32_t> codes;
    std::vector<int64_t> distinct;
    {
        nb::gil_scoped_release release;
        ids.reserve(text.size() / 4);
        const char* at = text.data();
        const char* const end = at + text.size();
        int64_t line = 1;
        while (at < end) {
            char c = *at;
            if (c >= '0' && c <= '9') {
                const char* first = at;
                uint64_t id = 0;
                for (; at < end && *at >= '0' && *at <= '9'; ++at) {
                    if (id > (uint64_t(std::numeric_limits<int64_t>::max()) - uint64_t(*at - '0')) / 10)
                        throw ParseError(line, shown({first, size_t(std::min<ptrdiff_t>(end - first, 30))}) +
                                                   " is larger than 9223372036854775807, the largest item id");
                    id = id * 10 + uint64_t(*at - '0');
                }
                if (at < end && *at != ' ' && *at != '\n' && *at != '\t' && *at != '\r') at = first, c = 0;
                else ids.push_back(int64_t(id));
            }
            if (c == ' ' || c == '\t') {
                ++at;
            } else if (c == '\n' || c == '\r') {
                at += (c == '\r' && at + 1 < end && at[1] == '\n') ? 2 : 1;
                offsets.push_back(int64_t(ids.size()));
                ++line;
            } else if (c < '0' || c > '9') {
                const char* stop = at;
                while (stop < end && !std::strchr(" \t\r\n", *stop)) ++stop;
                throw ParseError(line, shown({at, size_t(stop - at)}) + " is not an item id (a whole number without sign)");
            }
        }
        if (!text.empty() && text.back() != '\n' && text.back() != '\r') offsets.push_back(int64_t(ids.size()));

        // Ids to dense codes: a table when the ids are small, sorting when they are spread out.
        int64_t largest = ids.empty() ? -1 : *std::max_element(ids.begin(), ids.end());
        codes.resize(ids.size());
        if (largest < int64_t(4 * ids.size()) + (1 << 20)) {
            std::vector<int32_t> code_of(size_t(largest + 1), empty_field);
            for (int64_t id : ids) code_of[size_t(id)] = 0;
            for (int64_t id = 0; id <= largest; ++id)
                if (code_of[size_t(id)] == 0) {
                    code_of[size_t(id)] = checked_code(distinct.size());
                    distinct.push_back(id);
                }
            for (size_t i = 0; i < ids.size(); ++i) codes[i] = code_of[size_t(ids[i])];
        } else {
            distinct = ids;
            std::sort(distinct.begin(), distinct.end());
            distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
            checked_code(distinct.size());
            for (size_t i = 0; i < ids.size(); ++i)
                codes[i] = int32_t(std::lower_bound(distinct.begin(), distinct.end(), ids[i]) - distinct.begin());
        }
    }
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(codes)), to_numpy(std::move(distinct)));
}

// ---- delimited text ----

// Distinct strings, numbered in order of appearance.
class Dictionary {
public:
    Dictionary() : slots_(1 << 10, empty_field) {}

    int32_t code(std::string_view value) {
        if (2 * values_.size() >= slots_.size()) grow();
        size_t slot = find(value);
        if (slots_[slot] == empty_field) {
            slots_[slot] = checked_code(values_.size());
            values_.push_back(value);
        }
        return slots_[slot];
    }

    // A value that is not a piece of the text itself (unescaped quotes) is kept here.
    std::string_view keep(std::string value) { return kept_.emplace_back(std::move(value)); }

    nb::tuple to_arrow() const {
        std::vector<int64_t> starts{0};
        std::vector<uint8_t> bytes;
        for (std::string_view value : values_) {
            bytes.insert(bytes.end(), value.begin(), value.end());
            starts.push_back(int64_t(bytes.size()));
        }
        return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(bytes)));
    }

private:
    size_t find(std::string_view value) const {
        size_t slot = std::hash<std::string_view>()(value) & (slots_.size() - 1);
        while (slots_[slot] != empty_field && values_[size_t(slots_[slot])] != value) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    void grow() {
        slots_.assign(2 * slots_.size(), empty_field);
        for (size_t i = 0; i < values_.size(); ++i) slots_[find(values_[i])] = int32_t(i);
    }

    std::vector<int32_t> slots_;
    std::vector<std::string_view> values_;
    std::deque<std::string> kept_;
};

struct Tokenizer {
    std::string_view text;
    char delimiter;
    size_t at;
    int64_t line;

    bool blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }
    bool line_end(char c) const { return c == '\n' || c == '\r'; }

    void skip_line_end() {
        at += (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ? 2 : 1;
        ++line;
    }

    // Reads one record and calls field(value, is_a_piece_of_text) for each of its fields.
    template <class Field>
    void record(Field field) {
        while (true) {
            while (at < text.size() && blank(text[at])) ++at;
            if (at < text.size() && text[at] == '"') {
                quoted(field);
            } else {
                size_t first = at;
                while (at < text.size() && text[at] != delimiter && !line_end(text[at])) ++at;
                size_t last = at;
                while (last > first && blank(text[last - 1])) --last;
                field(text.substr(first, last - first), true);
            }
            if (at >= text.size()) return;
            if (text[at] != delimiter) return skip_line_end();
            ++at;
        }
    }

private:
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
        if (at < text.size() && text[at] != delimiter && !line_end(text[at]))
            throw ParseError(line, "text follows a closing quote; double the quotes inside a quoted name");
        if (!escaped) field(tail, true);
        else field(std::string_view(unescaped.append(tail)), false);
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
    tokens.record([&](std::string_view value, bool) { fields.emplace_back(value.data(), value.size()); });
    return nb::make_tuple(fields, int64_t(tokens.at), tokens.line);
}

// All records; every field is an item. -1 stands for an empty field; a line with nothing on it has no fields at all.
nb::tuple parse_basket(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line) {
    Tokenizer tokens{view_of(input), only_char(delimiter), size_t(start), line};
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> codes;
    Dictionary names;
    {
        nb::gil_scoped_release release;
        while (tokens.at < tokens.text.size()) {
            size_t first = codes.size();
            tokens.record([&](std::string_view value, bool piece) {
                codes.push_back(value.empty() ? empty_field : names.code(piece ? value : names.keep(std::string(value))));
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
    std::vector<Dictionary> values(columns.size());
    std::vector<int32_t> slot_of(size_t(width), -1);
    for (size_t i = 0; i < columns.size(); ++i) slot_of.at(size_t(columns[i])) = int32_t(i);
    int64_t blank_lines = 0;
    {
        nb::gil_scoped_release release;
        while (tokens.at < tokens.text.size()) {
            const int64_t here = tokens.line;
            int32_t column = 0;
            bool something = false;
            tokens.record([&](std::string_view value, bool piece) {
                something |= !value.empty();
                int32_t slot = column < width ? slot_of[size_t(column)] : -1;
                ++column;
                if (slot < 0) return;
                Dictionary& dictionary = values[size_t(slot)];
                codes[size_t(slot)].push_back(
                    value.empty() ? empty_field : dictionary.code(piece ? value : dictionary.keep(std::string(value))));
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

void register_text(nb::module_& m) {
    nb::exception<ParseError>(m, "ParseError", PyExc_ValueError);
    m.def("parse_fimi", &parse_fimi, nb::arg("text"));
    m.def("parse_record", &parse_record, nb::arg("text"), nb::arg("delimiter"));
    m.def("parse_basket", &parse_basket, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"));
    m.def("parse_table", &parse_table, nb::arg("text"), nb::arg("delimiter"), nb::arg("start"), nb::arg("line"), nb::arg("columns"),
          nb::arg("width"));
    m.def("format_rows", &format_rows, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("names").noconvert(), nb::arg("delimiter"), nb::arg("long_form"));
}

}  // namespace veilset
