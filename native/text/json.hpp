// Strict JSON (RFC 8259), one value a line, read once from left to right: nothing is built of what nobody asked for,
// but all of it must be valid.
#pragma once

#include <deque>

#include "text/text.hpp"

namespace veilset {

class Json : public Block {
public:
    explicit Json(const Block& block, bool gaps_ = false) : Block(block), gaps(gaps_) {}

    template <class Error = ParseError>
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(line, what);
    }

    // The next character that is no blank; at the end of the line 0.
    char next() {
        while (at < end && is_blank(*at)) ++at;
        return line_ends() ? '\0' : *at;
    }

    void end_line() {
        next();
        if (!line_ends()) expected("the end of the line");
        if (!done()) skip_line_end();
        keys_.clear();
        unescaped_.clear();
    }

    // Calls element() at each element of the array that begins here; it must read the element.
    template <class Element>
    void array(int depth, Element element) {
        open(depth);
        if (next() == ']') return void(++at);
        while (true) {
            element();
            if (next() == ']') return void(++at);
            if (next() != ',') expected("',' or ']'");
            ++at;
        }
    }

    // As object(), for a line that must be one.
    template <class Member>
    void line_object(Member member) {
        if (next() != '{') fail("this line is " + found() + ", not an object");
        object(1, member);
    }

    // Calls member(key) at each value of the object that begins here; it must read the value. The keys are kept in
    // keys().
    template <class Member>
    void object(int depth, Member member) {
        const Index first = keys_.size();
        open(depth);
        if (next() == '}') return void(++at);
        while (true) {
            if (next() != '"') expected("a key in double quotes");
            keys_.push_back(string());
            if (next() != ':') expected("':'");
            ++at;
            member(keys_.back());
            if (next() == '}') break;
            if (next() != ',') expected("',' or '}'");
            ++at;
        }
        ++at;
        check_distinct(first);
    }
    View<std::string_view> keys() const { return keys_; }

    bool take_null() {
        if (next() != 'n') return false;
        literal("null");
        return true;
    }

    void skip(int depth) {
        const char c = next();
        const Index outer = keys_.size();
        if (c == '"') string();
        else if (c == '[') array(depth, [&] { skip(depth + 1); });
        else if (c == '{') object(depth, [&](std::string_view) { skip(depth + 1); });
        else scalar();
        keys_.resize(outer);
    }

    // A string, or a whole number as it is written; with `gaps`, nothing for null and for an empty string.
    template <class Error = ParseError>
    std::string_view name(std::string_view whose) {
        const auto refuse = [&](const std::string& is) { fail<Error>(std::string(whose) + " is " + is); };
        const char c = next();
        if (gaps && take_null()) return {};
        if (c == '"') {
            const std::string_view value = string();
            if (value.empty() && !gaps) refuse("an empty name");
            return value;
        }
        if (c != '-' && !is_digit(c)) refuse(found() + ", not a string or a whole number");
        const Number number = this->number();
        if (!number.whole) refuse("the number " + shown(number.text) + ", not a string or a whole number");
        if (number.text.size() - (c == '-') > most_digits)
            refuse("a number of more than " + std::to_string(most_digits) + " digits; write it as a string");
        return number.text;
    }

    // What stands here, in words.
    std::string found() {
        const char c = next();
        if (c == '"') return "a string";
        if (c == '[') return "an array";
        if (c == '{') return "an object";
        const std::string_view value = scalar();
        return is_digit(value.back()) ? "the number " + shown(value) : std::string(value);
    }

private:
    const bool gaps;
    static constexpr int deepest = 512;
    static constexpr size_t most_digits = 4000;

    struct Number {
        std::string_view text;
        bool whole;
    };

    [[noreturn]] void expected(const std::string& what) const {
        const char* stop = at;
        while (stop < end && !is_line_end(*stop)) ++stop;
        if (stop == at) fail("not valid JSON: the line ends where " + what + " is expected");
        fail("not valid JSON: " + shown({at, stop}) + " stands where " + what + " is expected");
    }

    void open(int depth) {
        if (depth > deepest) fail("arrays and objects are nested more than " + std::to_string(deepest) + " deep");
        ++at;
    }

    std::string_view literal(std::string_view word) {
        if (!std::string_view(at, end).starts_with(word)) expected("a value");
        at += word.size();
        return word;
    }

