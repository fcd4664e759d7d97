// Sets of items by a hash that is the same for any order: the sum of those of the items. Two sets with the same hash
// count as one; an auditor looks at the result.
#pragma once

#include "core/random.hpp"

namespace veilset::partial {

inline uint64_t stirred(int32_t item) { return mix(uint64_t(item) * random_step + random_step); }

}  // namespace veilset::partial
