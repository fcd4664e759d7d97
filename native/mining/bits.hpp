// Bitmaps: the one loop that everything dense stands on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace veilset {

// out = a & b over `words` 64-bit words; returns the number of ones. `out` may be a or b.
// The instruction set is chosen once, when the module is loaded.
int64_t and_store_count(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t words);

// The number of ones of a & b.
int64_t and_count(const uint64_t* a, const uint64_t* b, size_t words);

// The same where the ones of word i weigh 2^shifts[i].
int64_t and_store_weigh(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out, size_t words);
int64_t and_weigh(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, size_t words);

// These four for one instruction set.
using Loop = int64_t(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out, size_t words);
struct Loops {
    Loop *and_store_count, *and_count, *and_store_weigh, *and_weigh;
};

// "avx512", "popcnt" or "portable"; nothing if this machine has it not.
const Loops* loops_named(const std::string& name);

}  // namespace veilset
