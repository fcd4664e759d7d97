// What makes an itemset a mole, for mining_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace veilset::mining {

struct Limits {
    int64_t h_num, h_den, k;
    int64_t p;  // 0: unlimited
    bool breach(int64_t with, int64_t support) const { return with * h_den > h_num * support; }
    // Every itemset that occurs is held by one row, and no share exceeds 1: then nothing can be a mole.
    bool allow_everything() const { return k <= 1 && h_num >= h_den; }
    bool may_grow(size_t size) const { return p == 0 || int64_t(size) < p; }
};

}  // namespace veilset::mining
