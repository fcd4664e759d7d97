// What makes an itemset a mole, and which sizes are asked for.
#pragma once

#include "core/vector.hpp"

namespace veilset::mining {

// A mistake on purpose, for the one test that builds with it: see tests/native/test_mutant.py.
#if defined(VEILSET_MUTANT)
constexpr int64_t off_by = 1;
#else
constexpr int64_t off_by = 0;
#endif

struct Limits {
    int64_t h_num, h_den, k;
    int64_t p;  // 0: unlimited
    bool rare(int64_t support) const { return support < k - off_by; }
    bool breach(int64_t with, int64_t support) const { return with * h_den > h_num * support; }
    // Every itemset that occurs is held by one row, and no share exceeds 1: then nothing can be a mole.
    bool allow_everything() const { return k <= 1 && h_num >= h_den; }
    bool may_grow(Index size) const { return p == 0 || int64_t(size) < p; }
};

struct Sizes {
    int64_t min, max;  // max 0: unlimited
    bool small_enough(Index size) const { return max == 0 || int64_t(size) <= max; }
    bool fit(Index size) const { return int64_t(size) >= min && small_enough(size); }
};

}  // namespace veilset::mining
