// A short itemset that gives a row away: what a reader is shown of a row that too few others hold.
//
// All that matters of other rows is which items of this one they hold, so equal *overlaps* are counted together. From
// the rarest item on, the one that fewest of the remaining rows hold is added, until few enough are left; then what is
// not needed is taken out. Fewer items are held by more rows, so if no single item can be spared, no part of the
// itemset has few holders: it is minimal.
#pragma once

#include <numeric>

#include "audit/findings.hpp"
#include "audit/sequences.hpp"
#include "core/csr.hpp"

namespace veilset::auditing {

class Overlaps {
public:
    // row: ascending codes of the vocabulary; weights: for how many transactions each row stands; empty: one each.
    Overlaps(const Csr& data, View<int32_t> row, Control& control, View<int64_t> weights = {})
        : row_(row), words_((row.size() + 63) / 64), seen_(control) {
        Vector<int32_t> place(data.vocabulary, none, control);
        for (Index i = 0; i < row.size(); ++i) place[row[i]] = int32_t(i);
        List<uint64_t> mask(words_);
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control.poll();
            std::ranges::fill(mask, 0);
            bool some = false;
            for (int32_t item : data.row(r))
                if (const int32_t at = place[item]; at != none) {
                    mask[at >> 6] |= uint64_t(1) << (at & 63);
                    some = true;
                }
            if (some) seen_.add(0, mask).tally += weights.empty() ? 1 : weights[r];
        }
    }

    // How many rows hold all of it.
    int64_t support() const {
        List<Index> all(row_.size());
        std::iota(all.begin(), all.end(), Index(0));
        return support_of(all);
    }

    // A minimal part of the row with less than k holders, and how many it has.
    Mole identity_mole(int64_t k, Control& control) const {
        List<Index> taken;
        Vector<Index> left(control);  // the overlaps that hold all that was taken
        for (Index o = 0; o < seen_.all().size(); ++o) left.push_back(o);
        Vector<int64_t> held(control);
        for (int64_t support = k; support >= k;) {
            control.poll();
            held.assign(row_.size(), 0);
            for (Index o : left) for_each_item(o, [&](Index item) { held[item] += seen_.all()[o].tally; });
            Index best = none;
            for (Index item = 0; item < row_.size(); ++item)
                if (std::ranges::find(taken, item) == taken.end() && (best == none || held[item] < held[best]))
                    best = item;
            taken.push_back(best);
            support = held[best];
            std::erase_if(left, [&](Index o) { return !holds(o, best); });
        }
        for (Index i = 0; i < taken.size() && taken.size() > 1;) {
            control.poll();
            List<Index> fewer = taken;
            fewer.erase(fewer.begin() + i);
            if (support_of(fewer) < k) taken = std::move(fewer);
            else ++i;
        }
        std::ranges::sort(taken);
        Mole mole{Vector<int32_t>(control), support_of(taken), none, 0};
        for (Index item : taken) mole.items.push_back(row_[item]);
        return mole;
    }

private:
    bool holds(Index overlap, Index item) const { return seen_.of(seen_.all()[overlap])[item >> 6] >> (item & 63) & 1; }
    template <class Body>
    void for_each_item(Index overlap, Body body) const {
        const auto mask = seen_.of(seen_.all()[overlap]);
        for (Index word = 0; word < words_; ++word)
            for (uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) body(word * 64 + std::countr_zero(bits));
    }
    int64_t support_of(const List<Index>& items) const {
        int64_t support = 0;
        for (Index o = 0; o < seen_.all().size(); ++o)
            if (std::ranges::all_of(items, [&](Index item) { return holds(o, item); })) support += seen_.all()[o].tally;
        return support;
    }

    View<int32_t> row_;
    Index words_;
    Sequences<uint64_t, int64_t> seen_;  // the overlaps, with the number of rows
};

}  // namespace veilset::auditing
