#include "audit/bits.hpp"

namespace veilset::auditing {
namespace {

// Inlined, it is compiled for the processor of its caller.
[[gnu::always_inline]] inline int64_t counted(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                              Index words) {
    int64_t sum = 0;
    for (Index block = 0; block < words; block += block_of_words)
        for (Index i = block; i < block + block_of_words; ++i)
            sum += int64_t(__builtin_popcountll(a[i] & b[i])) << shifts[i];
    return sum;
}

using Counted = int64_t (*)(const uint64_t*, const uint64_t*, const uint64_t*, Index);

int64_t anywhere(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, Index words) {
    return counted(a, b, shifts, words);
}
#if defined(__x86_64__)
__attribute__((target("popcnt"))) int64_t with_popcnt(const uint64_t* a, const uint64_t* b, const uint64_t* shifts,
                                                      Index words) {
    return counted(a, b, shifts, words);
}
__attribute__((target("avx512f,avx512vl,avx512vpopcntdq,prefer-vector-width=512"))) int64_t
with_avx512(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, Index words) {
    return counted(a, b, shifts, words);
}
#endif

Counted best() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl")) return with_avx512;
    if (__builtin_cpu_supports("popcnt")) return with_popcnt;
#endif
    return anywhere;
}
const Counted chosen = best();

}  // namespace

int64_t weight_of_both(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, Index words) {
    return chosen(a, b, shifts, words);
}

}  // namespace veilset::auditing
