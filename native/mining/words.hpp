// Sets of small numbers: bits in words of 64.
#pragma once

#include <bit>

#include "core/vector.hpp"

namespace veilset {

constexpr Index words_for(Index bits) { return (bits + 63) >> 6; }

template <class Words>
void set_bit(Words&& words, Index i) {
    words[i >> 6] |= uint64_t(1) << (i & 63);
}
template <class Words>
void clear_bit(Words&& words, Index i) {
    words[i >> 6] &= ~(uint64_t(1) << (i & 63));
}
template <class Words>
bool has_bit(const Words& words, Index i) {
    return words[i >> 6] >> (i & 63) & 1;
}

// body(i) for all that are set, lowest first.
template <class Words, class Body>
void for_each_bit(const Words& words, Body body) {
    for (Index w = 0; w < Index(std::size(words)); ++w)
        for (uint64_t left = words[w]; left; left &= left - 1) body(int32_t(64 * w) + std::countr_zero(left));
}

}  // namespace veilset
