// FIMI: one transaction a line, ids separated by blanks.
#include <nanobind/nanobind.h>

#include <utility>

#include "text.hpp"

namespace veilset {
namespace {

std::string shown(std::string_view text) {
    size_t size = std::min<size_t>(text.size(), 40);
    while (size > 0 && size < text.size() && (text[size] & 0xC0) == 0x80) --size;  // never half a UTF-8 character
    std::string out;
    for (char c : text.substr(0, size)) out += (static_cast<unsigned char>(c) < 32 || c == 127) ? '?' : c;
    return "'" + out + (text.size() > size ? "...'" : "'");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

}  // namespace

void register_text_fimi(nb::module_& m) {
    nb::exception<ParseError>(m, "ParseError", PyExc_ValueError);
    m.def("parse_fimi", &parse_fimi, nb::arg("text"));
}

}  // namespace veilset
