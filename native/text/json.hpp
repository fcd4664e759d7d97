// Strict JSON (RFC 8259), one value a line, read once from left to right: nothing is built of what nobody asked for,
// but all of it must be valid.
#pragma once

#include <deque>

#include "text/text.hpp"

namespace veilset {

class Json {
public:
    explicit Json(const Block& block)
        : text_(block.text), at_(text_.data() + block.at), end_(text_.data() + text_.size()), line_(block.line) {}

    bool done() const { return at_ == end_; }
    int64_t consumed() const { return at_ - text_.data(); }
    int64_t line() const { return line_; }
    template <class Error = ParseError>
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(line_, what);
    }

    // The next character that is no blank; at the end of the line 0.
    char next() {
        while (at_ < end_ && is_blank(*at_)) ++at_;
        return line_ends() ? '\0' : *at_;
    }
    bool line_ends() const { return at_ == end_ || is_line_end(*at_); }

    void end_line() {
        next();
        if (!line_ends()) expected("the end of the line");
        if (!done()) {
            at_ += line_end_size(at_, end_);
            ++line_;
        }
        keys_.clear();
        unescaped_.clear();
    }

    // Calls element() at each element of the array that begins here; it must read the element.
    template <class Element>
    void array(int depth, Element element) {
        open(depth);
        if (next() == ']') return void(++at_);
        while (true) {
            element();
            if (next() == ']') return void(++at_);
            if (next() != ',') expected("',' or ']'");
            ++at_;
        }
    }

    // Calls member(key) at each value of the object that begins here; it must read the value. The keys are kept in
    // keys().
    template <class Member>
    void object(int depth, Member member) {
        const size_t first = keys_.size();
        open(depth);
        if (next() == '}') return void(++at_);
        while (true) {
            if (next() != '"') expected("a key in double quotes");
            keys_.push_back(string());
            if (next() != ':') expected("':'");
            ++at_;
            member(keys_.back());
            if (next() == '}') break;
            if (next() != ',') expected("',' or '}'");
            ++at_;
        }
        ++at_;
        check_distinct(first);
    }
    const std::vector<std::string_view>& keys() const { return keys_; }

    bool take_null() {
        if (next() != 'n') return false;
        literal("null");
        return true;
    }

    void skip(int depth) {
        switch (next()) {
            case '"':
                string();
                break;
            case '[':
                array(depth, [&] { skip(depth + 1); });
                break;
            case '{': {
                const size_t outer = keys_.size();
                object(depth, [&](std::string_view) { skip(depth + 1); });
                keys_.resize(outer);
                break;
            }
            default:
                scalar();
        }
    }

    // A string, or a whole number as it is written.
    template <class Error = ParseError>
    std::string_view name(const char* whose) {
        const char c = next();
        if (c == '"') {
            const std::string_view value = string();
            if (value.empty()) fail<Error>(std::string(whose) + " is an empty name");
            return value;
        }
        if (c != '-' && !is_digit(c))
            fail<Error>(std::string(whose) + " is " + found() + ", not a string or a whole number");
        const Number number = this->number();
        if (!number.whole)
            fail<Error>(std::string(whose) + " is the number " + shown(number.text) +
                        ", not a string or a whole number");
        if (number.text.size() - (c == '-') > most_digits)
            fail<Error>(std::string(whose) + " is a number of more than " + std::to_string(most_digits) +
                        " digits; write it as a string");
        return number.text;
    }

    // What stands here, in words.
    std::string found() {
        switch (next()) {
            case '"':
                return "a string";
            case '[':
                return "an array";
            case '{':
                return "an object";
            default: {
                const std::string_view value = scalar();
                return is_digit(value.back()) ? "the number " + shown(value) : std::string(value);
            }
        }
    }

private:
    static constexpr int deepest = 512;
    static constexpr size_t most_digits = 4000;

    struct Number {
        std::string_view text;
        bool whole;
    };

    [[noreturn]] void expected(const std::string& what) const {
        const char* stop = at_;
        while (stop < end_ && !is_line_end(*stop)) ++stop;
        if (stop == at_) fail("not valid JSON: the line ends where " + what + " is expected");
        fail("not valid JSON: " + shown({at_, size_t(stop - at_)}) + " stands where " + what + " is expected");
    }

    void open(int depth) {
        if (depth > deepest) fail("arrays and objects are nested more than " + std::to_string(deepest) + " deep");
        ++at_;
    }

    std::string_view literal(std::string_view word) {
        if (!std::string_view(at_, end_ - at_).starts_with(word)) expected("a value");
        at_ += word.size();
        return word;
    }

    std::string_view scalar() {
        switch (next()) {
            case 'n':
                return literal("null");
            case 't':
                return literal("true");
            case 'f':
                return literal("false");
            default:
                return number().text;
        }
    }

