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
    return {line, "it is empty, so nobody knows whose line this is", column};
}

struct Fields : Block {
    char delimiter;

    Fields(const Block& block, const std::string& delimiter_) : Block(block), delimiter(only_char(delimiter_)) {}

    // Reads one record and calls field(value) for each of its fields, and before() ahead of it, which may pass over
    // some. False if the record is not complete: a quote is open at the end of a block that is not the last. Then all
    // is as before.
    template <class Field, class Before>
    bool record(Field field, Before before) {
        const char* const first = at;
        const int64_t first_line = line;
        while (true) {
            before();
            skip_blanks();
            if (!done() && *at == '"') {
                if (!quoted(field)) {
                    at = first;
                    line = first_line;
                    return false;
                }
            } else {
                plain(field);
            }
            if (done()) return true;
            if (*at != delimiter) {
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
    bool field_ends() const { return line_ends() || *at == delimiter; }
    void skip_blanks() {
        while (!done() && blank(*at)) ++at;
    }

    template <class Field>
    void plain(Field& field) {
        const char* const first = at;
        skip_to(delimiter);
        const char* stop = at;
        while (stop > first && blank(stop[-1])) --stop;
        field({first, stop});
    }

    // To the next such character or line end.
    [[gnu::always_inline]] void skip_to(char c) {
        for (; end - at >= 8; at += 8) {
            const uint64_t word = load_word(at);
            if (const uint64_t marks = marks_of(word, c) | marks_of(word, '\n') | marks_of(word, '\r')) {
                at += first_mark(marks);
                return;
            }
        }
        while (!line_ends() && *at != c) ++at;
    }

    // False if the quote is still open where the block ends.
    template <class Field>
    bool quoted(Field& field) {
        const int64_t opened = line;
        const char* first = ++at;
        std::string unescaped;  // up to `first`, which is behind the last doubled quote
        while (true) {
            skip_to('"');
            if (done()) {
                if (!last) return false;
                throw ParseError(opened, "a quote is opened here and never closed");
            }
            if (*at != '"') {
                skip_line_end();
                continue;
            }
            if (end - at < 2 || at[1] != '"') break;
            unescaped.append(first, at + 1);
            first = at += 2;
        }
        const std::string_view tail(first, at++);
        skip_blanks();
        if (!field_ends())
            throw ParseError(line, "text follows a closing quote; double the quotes inside a quoted name");
        if (unescaped.empty()) field(tail);
        else field(std::string_view(unescaped.append(tail)));
        return true;
    }
};

}  // namespace veilset
