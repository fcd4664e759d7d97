// The peer of the AND + popcount loop: written by hand for AVX-512, four sums at once, no tail and no dispatch.
// Compiled by bit_loop.py with -O3 -mavx512f -mavx512vpopcntdq.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

inline __m512i ones_of_both(const uint64_t* a, const uint64_t* b) {
    return _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
}

__attribute__((noinline)) int64_t and_count(const uint64_t* a, const uint64_t* b, size_t words) {
    __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (size_t i = 0; i < words; i += 32) {
        sum0 = _mm512_add_epi64(sum0, ones_of_both(a + i, b + i));
        sum1 = _mm512_add_epi64(sum1, ones_of_both(a + i + 8, b + i + 8));
        sum2 = _mm512_add_epi64(sum2, ones_of_both(a + i + 16, b + i + 16));
        sum3 = _mm512_add_epi64(sum3, ones_of_both(a + i + 24, b + i + 24));
    }
    return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_add_epi64(sum0, sum1), _mm512_add_epi64(sum2, sum3)));
}

}  // namespace

// The sum over `repeat` passes; `words` is a multiple of 32.
extern "C" int64_t and_count_repeated(const uint64_t* a, const uint64_t* b, size_t words, int64_t repeat) {
    int64_t ones = 0;
    for (int64_t i = 0; i < repeat; ++i) {
        ones += and_count(a, b, words);
        asm volatile("" ::: "memory");  // or the compiler might do it once
    }
    return ones;
}
