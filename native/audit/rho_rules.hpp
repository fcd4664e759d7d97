// What the auditor of ρ-uncertainty compares: rules, and the confidence that they must not reach.
#pragma once

#include "audit/findings.hpp"

namespace veilset::auditing {

struct Rule {
    int64_t with = 0, without = 1;  // rows that hold the antecedent, with the sensitive item and without it
    List<int32_t> items;            // numbers, ascending
    int64_t support() const { return with + without; }
    bool surer_than(const Rule& other) const { return greater(with, support(), other.with, other.support()); }
};

// Confidences of num / den or more; if strict, only those above.
struct Threshold {
    int64_t num = 1, den = 1;
    bool strict = false;
    bool reached(int64_t with, int64_t without) const {
        const __int128 most = __int128(with) * (den - num), held = __int128(without) * num;
        return strict ? held < most : held <= most;
    }
    bool reached(const Rule& rule) const { return reached(rule.with, rule.without); }

    // Where rows without the sensitive item are shared out among those with it (audit/rho_item.hpp): the parts that a
    // row of weight 1 has, and those that a row with this weight needs.
    int64_t unit() const { return num * fineness(); }
    int64_t needed(int64_t weight) const { return weight * (den - num) * fineness() + !strict; }

private:
    int64_t fineness() const { return strict ? 1 : std::max<int64_t>(1, 1024 / num); }
};

// A row with the sensitive item.
struct Positive {
    int64_t without;  // its n_t, or as much of it as was counted
    int32_t row;
    bool open;  // its share of the rows without the sensitive item is not enough to make up for it
    bool operator<(const Positive& other) const {
        return without != other.without ? without < other.without : row < other.row;
    }
};

}  // namespace veilset::auditing
