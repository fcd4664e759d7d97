// Bit sets of the auditors, with the best instructions of this machine.
#pragma once

#include "core/vector.hpp"

namespace veilset::auditing {

// Sets come in blocks of so many words, so that no loop has an end of its own.
constexpr Index block_of_words = 8;

// How much the bits of both weigh: each bit of word i weighs 1 << shift[i].
int64_t weight_of_both(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, Index words);

}  // namespace veilset::auditing
