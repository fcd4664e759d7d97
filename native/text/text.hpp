// What the readers of text share. A line ends with LF, CRLF or a lone CR; blanks around a field do not count; every
// error names its line. A long text comes in blocks, and a reader takes the records that are complete.
#pragma once

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "core/arrays.hpp"

namespace veilset {

// Its type tells what to do about it, and its members where; the words are for people.
struct ParseError : std::runtime_error {
    int64_t line, column;  // column: from 0; -1 where none is meant
    std::string reason;

    ParseError(int64_t line_, const std::string& reason_, int64_t column_ = -1)
        : std::runtime_error("line " + std::to_string(line_) + ": " +
                             (column_ < 0 ? "" : "column " + std::to_string(column_ + 1) + ": ") + reason_),
          line(line_), column(column_), reason(reason_) {}
};
struct NoPerson : ParseError {  // nobody knows whose line this is
    using ParseError::ParseError;
};
struct WrongWidth : ParseError {  // not as many fields as the header has
    using ParseError::ParseError;
};

inline std::string_view text_of(View<uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), size_t(bytes.size())};
}
inline std::string_view text_of(const nb::bytes& text) { return {text.c_str(), text.size()}; }

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A piece of the text for an error message: short, and without control characters.
inline std::string shown(std::string_view text) {
    size_t size = std::min<size_t>(text.size(), 40);
    while (size > 0 && size < text.size() && (text[size] & 0xC0) == 0x80) --size;  // never half a UTF-8 character
    std::string out;
    for (char c : text.substr(0, size)) out += (static_cast<unsigned char>(c) < 32 || c == 127) ? '?' : c;
    return "'" + out + (text.size() > size ? "...'" : "'");
}

// A block of a longer text, read from `at`, where line number `line` begins. Unless it is the last block, its text is
// cut behind its last line end: the rest comes again at the start of the next block. A CR as the very last byte is such
// a rest, for an LF may follow.
struct Block {
    std::string_view text;
    const char *at, *end = text.data() + text.size();
    int64_t line;
    bool last;

    Block(const nb::bytes& input, int64_t start, int64_t first_line, bool is_last)
        : text(text_of(input)), at(text.data()), line(first_line), last(is_last) {
        if (start < 0 || start > end - at) throw std::invalid_argument("start is outside the text");
        at += start;
        if (last) return;
        if (end > at && end[-1] == '\r') --end;
        while (end > at && !is_line_end(end[-1])) --end;
        text = {text.data(), end};
    }

    bool done() const { return at == end; }
    bool line_ends() const { return done() || is_line_end(*at); }
    int64_t consumed() const { return at - text.data(); }
    void skip_line_end() {
        at += *at == '\r' && end - at > 1 && at[1] == '\n' ? 2 : 1;
        ++line;
    }
};

constexpr int32_t empty_field = -1;

inline int32_t checked_code(Index count) {
    if (count > std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 distinct items");
    return int32_t(count);
}

// Eight characters at a time: the length of a field is unpredictable, so a loop over its characters costs a
// mispredicted branch for each field. The first character is the lowest byte.
static_assert(std::endian::native == std::endian::little);
constexpr uint64_t every_byte = 0x0101010101010101u, high_bits = 0x8080808080808080u;

inline uint64_t load_word(const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The high bit of every byte that equals c; bytes behind the first such byte may be marked wrongly.
inline uint64_t marks_of(uint64_t word, char c) {
    const uint64_t difference = word ^ (every_byte * static_cast<unsigned char>(c));
    return (difference - every_byte) & ~difference & high_bits;
}

// The high bit of every byte that is no digit.
inline uint64_t marks_of_others(uint64_t word) {
    const uint64_t digits = word ^ (every_byte * '0');
    return (((digits & ~high_bits) + every_byte * (0x80 - 10)) | digits) & high_bits;
}

inline size_t first_mark(uint64_t marks) { return size_t(std::countr_zero(marks)) / 8; }

// Distinct strings, numbered in order of appearance. Most are pieces of one text and short, and are compared by their
// first eight bytes.
class Dictionary {
public:
    explicit Dictionary(std::string_view text = {}) : text_(text), slots_(1 << 10), starts_{0} {}

    int32_t code(std::string_view value) {
        const uint64_t head = head_of(value);
        size_t place = hash(value, head) & last_;
        while (!holds(slots_[place], head, value)) {
            if (slots_[place].code == empty_field) return add(place, head, value);
            place = (place + 1) & last_;
        }
        return slots_[place].code;
    }

    Index size() const { return starts_.size() - 1; }
    View<uint8_t> bytes() const { return bytes_; }

    // The strings of these codes, at the end. Strings that only a record had which was not complete come last: they are
    // left out.
    nb::tuple to_arrow(const List<int32_t>& codes) {
        const int32_t largest = codes.empty() ? empty_field : *std::ranges::max_element(codes);
        starts_.resize(largest + 1 + 1);
        bytes_.resize(starts_.back());
        return to_arrow();
    }
    // All of them, which are handed over: this is the last call.
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
        starts_.push_back(bytes_.size());
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
        return slot.head == head && slot.size == short_size(value) && (slot.size < 9 || value_of(slot.code) == value);
    }
    std::string_view value_of(Index code) const { return text_of(part(bytes_, starts_, code)); }
    void grow() {
        slots_.assign(2 * slots_.size(), Slot());
        last_ = slots_.size() - 1;
        for (int32_t code = 0; code < size(); ++code) {
            const std::string_view value = value_of(code);
            const uint64_t head = head_of(value);
            size_t place = hash(value, head) & last_;
            while (slots_[place].code != empty_field) place = (place + 1) & last_;
            slots_[place] = {head, code, short_size(value)};
        }
    }

    std::string_view text_;
    List<Slot> slots_;
    size_t last_ = slots_.size() - 1;
    List<int64_t> starts_;
    List<uint8_t> bytes_;
};

// Strings as codes, with what the codes mean.
struct Coded {
    Dictionary names;
    List<int32_t> codes{};

    explicit Coded(std::string_view text) : names(text) {}

    void add(std::string_view value) { codes.push_back(value.empty() ? empty_field : names.code(value)); }
    void keep(Index first) { codes.resize(std::min(first, codes.size())); }  // and forget the rest
    nb::tuple to_python() {
        nb::tuple strings = names.to_arrow(codes);
        return nb::make_tuple(to_numpy(std::move(codes)), strings);
    }
};

}  // namespace veilset
