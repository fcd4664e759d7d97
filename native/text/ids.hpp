// Lines of item ids (whole numbers) separated by blanks: what FIMI and SPMF share.
#pragma once

#include "text/text.hpp"

namespace veilset {

inline uint64_t checked_id(std::string_view digits, int64_t line) {
    uint64_t id = 0;
    for (char c : digits) {
        const uint64_t digit = uint64_t(c - '0');
        if (id > (uint64_t(std::numeric_limits<int64_t>::max()) - digit) / 10)
            throw ParseError(line, shown(digits) + " is larger than 9223372036854775807, the largest item id");
        id = id * 10 + digit;
    }
    return id;
}

// Takes an id of up to seven digits at once: its digits are moved to the end of the word, and pairs, then fours are
// added.
inline bool take_short_id(const char*& at, const char* end, uint64_t& id) {
    if (end - at < 8) return false;
    const uint64_t word = load_word(at), others = marks_of_others(word);
    if (others == 0) return false;
    const size_t size = first_mark(others);
    uint64_t digits = (word ^ (every_byte * '0')) << 8 * (8 - size);
    digits = digits * 10 + (digits >> 8);
    id = ((digits & 0x000000FF000000FFu) * (100 + (uint64_t(1000000) << 32)) +
          ((digits >> 16) & 0x000000FF000000FFu) * (1 + (uint64_t(10000) << 32))) >>
         32;
    at += size;
    return true;
}

// Item ids while they are read: a small one is its own code, the others are numbered behind them in order of
// appearance.
class Ids {
public:
    explicit Ids(std::string_view text) : large_(text) {}

    int32_t code(Index id) {
        if (id >= small_ids)
            return checked_code(small_ids + large_.code({reinterpret_cast<const char*>(&id), sizeof id}));
        if (id >= rank_of_.size()) rank_of_.resize(std::max(id + 1, 2 * rank_of_.size()), empty_field);
        rank_of_[id] = 0;
        return int32_t(id);
    }

    // Replaces the codes by ranks, and gives the id of each rank.
    List<int64_t> rank(List<int32_t>& codes) {
        List<int64_t> distinct;
        for (Index id = 0; id < rank_of_.size(); ++id)
            if (rank_of_[id] == 0) {
                rank_of_[id] = int32_t(distinct.size());
                distinct.push_back(id);
            }
        List<std::pair<int64_t, Index>> large;
        for (Index number = 0; number < large_.size(); ++number)
            large.emplace_back(load_word(text_of(large_.bytes()).data() + 8 * number), number);
        std::ranges::sort(large);
        List<int32_t> large_rank(large.size());
        for (auto [id, number] : large) {
            large_rank[number] = checked_code(distinct.size());
            distinct.push_back(id);
        }
        for (int32_t& code : codes) code = code < small_ids ? rank_of_[code] : large_rank[code - small_ids];
        return distinct;
    }

private:
    static constexpr int32_t small_ids = 1 << 22;
    List<int32_t> rank_of_;
    Dictionary large_;
};

// Reads the lines of a block, each of them a transaction.
struct IdLines : Block {
    List<int64_t> offsets{0}, ids;
    List<int32_t> codes;
    const char* line_start = at;

    explicit IdLines(const Block& block) : Block(block) {}

    // What is neither an id nor a blank is given to other(), which moves `at` behind it or throws.
    template <class Other>
    void read(Other other) {
        Ids numbered(text);
        codes.reserve((end - at) / 4);
        while (!done()) {
            take_ids(numbered);
            if (done()) break;
            if (is_line_end(*at)) {
                offsets.push_back(codes.size());
                skip_line_end();
            } else {
                other();
            }
        }
        if (line_start < end) offsets.push_back(codes.size());
        ids = numbered.rank(codes);
    }

    void skip_line_end() {
        Block::skip_line_end();
        line_start = at;
    }
    std::string_view word() const {
        const char* stop = at;
        while (stop < end && !is_blank(*stop) && !is_line_end(*stop)) ++stop;
        return {at, stop};
    }
    [[noreturn]] void refuse(const std::string& why) const { throw ParseError(line, shown(word()) + why); }

private:
    // The ids from here on, to the end of the line or to what is no id.
    void take_ids(Ids& numbered) {
        const char* here = at;  // in a register, which a member would not be
        while (here < end) {
            const char* first = here;
            if (is_digit(*here)) {
                uint64_t id = 0;
                if (!take_short_id(here, end, id))
                    for (; here < end && is_digit(*here); ++here) id = id * 10 + uint64_t(*here - '0');
                if (here < end && !is_blank(*here) && !is_line_end(*here)) {
                    at = first;
                    return;
                }
                if (here - first > 18) id = checked_id({first, here}, line);
                codes.push_back(numbered.code(Index(id)));
            } else if (is_blank(*here)) {
                ++here;
            } else {
                break;
            }
        }
        at = here;
    }
};

}  // namespace veilset