    Number number() {
        const char* first = at_;
        bool whole = true;
        if (at_ < end_ && *at_ == '-') ++at_;
        if (at_ == end_ || !is_digit(*at_)) {
            at_ = first;
            expected("a value");
        }
        const bool zero = *at_ == '0';
        const char* digits = at_;
        skip_digits();
        if (zero && at_ - digits > 1)
            fail("not valid JSON: the number " + shown({first, size_t(at_ - first)}) + " begins with 0");
        if (at_ < end_ && *at_ == '.') {
            whole = false;
            ++at_;
            at_least_one_digit();
        }
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
            whole = false;
            ++at_;
            if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
            at_least_one_digit();
        }
        return {{first, size_t(at_ - first)}, whole};
    }
    void at_least_one_digit() {
        if (at_ == end_ || !is_digit(*at_)) expected("a digit");
        skip_digits();
    }
    void skip_digits() {
        for (; end_ - at_ >= 8; at_ += 8)
            if (const uint64_t others = marks_of_others(load_word(at_))) {
                at_ += first_mark(others);
                return;
            }
        while (at_ < end_ && is_digit(*at_)) ++at_;
    }

    // A piece of the text where it has no escapes; else it lives until the end of the line.
    std::string_view string() {
        const char* first = ++at_;
        skip_plain();
        if (at_ < end_ && *at_ == '"') return {first, size_t(at_++ - first)};
        std::string& out = unescaped_.emplace_back();
        while (true) {
            out.append(first, at_);
            if (line_ends()) fail("not valid JSON: the line ends inside a string");
            if (*at_ == '"') break;
            if (*at_ != '\\')
                fail("not valid JSON: a control character inside a string; write it as \\u and four digits");
            escape(out);
            first = at_;
            skip_plain();
        }
        ++at_;
        return out;
    }

    // To the next quote, backslash or control character.
    void skip_plain() {
        for (; end_ - at_ >= 8; at_ += 8) {
            const uint64_t word = load_word(at_);
            const uint64_t controls = (word - every_byte * 0x20) & ~word & high_bits;
            if (const uint64_t marks = marks_of(word, '"') | marks_of(word, '\\') | controls) {
                at_ += first_mark(marks);
                return;
            }
        }
        while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    }

    void escape(std::string& out) {
        ++at_;
        if (line_ends()) fail("not valid JSON: the line ends inside a string");
        static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const size_t letter = letters.find(*at_);
        if (letter != letters.npos) {
            out += meant[letter];
            ++at_;
        } else if (*at_ == 'u') {
            append_utf8(out, code_point());
        } else {
            expected("one of \" \\ / b f n r t u behind a backslash");
        }
    }

    // Behind a backslash: uXXXX, or for code points above U+FFFF uXXXX and a second escape.
    uint32_t code_point() {
        const char* first = at_ - 1;
        uint32_t code = four_digits();
        if (code == 0) fail("\\u0000 is no character of a name");
        if (code < 0xD800 || code > 0xDFFF) return code;
        if (code < 0xDC00 && end_ - at_ > 1 && at_[0] == '\\' && at_[1] == 'u') {
            ++at_;
            const uint32_t low = four_digits();
            if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        fail("'" + std::string(first, 6) + "' is half a character: a surrogate without its other half");
    }
    uint32_t four_digits() {
        ++at_;
        uint32_t code = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const char c = at_ < end_ ? *at_ : '\0', lower = char(c | 0x20);
            if (!is_digit(c) && (lower < 'a' || lower > 'f')) expected("one of four hexadecimal digits behind \\u");
            code = code * 16 + uint32_t(is_digit(c) ? c - '0' : lower - 'a' + 10);
        }
        return code;
    }
    static void append_utf8(std::string& out, uint32_t code) {
        if (code < 0x80) return void(out += char(code));
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        out += char((0xFF00u >> (more + 1)) | (code >> 6 * more));  // as many ones in front as there are bytes
        for (int i = more - 1; i >= 0; --i) out += char(0x80 | ((code >> 6 * i) & 0x3F));
    }

    void check_distinct(size_t first) const {
        const auto begin = keys_.begin() + ptrdiff_t(first), end = keys_.end();
        if (end - begin <= 8) {  // the usual few keys: comparing all of them is faster than sorting
            for (auto key = begin; key != end; ++key)
                if (std::find(begin, key, *key) != key) fail("the key " + shown(*key) + " occurs twice in an object");
            return;
        }
        std::vector<std::string_view> sorted(begin, end);
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) fail("the key " + shown(*twice) + " occurs twice in an object");
    }

    std::string_view text_;
    const char* at_;
    const char* const end_;
    int64_t line_;
    std::vector<std::string_view> keys_;  // of the objects that are open
    std::deque<std::string> unescaped_;   // strings that had escapes
};

}  // namespace veilset
