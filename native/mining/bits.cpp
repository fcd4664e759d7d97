// AND + popcount with the best instructions this machine has.
//
// Dispatched by hand: gcc 12 does not take avx512vpopcntdq in target_clones.
#include "mining/bits.hpp"

#include <bit>
#include <string>

#if defined(__x86_64__)
// gcc 12 takes the undefined lanes in its own header for a mistake.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace veilset {
namespace {

int64_t and_store_count_portable(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t words) {
    int64_t ones = 0;
    for (size_t i = 0; i < words; ++i) ones += std::popcount(out[i] = a[i] & b[i]);
    return ones;
}

int64_t and_count_portable(const uint64_t* a, const uint64_t* b, size_t words) {
    int64_t ones = 0;
    for (size_t i = 0; i < words; ++i) ones += std::popcount(a[i] & b[i]);
    return ones;
}

int64_t and_store_weigh_portable(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out,
                                 size_t words) {
    int64_t weight = 0;
    for (size_t i = 0; i < words; ++i) weight += int64_t(std::popcount(out[i] = a[i] & b[i])) << shifts[i];
    return weight;
}

int64_t and_weigh_portable(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, size_t words) {
    int64_t weight = 0;
    for (size_t i = 0; i < words; ++i) weight += int64_t(std::popcount(a[i] & b[i])) << shifts[i];
    return weight;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) int64_t and_store_count_popcnt(const uint64_t* a, const uint64_t* b, uint64_t* out,
                                                                 size_t words) {
    int64_t ones = 0;
    for (size_t i = 0; i < words; ++i) ones += __builtin_popcountll(out[i] = a[i] & b[i]);
    return ones;
}

__attribute__((target("popcnt"))) int64_t and_count_popcnt(const uint64_t* a, const uint64_t* b, size_t words) {
    int64_t ones = 0;
    for (size_t i = 0; i < words; ++i) ones += __builtin_popcountll(a[i] & b[i]);
    return ones;
}

__attribute__((target("popcnt"))) int64_t and_store_weigh_popcnt(const uint64_t* a, const uint64_t* b,
                                                                 const uint64_t* shifts, uint64_t* out, size_t words) {
    int64_t weight = 0;
    for (size_t i = 0; i < words; ++i) weight += int64_t(__builtin_popcountll(out[i] = a[i] & b[i])) << shifts[i];
    return weight;
}

__attribute__((target("popcnt"))) int64_t and_weigh_popcnt(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                                           size_t words) {
    int64_t weight = 0;
    for (size_t i = 0; i < words; ++i) weight += int64_t(__builtin_popcountll(a[i] & b[i])) << shifts[i];
    return weight;
}

#define VEILSET_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

VEILSET_AVX512 inline __m512i and_block(const uint64_t* a, const uint64_t* b, size_t i) {
    return _mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
}

VEILSET_AVX512 inline __mmask8 tail_mask(size_t left) { return static_cast<__mmask8>((1u << left) - 1); }

VEILSET_AVX512 int64_t and_store_count_avx512(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t words) {
    __m512i ones = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 8 <= words; i += 8) {
        const __m512i both = and_block(a, b, i);
        _mm512_storeu_si512(out + i, both);
        ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(both));
    }
    if (i < words) {
        const __mmask8 mask = tail_mask(words - i);
        const __m512i both =
            _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i), _mm512_maskz_loadu_epi64(mask, b + i));
        _mm512_mask_storeu_epi64(out + i, mask, both);
        ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(both));
    }
    return _mm512_reduce_add_epi64(ones);
}

VEILSET_AVX512 int64_t and_count_avx512(const uint64_t* a, const uint64_t* b, size_t words) {
    __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= words; i += 16) {
        even = _mm512_add_epi64(even, _mm512_popcnt_epi64(and_block(a, b, i)));
        odd = _mm512_add_epi64(odd, _mm512_popcnt_epi64(and_block(a, b, i + 8)));
    }
    for (; i < words; i += 8) {
        const __mmask8 mask = words - i >= 8 ? __mmask8(0xff) : tail_mask(words - i);
        even = _mm512_add_epi64(even, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i),
                                                                           _mm512_maskz_loadu_epi64(mask, b + i))));
    }
    return _mm512_reduce_add_epi64(_mm512_add_epi64(even, odd));
}

VEILSET_AVX512 int64_t and_store_weigh_avx512(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                              uint64_t* out, size_t words) {
    __m512i weight = _mm512_setzero_si512();
    for (size_t i = 0; i < words; i += 8) {
        const __mmask8 mask = words - i >= 8 ? __mmask8(0xff) : tail_mask(words - i);
        const __m512i both =
            _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i), _mm512_maskz_loadu_epi64(mask, b + i));
        _mm512_mask_storeu_epi64(out + i, mask, both);
        weight = _mm512_add_epi64(
            weight, _mm512_sllv_epi64(_mm512_popcnt_epi64(both), _mm512_maskz_loadu_epi64(mask, shifts + i)));
    }
    return _mm512_reduce_add_epi64(weight);
}

VEILSET_AVX512 int64_t and_weigh_avx512(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, size_t words) {
    __m512i weight = _mm512_setzero_si512();
    for (size_t i = 0; i < words; i += 8) {
        const __mmask8 mask = words - i >= 8 ? __mmask8(0xff) : tail_mask(words - i);
        const __m512i both =
            _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i), _mm512_maskz_loadu_epi64(mask, b + i));
        weight = _mm512_add_epi64(
            weight, _mm512_sllv_epi64(_mm512_popcnt_epi64(both), _mm512_maskz_loadu_epi64(mask, shifts + i)));
    }
    return _mm512_reduce_add_epi64(weight);
}
#endif

constexpr Loops portable{and_store_count_portable, and_count_portable, and_store_weigh_portable, and_weigh_portable};

#if defined(__x86_64__)
constexpr Loops popcnt{and_store_count_popcnt, and_count_popcnt, and_store_weigh_popcnt, and_weigh_popcnt};
constexpr Loops avx512{and_store_count_avx512, and_count_avx512, and_store_weigh_avx512, and_weigh_avx512};

bool supported(const std::string& name) {
    if (name == "avx512") return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq");
    if (name == "popcnt") return __builtin_cpu_supports("popcnt");
    return name == "portable";
}
#else
bool supported(const std::string& name) { return name == "portable"; }
#endif

}  // namespace

const Loops* loops_named(const std::string& name) {
    if (!supported(name)) return nullptr;
#if defined(__x86_64__)
    if (name == "avx512") return &avx512;
    if (name == "popcnt") return &popcnt;
#endif
    return &portable;
}

namespace {

const Loops* best() {
    for (const char* name : {"avx512", "popcnt"})
        if (const Loops* found = loops_named(name)) return found;
    return &portable;
}

const Loops* const chosen = best();

}  // namespace

int64_t and_store_count(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t words) {
    return chosen->and_store_count(a, b, out, words);
}

int64_t and_count(const uint64_t* a, const uint64_t* b, size_t words) { return chosen->and_count(a, b, words); }

int64_t and_store_weigh(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out, size_t words) {
    return chosen->and_store_weigh(a, b, shifts, out, words);
}

int64_t and_weigh(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, size_t words) {
    return chosen->and_weigh(a, b, shifts, words);
}

}  // namespace veilset
