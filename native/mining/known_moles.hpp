// Moles that are known, as sequences of ranks in ascending order: does an itemset contain one of them?
#pragma once

#include <bit>

#include "core/csr.hpp"
#include "mining/slots.hpp"

namespace veilset::mining {

class KnownMoles {
public:
    KnownMoles(const Csr& moles, Control& control)
        : moles_(moles), sizes_(1, false), slots_(std::bit_ceil(uint64_t(2 * moles.rows() + 2)), empty, control) {
        if (moles.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 known moles");
        for (Index m = 0; m < moles.rows(); ++m) {
            const auto mole = moles.row(m);
            sizes_.resize(std::max(sizes_.size(), mole.size() + 1), false);
            sizes_[mole.size()] = true;
            Index at = first(mole);
            while (slots_[at] != empty) at = after(at);
            slots_[at] = int32_t(m);
        }
    }

    // Whether `itemset` with a last `item`, without which it contains none, contains one: it has this item, then.
    bool any_in(View<int32_t> itemset, int32_t item) {
        part_.clear();
        return any_of_part(itemset, 0, item);
    }

private:
    static constexpr int32_t empty = -1;

    bool any_of_part(View<int32_t> itemset, Index from, int32_t item) {
        if (part_.size() + 1 < sizes_.size() && sizes_[part_.size() + 1]) {
            part_.push_back(item);
            const bool known = contains(part_);
            part_.pop_back();
            if (known) return true;
        }
        if (part_.size() + 2 >= sizes_.size()) return false;  // no known one is larger
        for (Index i = from; i < itemset.size(); ++i) {
            part_.push_back(itemset[i]);
            const bool known = any_of_part(itemset, i + 1, item);
            part_.pop_back();
            if (known) return true;
        }
        return false;
    }

    bool contains(View<int32_t> itemset) const {
        for (Index at = first(itemset); slots_[at] != empty; at = after(at))
            if (std::ranges::equal(moles_.row(slots_[at]), itemset)) return true;
        return false;
    }
    Index first(View<int32_t> itemset) const { return Index(hash_of(itemset) >> 20) & (slots_.size() - 1); }
    Index after(Index at) const { return (at + 1) & (slots_.size() - 1); }

    Csr moles_;
    List<bool> sizes_;  // size -> whether there is one
    Vector<int32_t> slots_;
    List<int32_t> part_;
};

}  // namespace veilset::mining
