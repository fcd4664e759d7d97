// A table with a column for each item: 1 where a row has it, else 0. Also true and false in any case; an empty cell is
// 0. With counts, any whole number: more than 0 is 1.
#include <nanobind/stl/string.h>

#include "text/fields.hpp"

namespace veilset {
namespace {

enum class Cell { none, one, many, wrong };

bool is_word(std::string_view value, std::string_view word) {
    return std::equal(value.begin(), value.end(), word.begin(), word.end(),
                      [](char c, char lower) { return (c | 0x20) == lower; });
}

Cell cell_of(std::string_view value, bool counts) {
    if (value.empty() || value == "0") return Cell::none;
    if (value == "1") return Cell::one;
    if (is_word(value, "false")) return Cell::none;
    if (is_word(value, "true")) return Cell::one;
    if (!counts || !std::all_of(value.begin(), value.end(), is_digit)) return Cell::wrong;
    value.remove_prefix(std::min(value.find_first_not_of('0'), value.size()));
    return value.empty() ? Cell::none : value == "1" ? Cell::one : Cell::many;
}

struct Wide {
    Fields fields;
    int64_t width;
    View<uint8_t> skip;
    int64_t person;
    bool counts, gaps;
    List<int64_t> offsets{0};
    List<int32_t> codes{};
    Coded owners{fields.text};
    int64_t blank_lines = 0, above_one = 0;
    int64_t column = 0;  // of the row that is read

    void read() {
        while (!fields.done() && read_row()) {
        }
    }

    // False if the row is not complete.
    bool read_row() {
        const int64_t here = fields.line, above_one_before = above_one;
        bool something = false;
        column = 0;
        const bool complete = fields.record(
            [&](std::string_view value) {
                something |= !value.empty();
                if (column < width) take(value, here);
                ++column;
            },
            [&] { take_plain_cells(); });
        if (!complete) {
            codes.resize(offsets.back());
            above_one = above_one_before;
            owners.keep(offsets.size() - 1);
            return false;
        }
        if (column == 1 && !something && width > 1) {
            ++blank_lines;
            if (person == 0) owners.codes.pop_back();
            return true;
        }
        if (column != width) throw wrong_width(here, width, column);
        if (person >= 0 && !gaps && owners.codes.back() == empty_field) throw nobodys(here, person);
        offsets.push_back(codes.size());
        return true;
    }

    void take(std::string_view value, int64_t line) {
        if (column == person) owners.add(value);
        if (column == person || skip[column]) return;
        const Cell cell = cell_of(value, counts);
        if (cell == Cell::wrong)
            throw ParseError(
                line, shown(value) + (counts ? " is not a count (a whole number, 0 or more)" : " is neither 0 nor 1"),
                column);
        above_one += cell == Cell::many;
        if (cell != Cell::none) codes.push_back(int32_t(column));
    }

    // Most of a sparse table is "0,0,0,0,": four such cells at a time, as far as the next cell that is something else.
    // A cell of a column to be skipped may look the same.
    void take_plain_cells() {
        const uint64_t comma = static_cast<unsigned char>(fields.delimiter);
        const uint64_t zeros = ('0' | comma << 8) * units;
        const int64_t stop = column <= person ? person : width;
        const char* at = fields.at;  // in a register, which a member would not be
        for (; column + 4 <= stop && fields.end - at >= 8; column += 4, at += 8) {
            const uint64_t ones = load_word(at) ^ zeros;
            if (ones & ~units) break;
            for (uint64_t rest = ones; rest != 0; rest &= rest - 1) {
                const int64_t one = column + std::countr_zero(rest) / 16;
                if (!skip[one]) codes.push_back(int32_t(one));
            }
        }
        fields.at = at;
    }

    static constexpr uint64_t units = 0x0001000100010001u;
};

nb::tuple parse_wide(const nb::bytes& input, const std::string& delimiter, int64_t start, int64_t line, bool last,
                     int32_t width, View<uint8_t> skip, int32_t person, bool counts, bool gaps) {
    if (width < 1 || skip.size() != width) throw std::invalid_argument("skip does not have one entry for each column");
    if (person < -1 || person >= width) throw std::invalid_argument("person is not a column");
    Wide wide{Fields(Block(input, start, line, last), delimiter), width, skip, person, counts, gaps};
    {
        nb::gil_scoped_release release;
        wide.read();
    }
    return nb::make_tuple(to_numpy(std::move(wide.offsets)), to_numpy(std::move(wide.codes)), wide.fields.consumed(),
                          wide.fields.line, wide.blank_lines, wide.above_one, wide.owners.to_python());
}

}  // namespace

void register_text_wide(nb::module_& m) {
    m.def("parse_wide", &parse_wide, "text"_a, "delimiter"_a, "start"_a, "line"_a, "last"_a, "width"_a, "skip"_a,
          "person"_a, "counts"_a, "gaps"_a = false);
}

}  // namespace veilset
