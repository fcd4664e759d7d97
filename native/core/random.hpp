// Random decisions that are keyed instead of drawn one after the other: the same seed gives the same result for any
// number of threads.
#pragma once

#include <cstdint>

#include "core/vector.hpp"

namespace veilset {

constexpr uint64_t random_step = 0x9E3779B97F4A7C15u;

// The finalizer of splitmix64: a bijection in which every bit of the input moves every bit of the output.
inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// Chance that is keyed by (seed, row, item).
class Chances {
public:
    Chances(uint64_t seed, int64_t row) : Chances(seed, uint64_t(row)) {}

    // Keyed by what a row holds instead of its number, and by which of the equal rows it is: the same chance in any
    // order of the rows.
    Chances(uint64_t seed, View<int32_t> row, int64_t copy) : Chances(seed, of_items(row) + uint64_t(copy)) {}

    // A number below 2^53. What happens if it is below some odds happens with all higher odds, too.
    uint64_t of(int32_t item) const { return mix(key_ + (uint64_t(item) + 1) * random_step) >> 11; }

private:
    Chances(uint64_t seed, uint64_t row) : key_(mix(mix(seed + random_step) + row)) {}

    static uint64_t of_items(View<int32_t> row) {
        uint64_t key = 0;
        for (int32_t item : row) key = mix(key + (uint64_t(item) + 1) * random_step);
        return key;
    }

    uint64_t key_;
};

}  // namespace veilset
