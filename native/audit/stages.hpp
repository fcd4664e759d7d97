// What the auditors of coherence and ρ-uncertainty say they are doing. Counting itemsets of n items is stage n;
// src/veilset/audit/passes.py puts the others into words.
#pragma once

#include <cstdint>

namespace veilset::auditing::stage {

constexpr int64_t whole_rows = 0, loading = 1'000'001, single_items = 1'000'002, any_knowledge = 1'000'003,
                  margin = 1'000'004, exposed = 1'000'005, few_items = 1'000'006;

}  // namespace veilset::auditing::stage
