// Binary logarithms in integers, the same bits on every machine: what decides a split must not depend on a maths
// library.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace veilset::joins {

using Wide = unsigned __int128;

constexpr int fraction_bits = 48;  // of a logarithm, and of a gain

// log2 of a number between 1 and 2, with 56 bits behind the point, bit by bit: squaring doubles a logarithm.
constexpr uint64_t log2_by_squaring(uint64_t mantissa) {  // 2^63 stands for 1
    uint64_t result = 0;
    for (int bit = 0; bit < 56; ++bit) {
        const Wide square = Wide(mantissa) * mantissa;
        const bool above = (square >> 127) != 0;
        mantissa = uint64_t(square >> (above ? 64 : 63));
        result = result << 1 | uint64_t(above);
    }
    return result;
}

struct Step {
    uint64_t inverse;  // 1 / (1 + i/1024), 2^64 standing for 1
    uint64_t log2;     // of 1 + i/1024, with 56 bits behind the point
};

constexpr std::array<Step, 1024> steps = [] {
    std::array<Step, 1024> made{};
    for (uint64_t i = 1; i < made.size(); ++i) {
        made[i].inverse = uint64_t((Wide(1) << 74) / (1024 + i));
        made[i].log2 = log2_by_squaring((1024 + i) << 53);
    }
    return made;
}();

// log2 of 1 ≤ x < 2^63, with 48 bits behind the point; exact for powers of two, else less than 2^-47 off.
inline int64_t fixed_log2(uint64_t x) {
    const int whole = std::bit_width(x) - 1;
    const uint64_t mantissa = x << (63 - whole);
    const uint64_t i = mantissa >> 53 & 1023;
    // mantissa = (1 + i/1024)(1 + r) with 0 ≤ r < 2^-10, and ln(1 + r) = r - r²/2 + r³/3 - r⁴/4 + ...; 2^63 stands
    // for 1.
    const uint64_t ratio = i == 0 ? mantissa : uint64_t(Wide(mantissa) * steps[i].inverse >> 64);
    const auto r = int64_t(ratio - (uint64_t(1) << 63));
    const auto times = [](int64_t a, int64_t b) { return int64_t(__int128(a) * b >> 63); };
    const int64_t r2 = times(r, r), r3 = times(r2, r), r4 = times(r2, r2);
    constexpr uint64_t inverse_ln2 = 0xb8aa3b295c17f0bc;  // 1 / ln 2, 2^63 standing for 1
    const auto rest = int64_t(__int128(r - r2 / 2 + r3 / 3 - r4 / 4) * inverse_ln2 >> 70);  // 2^56 stands for 1
    return (int64_t(whole) << fraction_bits) + ((int64_t(steps[i].log2) + rest) >> 8);
}

}  // namespace veilset::joins
