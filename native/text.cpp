// Text to transactions and back: FIMI lines of ids, and delimited text (baskets, long tables) with RFC 4180 quoting.
//
// Common to both: a line ends with LF, CRLF or a lone CR; blanks around a field do not count; every error names its
// line. A field in quotes is taken to the letter, so that any name survives a round trip.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
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

// Eight characters at a time: the length of a field is unpredictable, so a loop over its characters costs a mispredicted
// branch for each field. The first character is the lowest byte.
static_assert(std::endian::native == std::endian::little);
constexpr uint64_t every_byte = 0x0101010101010101u, high_bits = 0x8080808080808080u;

uint64_t load_word(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The high bit of every byte that equals c; bytes behind the first such byte may be marked wrongly.
uint64_t marks_of(uint64_t word, char c) {
    const uint64_t difference = word ^ (every_byte * static_cast<unsigned char>(c));
    return (difference - every_byte) & ~difference & high_bits;
}

size_t first_mark(uint64_t marks) { return size_t(std::countr_zero(marks)) / 8; }

// Distinct strings, numbered in order of appearance. Most are pieces of one text and short, and are compared by their
// first eight bytes.
class Dictionary {
public:
    explicit Dictionary(std::string_view text) : text_(text), slots_(1 << 10), starts_{0} {}

    int32_t code(std::string_view value) {
        const uint64_t head = head_of(value);
        size_t place = hash(value, head) & last_;
        while (!holds(slots_[place], head, value)) {
            if (slots_[place].code == empty_field) return add(place, head, value);
            place = (place + 1) & last_;
        }
        return slots_[place].code;
    }

    size_t size() const { return starts_.size() - 1; }
    const std::vector<uint8_t>& bytes() const { return bytes_; }
    nb::tuple to_arrow() { return nb::make_tuple(to_numpy(std::move(starts_)), to_numpy(std::move(bytes_))); }

private:
    struct Slot {
        uint64_t head = 0;
        int32_t code = empty_field;
        uint32_t size = 0;  // 0 for a free slot, 9 for everything longer than eight bytes
    };

    [[gnu::noinline]] int32_t add(size_t place, uint64_t head, std::string_view value) {
        const int32_t code = checked_code(size());
        slots_[place] = {head, code, short_size(value)};
        bytes_.insert(bytes_.end(), value.begin(), value.end());
        starts_.push_back(int64_t(bytes_.size()));
        if (2 * size() >= slots_.size()) grow();
        return code;
    }
    // The first eight bytes, filled up with zeros.
    uint64_t head_of(std::string_view value) const {
        const auto at = reinterpret_cast<uintptr_t>(value.data()), first = reinterpret_cast<uintptr_t>(text_.data());
        if (at >= first && at + 8 <= first + text_.size())
            return load_word(value.data()) & (value.size() < 8 ? (uint64_t(1) << 8 * value.size()) - 1 : ~uint64_t(0));
        uint64_t head = 0;
        std::memcpy(&head, value.data(), std::min<size_t>(8, value.size()));
        return head;
    }
    static size_t hash(std::string_view value, uint64_t head) {
        uint64_t mixed = (head ^ value.size()) * 0x9E3779B97F4A7C15u;
        if (value.size() > 8) mixed = (mixed ^ std::hash<std::string_view>()(value)) * 0x9E3779B97F4A7C15u;
        return size_t(mixed ^ (mixed >> 32));
    }
    static uint32_t short_size(std::string_view value) { return uint32_t(std::min<size_t>(9, value.size())); }
    bool holds(const Slot& slot, uint64_t head, std::string_view value) const {
        return slot.head == head && slot.size == short_size(value) && (slot.size < 9 || value_of(size_t(slot.code)) == value);
    }
    std::string_view value_of(size_t code) const {
        return {reinterpret_cast<const char*>(bytes_.data()) + starts_[code], size_t(starts_[code + 1] - starts_[code])};
    }
    void grow() {
        slots_.assign(2 * slots_.size(), Slot());
        last_ = slots_.size() - 1;
        for (size_t i = 0; i < size(); ++i) {
            const std::string_view value = value_of(i);
            const uint64_t head = head_of(value);
            size_t place = hash(value, head) & last_;
            while (slots_[place].code != empty_field) place = (place + 1) & last_;
            slots_[place] = {head, int32_t(i), short_size(value)};
        }
    }

    std::string_view text_;
    std::vector<Slot> slots_;
    size_t last_ = slots_.size() - 1;
    std::vector<int64_t> starts_;
    std::vector<uint8_t> bytes_;
};

// ---- FIMI: one transaction a line, ids separated by blanks ----

std::string shown(std::string_view text) {
    size_t size = std::min<size_t>(text.size(), 40);
    while (size > 0 && size < text.size() && (text[size] & 0xC0) == 0x80) --size;  // never half a UTF-8 character
    std::string out;
    for (char c : text.substr(0, size)) out += (static_cast<unsigned char>(c) < 32 || c == 127) ? '?' : c;
    return "'" + out + (text.size() > size ? "...'" : "'");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

uint64_t checked_id(std::string_view digits, int64_t line) {
    uint64_t id = 0;
    for (char c : digits) {
        const uint64_t digit = uint64_t(c - '0');
        if (id > (uint64_t(std::numeric_limits<int64_t>::max()) - digit) / 10)
            throw ParseError(line, shown(digits) + " is larger than 9223372036854775807, the largest item id");
        id = id * 10 + digit;
    }
    return id;
}

// Takes an id of up to seven digits at once: its digits are moved to the end of the word, and pairs, then fours are added.
bool take_short_id(const char*& at, const char* end, uint64_t& id) {
    if (end - at < 8) return false;
    uint64_t digits = load_word(at) ^ (every_byte * '0');
    const uint64_t others = (((digits & ~high_bits) + every_byte * (0x80 - 10)) | digits) & high_bits;
    if (others == 0) return false;
    const size_t size = first_mark(others);
    digits <<= 8 * (8 - size);
    digits = digits * 10 + (digits >> 8);
    id = ((digits & 0x000000FF000000FFu) * (100 + (uint64_t(1000000) << 32)) +
          ((digits >> 16) & 0x000000FF000000FFu) * (1 + (uint64_t(10000) << 32))) >> 32;
    at += size;
    return true;
}

// Item ids while they are read: a small one is its own code, the others are numbered behind them in order of appearance.
class Ids {
public:
    explicit Ids(std::string_view text) : large_(text) {}

    int32_t code(uint64_t id) {
        if (id >= small_ids) return checked_code(small_ids + size_t(large_.code({reinterpret_cast<const char*>(&id), sizeof id})));
        if (id >= rank_of_.size()) rank_of_.resize(std::max<size_t>(size_t(id) + 1, 2 * rank_of_.size()), empty_field);
        rank_of_[size_t(id)] = 0;
        return int32_t(id);
    }

    // Replaces the codes by ranks, and gives the id of each rank.
    std::vector<int64_t> rank(std::vector<int32_t>& codes) {
        std::vector<int64_t> distinct;
        for (size_t id = 0; id < rank_of_.size(); ++id)
            if (rank_of_[id] == 0) {
                rank_of_[id] = int32_t(distinct.size());
                distinct.push_back(int64_t(id));
            }
        std::vector<std::pair<int64_t, size_t>> large(large_.size());
        for (size_t i = 0; i < large.size(); ++i) {
            std::memcpy(&large[i].first, large_.bytes().data() + 8 * i, 8);
            large[i].second = i;
        }
        std::sort(large.begin(), large.end());
        std::vector<int32_t> large_rank(large.size());
        for (auto [id, number] : large) {
            large_rank[number] = checked_code(distinct.size());
            distinct.push_back(id);
        }
        for (int32_t& code : codes)
            code = code < int32_t(small_ids) ? rank_of_[size_t(code)] : large_rank[size_t(code) - small_ids];
        return distinct;
    }

private:
    static constexpr uint64_t small_ids = 1 << 22;
    std::vector<int32_t> rank_of_;
    Dictionary large_;
};

nb::tuple parse_fimi(const nb::bytes& input) {
    std::string_view text = view_of(input);
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> codes;
    std::vector<int64_t> distinct;
    {
        nb::gil_scoped_release release;
        Ids ids(text);
        codes.reserve(text.size() / 4);
        const char* at = text.data();
        const char* const end = at + text.size();
        int64_t line = 1;
        while (at < end) {
            if (is_digit(*at)) {
                const char* first = at;
                uint64_t id = 0;
                if (!take_short_id(at, end, id))
                    for (; at < end && is_digit(*at); ++at) id = id * 10 + uint64_t(*at - '0');
                if (at == end || is_blank(*at) || is_line_end(*at)) {
                    if (at - first > 18) id = checked_id({first, size_t(at - first)}, line);
                    codes.push_back(ids.code(id));
                    continue;
                }
                at = first;
            }
            if (is_blank(*at)) {
                ++at;
            } else if (is_line_end(*at)) {
                at += (*at == '\r' && at + 1 < end && at[1] == '\n') ? 2 : 1;
                offsets.push_back(int64_t(codes.size()));
                ++line;
            } else {
                const char* stop = at;
                while (stop < end && !is_blank(*stop) && !is_line_end(*stop)) ++stop;
                throw ParseError(line, shown({at, size_t(stop - at)}) + " is not an item id (a whole number without sign)");
            }
        }
        if (!text.empty() && !is_line_end(text.back())) offsets.push_back(int64_t(codes.size()));
        distinct = ids.rank(codes);
    }
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(codes)), to_numpy(std::move(distinct)));
}

// ---- delimited text ----

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