    std::string_view scalar() {
        const char c = next();
        return c == 'n' ? literal("null") : c == 't' ? literal("true") : c == 'f' ? literal("false") : number().text;
    }

    Number number() {
        const char* first = at;
        bool whole = true;
        if (at < end && *at == '-') ++at;
        if (at == end || !is_digit(*at)) {
            at = first;
            expected("a value");
        }
        const bool zero = *at == '0';
        const char* digits = at;
        skip_digits();
        if (zero && at - digits > 1) fail("not valid JSON: the number " + shown({first, at}) + " begins with 0");
        if (at < end && *at == '.') {
            whole = false;
            ++at;
            at_least_one_digit();
        }
        if (at < end && (*at == 'e' || *at == 'E')) {
            whole = false;
            ++at;
            if (at < end && (*at == '+' || *at == '-')) ++at;
            at_least_one_digit();
        }
        return {{first, at}, whole};
    }
    void at_least_one_digit() {
        if (at == end || !is_digit(*at)) expected("a digit");
        skip_digits();
    }
    void skip_digits() {
        for (; end - at >= 8; at += 8)
            if (const uint64_t others = marks_of_others(load_word(at))) {
                at += first_mark(others);
                return;
            }
        while (at < end && is_digit(*at)) ++at;
    }

    // A piece of the text where it has no escapes; else it lives until the end of the line.
    std::string_view string() {
        const char* first = ++at;
        skip_plain();
        if (at < end && *at == '"') return {first, at++};
        std::string& out = unescaped_.emplace_back();
        while (true) {
            out.append(first, at);
            if (line_ends()) fail("not valid JSON: the line ends inside a string");
            if (*at == '"') break;
            if (*at != '\\')
                fail("not valid JSON: a control character inside a string; write it as \\u and four digits");
            escape(out);
            first = at;
            skip_plain();
        }
        ++at;
        return out;
    }

    // To the next quote, backslash or control character.
    void skip_plain() {
        for (; end - at >= 8; at += 8) {
            const uint64_t word = load_word(at);
            const uint64_t controls = (word - every_byte * 0x20) & ~word & high_bits;
            if (const uint64_t marks = marks_of(word, '"') | marks_of(word, '\\') | controls) {
                at += first_mark(marks);
                return;
            }
        }
        while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
    }

    void escape(std::string& out) {
        ++at;
        if (line_ends()) fail("not valid JSON: the line ends inside a string");
        static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const size_t letter = letters.find(*at);
        if (letter != letters.npos) {
            out += meant[letter];
            ++at;
        } else if (*at == 'u') {
            append_utf8(out, code_point());
        } else {
            expected("one of \" \\ / b f n r t u behind a backslash");
        }
    }

    // Behind a backslash: uXXXX, or for code points above U+FFFF uXXXX and a second escape.
    uint32_t code_point() {
        const char* first = at - 1;
        uint32_t code = four_digits();
        if (code == 0) fail("\\u0000 is no character of a name");
        if (code < 0xD800 || code > 0xDFFF) return code;
        if (code < 0xDC00 && end - at > 1 && at[0] == '\\' && at[1] == 'u') {
            ++at;
            const uint32_t low = four_digits();
            if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        fail("'" + std::string(first, 6) + "' is half a character: a surrogate without its other half");
    }
    uint32_t four_digits() {
        ++at;
        uint32_t code = 0;
        for (int i = 0; i < 4; ++i, ++at) {
            const char c = at < end ? *at : '\0', lower = char(c | 0x20);
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

    void check_distinct(Index first) const {
        const auto mine = View(keys_).subspan(first);
        if (mine.size() <= 8) {  // the usual few keys: comparing all of them is faster than sorting
            for (auto key = mine.begin(); key != mine.end(); ++key)
                if (std::find(mine.begin(), key, *key) != key)
                    fail("the key " + shown(*key) + " occurs twice in an object");
            return;
        }
        List<std::string_view> sorted(mine.begin(), mine.end());
        std::ranges::sort(sorted);
        const auto twice = std::ranges::adjacent_find(sorted);
        if (twice != sorted.end()) fail("the key " + shown(*twice) + " occurs twice in an object");
    }

    List<std::string_view> keys_;        // of the objects that are open
    std::deque<std::string> unescaped_;  // strings that had escapes
};

}  // namespace veilset
