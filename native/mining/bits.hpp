// Bitmaps: the one loop that everything dense stands on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace veilset {

// The number of ones of a & b over `words` 64-bit words; or their weight, where those of word i weigh 2^shifts[i]. One
// that stores writes a & b to `out`, which may be a or b.
using Loop = int64_t(const uint64_t* a, const uint64_t* b, const uint64_t* shifts, uint64_t* out, size_t words);
struct Loops {
    Loop *and_store_count, *and_count, *and_store_weigh, *and_weigh;
};

// "avx512", "popcnt" or "portable"; nothing if this machine has it not.
const Loops* loops_named(const std::string& name);
// The best that this machine has, chosen when the module is loaded.
extern const Loops* const best_loops;

}  // namespace veilset
