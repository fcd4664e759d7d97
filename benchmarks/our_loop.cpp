// The kernels' own AND + popcount loop, many passes in one call, so that the call from Python does not show.
// Compiled by bit_loop.py together with native/mining/bits.cpp.
#include "mining/bits.hpp"

extern "C" int64_t and_count_repeated(const uint64_t* a, const uint64_t* b, size_t words, int64_t repeat) {
    int64_t ones = 0;
    for (int64_t i = 0; i < repeat; ++i) {
        ones += veilset::best_loops->and_count(a, b, nullptr, nullptr, words);
        asm volatile("" ::: "memory");  // or the compiler might do it once
    }
    return ones;
}
