// Fields of delimited text with RFC 4180 quoting. A field in quotes is taken to the letter, so that any name survives a
// round trip.
#pragma once

#include "text/text.hpp"

namespace veilset {

inline char only_char(const std::string& delimiter) {
    if (delimiter.size() != 1) throw std::invalid_argument("the delimiter must be one character of one byte");
    return delimiter[0];
}

inline WrongWidth wrong_width(int64_t line, int64_t wanted, int64_t found) {
    return {line, "the header has " + std::to_string(wanted) + " columns, this line has " + std::to_string(found)};
}

inline NoPerson nobodys(int64_t line, int64_t column) {
    return {line, "column " + std::to_string(column + 1) + ": it is empty, so nobody knows whose line this is"};
}

struct Fields : Block {
    char delimiter;

    Fields(const Block& block, const std::string& delimiter_) : Block(block), delimiter(only_char(delimiter_)) {}

    // Reads one record and calls field(value) for each of its fields, and before() ahead of it, which may pass over
    // some. False if the record is not complete: a quote is open at the end of a block that is not the last. Then all
    // is as before.
    template <class Field, class Before>
    bool record(Field field, Before before) {
        const size_t first = at;
        const int64_t first_line = line;
        while (true) {
            before();
            while (!done() && blank(text[at])) ++at;
            if (!done() && text[at] == '"') {
                if (!quoted(field)) {
                    at = first;
                    line = first_line;
                    return false;
                }
            } else {
                plain(field);
            }
            if (done()) return true;
            if (text[at] != delimiter) {
                skip_line_end();
                return true;
            }
            ++at;
        }
    }
    template <class Field>
    bool record(Field field) {
        return record(field, [] {});
    }

private:
    bool blank(char c) const { return is_blank(c) && c != delimiter; }

    template <class Field>
    void plain(Field& field) {
        const size_t first = at;
        skip_to_field_end();
        size_t end = at;
        while (end > first && blank(text[end - 1])) --end;
        field(text.substr(first, end - first));
    }

    void skip_to_field_end() {
        for (; at + 8 <= text.size(); at += 8) {
            const uint64_t word = load_word(text.data() + at);
            if (const uint64_t marks = marks_of(word, delimiter) | marks_of(word, '\n') | marks_of(word, '\r')) {
                at += first_mark(marks);
                return;
            }
        }
        while (!done() && text[at] != delimiter && !is_line_end(text[at])) ++at;
    }

    // False if the quote is still open where the block ends.
    template <class Field>
    bool quoted(Field& field) {
        const int64_t opened = line;
        size_t first = ++at;
        std::string unescaped;
        bool escaped = false;
        while (true) {
            if (done()) {
                if (!last) return false;
                throw ParseError(opened, "a quote is opened here and never closed");
            }
            const char c = text[at];
            if (c == '"') {
                if (at + 1 >= text.size() || text[at + 1] != '"') break;
                unescaped.append(text.substr(first, at + 1 - first));
                escaped = true;
                at += 2;
                first = at;
                continue;
            }
            if (c == '\n' || (c == '\r' && !(at + 1 < text.size() && text[at + 1] == '\n'))) ++line;
            ++at;
        }
        const std::string_view tail = text.substr(first, at - first);
        ++at;
        while (!done() && blank(text[at])) ++at;
        if (!done() && text[at] != delimiter && !is_line_end(text[at]))
            throw ParseError(line, "text follows a closing quote; double the quotes inside a quoted name");
        if (!escaped) field(tail);
        else field(std::string_view(unescaped.append(tail)));
        return true;
    }
};

}  // namespace veilset
