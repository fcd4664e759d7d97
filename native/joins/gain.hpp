// Information gain of a split, as a whole number that depends on the class counts alone.
#pragma once

#include "core/vector.hpp"
#include "joins/site.hpp"

namespace veilset::joins {

// Gains below 2^-40 bits are none: that is above what rounding can add, so a split into equal shares gains nothing.
constexpr int64_t least_gain = int64_t(1) << (fraction_bits - 40);

inline int bit_width(Wide x) {
    const auto high = uint64_t(x >> 64);
    return high ? 64 + std::bit_width(high) : std::bit_width(uint64_t(x));
}

// The gains of the splits of one node. Beyond 2^62 joined rows, counts are rounded down to 62 bits together.
template <class Count>
class Gains {
public:
    explicit Gains(View<Count> total) : total_(total) {
        for (Count count : total) rows_ = sum(rows_, count);
        shift_ = std::max(0, bit_width(rows_) - 62);
        impurity_ = impurity(rows_, [&](Index c) { return total[c]; });
    }

    // n log n - Σ n_c log n_c, for the parent less both children: the gain, times the rows. Splits of a node compare by
    // it.
    __int128 of(View<Count> left, Count left_rows) const {
        return impurity_ - impurity(left_rows, [&](Index c) { return left[c]; }) -
               impurity(rows_ - left_rows, [&](Index c) { return Count(total_[c] - left[c]); });
    }

    // The same in units of 2^-48 bits, which is what a site tells.
    int64_t per_row(__int128 gain) const {
        if (gain <= 0) return 0;
        const auto units = int64_t(gain / __int128(rows_ >> shift_));
        return units > least_gain ? units : 0;
    }

    Count rows() const { return rows_; }

private:
    template <class Counts>
    __int128 impurity(Count rows, Counts counts) const {
        __int128 sum = term(rows);
        for (Index c = 0; c < total_.size(); ++c) sum -= term(counts(c));
        return sum;
    }
    __int128 term(Count count) const {
        const auto n = uint64_t(count >> shift_);
        return n < 2 ? 0 : __int128(n) * fixed_log2(n);
    }

    View<Count> total_;
    Count rows_ = 0;
    int shift_ = 0;
    __int128 impurity_ = 0;
};

}  // namespace veilset::joins
