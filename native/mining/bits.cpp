// AND + popcount with the best instructions this machine has.
//
// Dispatched by hand: gcc 12 does not take avx512vpopcntdq in target_clones.
#include "mining/bits.hpp"

#include <string>

#if defined(__x86_64__)
// gcc 12 takes the undefined lanes in its own header for a mistake.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace veilset {
namespace {

// Inlined, it is compiled with the instructions of its caller.
template <bool store, bool weigh>
[[gnu::always_inline]] inline int64_t word_by_word(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                                   uint64_t* out, size_t words) {
    int64_t sum = 0;
    for (size_t i = 0; i < words; ++i) {
        const uint64_t both = a[i] & b[i];
        if constexpr (store) out[i] = both;
        if constexpr (weigh) sum += int64_t(__builtin_popcountll(both)) << shifts[i];
        else sum += __builtin_popcountll(both);
    }
    return sum;
}

template <bool store, bool weigh>
int64_t portable(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out, size_t words) {
    return word_by_word<store, weigh>(a, b, shifts, out, words);
}
constexpr Loops portable_loops{portable<true, false>, portable<false, false>, portable<true, true>,
                               portable<false, true>};

#if defined(__x86_64__)
template <bool store, bool weigh>
__attribute__((target("popcnt"))) int64_t popcnt(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                                 uint64_t* out, size_t words) {
    return word_by_word<store, weigh>(a, b, shifts, out, words);
}
constexpr Loops popcnt_loops{popcnt<true, false>, popcnt<false, false>, popcnt<true, true>, popcnt<false, true>};

#define VEILSET_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

template <bool masked>
VEILSET_AVX512 inline __m512i load(const uint64_t* words, __mmask8 mask) {
    if constexpr (masked) return _mm512_maskz_loadu_epi64(mask, words);
    else return _mm512_loadu_si512(words);
}

// The sums of eight words from i on, or of those that the mask leaves.
template <bool store, bool weigh, bool masked>
VEILSET_AVX512 inline __m512i eight(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out,
                                    size_t i, __mmask8 mask = 0xff) {
    const __m512i both = _mm512_and_si512(load<masked>(a + i, mask), load<masked>(b + i, mask));
    if constexpr (store && masked) _mm512_mask_storeu_epi64(out + i, mask, both);
    else if constexpr (store) _mm512_storeu_si512(out + i, both);
    const __m512i ones = _mm512_popcnt_epi64(both);
    if constexpr (weigh) return _mm512_sllv_epi64(ones, load<masked>(shifts + i, mask));
    else return ones;
}

template <bool store, bool weigh>
VEILSET_AVX512 int64_t avx512(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out,
                              size_t words) {
    __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= words; i += 16) {
        even = _mm512_add_epi64(even, eight<store, weigh, false>(a, b, shifts, out, i));
        odd = _mm512_add_epi64(odd, eight<store, weigh, false>(a, b, shifts, out, i + 8));
    }
    for (; i < words; i += 8) {
        const auto mask = words - i >= 8 ? __mmask8(0xff) : static_cast<__mmask8>((1u << (words - i)) - 1);
        even = _mm512_add_epi64(even, eight<store, weigh, true>(a, b, shifts, out, i, mask));
    }
    return _mm512_reduce_add_epi64(_mm512_add_epi64(even, odd));
}
constexpr Loops avx512_loops{avx512<true, false>, avx512<false, false>, avx512<true, true>, avx512<false, true>};
#endif

}  // namespace

const Loops* loops_named(const std::string& name) {
#if defined(__x86_64__)
    if (name == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"))
        return &avx512_loops;
    if (name == "popcnt" && __builtin_cpu_supports("popcnt")) return &popcnt_loops;
#endif
    return name == "portable" ? &portable_loops : nullptr;
}

const Loops* const best_loops = [] {
    for (const char* name : {"avx512", "popcnt"})
        if (const Loops* found = loops_named(name)) return found;
    return &portable_loops;
}();

}  // namespace veilset
