// Counts of itemsets: exact, however large. Most fit 128 bits; Wide takes those that do not.
#pragma once

#include "core/control.hpp"
#include "mining/words.hpp"

namespace veilset::mining {

__extension__ typedef unsigned __int128 Uint128;

// A number of a fixed number of 64-bit limbs, the lowest first; the caller sees to it that nothing overflows.
class Wide {
public:
    Wide(Index limbs, Control& control) : limbs_(limbs, 0, control) {}

    Wide& operator+=(const Wide& other) {
        uint64_t carry = 0;
        for (Index i = 0; i < limbs_.size(); ++i) {
            const Uint128 sum = Uint128(limbs_[i]) + other.limbs_[i] + carry;
            limbs_[i] = uint64_t(sum);
            carry = uint64_t(sum >> 64);
        }
        return *this;
    }
    Wide& operator-=(const Wide& other) {
        uint64_t borrow = 0;
        for (Index i = 0; i < limbs_.size(); ++i) {
            const Uint128 difference = Uint128(limbs_[i]) - other.limbs_[i] - borrow;
            limbs_[i] = uint64_t(difference);
            borrow = uint64_t(difference >> 64) & 1;
        }
        return *this;
    }
    Wide& operator*=(uint64_t factor) {
        uint64_t carry = 0;
        for (uint64_t& limb : limbs_) {
            const Uint128 product = Uint128(limb) * factor + carry;
            limb = uint64_t(product);
            carry = uint64_t(product >> 64);
        }
        return *this;
    }
    Wide& operator/=(uint64_t divisor) {
        uint64_t rest = 0;
        for (Index i = limbs_.size(); i-- > 0;) {
            const Uint128 dividend = (Uint128(rest) << 64) | limbs_[i];
            limbs_[i] = uint64_t(dividend / divisor);
            rest = uint64_t(dividend % divisor);
        }
        return *this;
    }
    void set_bit(Index bit) { veilset::set_bit(limbs_, bit); }
    uint64_t limb(Index i) const { return limbs_[i]; }

private:
    Vector<uint64_t> limbs_;
};

inline uint64_t limb_of(const Wide& number, Index i) { return number.limb(i); }
inline uint64_t limb_of(Uint128 number, Index i) { return uint64_t(number >> (64 * i)); }

}  // namespace veilset::mining
