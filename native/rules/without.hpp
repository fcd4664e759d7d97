// The rows that hold an antecedent and not α. Looking at them is work, which is limited.
#pragma once

#include "rules/rows.hpp"

namespace veilset::rules {

class RowsWithout {
public:
    // population: of all transactions, those without any item included.
    RowsWithout(const Rows& rows, int64_t population)
        : rows_(rows), population_(population), has_alpha_(rows.rows(), 0), needs_(rows.items(), 0) {}

    void begin(int32_t alpha) {
        alpha_ = alpha;
        for (int32_t r : rows_.holders(alpha)) has_alpha_[r] = 1;
    }
    void end() {
        for (int32_t r : rows_.holders(alpha_)) has_alpha_[r] = 0;
    }
    // After a stop in the middle.
    void forget() {
        std::ranges::fill(has_alpha_, 0);
        std::ranges::fill(needs_, 0);
    }

    // Their weight, or more than `most`. What is looked at is taken from `work`.
    int64_t weight(View<int32_t> antecedent, int64_t most, int64_t& work) {
        if (antecedent.empty()) return population_ - rows_.support(alpha_);
        int64_t sum = 0;
        for_each(antecedent, work, [&](int32_t r) { return (sum += rows_.weight(r)) <= most; });
        return sum;
    }

    // body(row) for each of them, as long as it says true.
    template <class Body>
    void for_each(View<int32_t> antecedent, int64_t& work, Body body) {
        work -= antecedent.size();
        if (antecedent.empty()) {
            for (int32_t r = 0; r < rows_.rows(); ++r) {
                --work;
                if (!has_alpha_[r] && !body(r)) return;
            }
            return;
        }
        const int32_t rarest =
            *std::ranges::min_element(antecedent, {}, [&](int32_t item) { return rows_.holders(item).size(); });
        if (rows_.has_bits()) by_bits(antecedent, rows_.holders(rarest), work, body);
        else by_items(antecedent, rows_.holders(rarest), work, body);
    }

private:
    template <class Body>
    void by_bits(View<int32_t> antecedent, View<int32_t> holders, int64_t& work, Body body) {
        needed_.clear();
        for (int32_t item : antecedent) {
            const auto same = std::ranges::find(needed_, item / 64, &Needed::word);
            if (same == needed_.end()) needed_.push_back({item / 64, uint64_t(1) << (item % 64)});
            else same->bits |= uint64_t(1) << (item % 64);
        }
        for (int32_t r : holders) {
            --work;
            if (has_alpha_[r]) continue;
            const uint64_t* bits = rows_.bits(r);
            const auto holds = [&](const Needed& need) { return (bits[need.word] & need.bits) == need.bits; };
            if (std::ranges::all_of(needed_, holds) && !body(r)) return;
        }
    }

    template <class Body>
    void by_items(View<int32_t> antecedent, View<int32_t> holders, int64_t& work, Body body) {
        for (int32_t item : antecedent) needs_[item] = 1;
        for (int32_t r : holders) {
            --work;
            const auto row = rows_.row(r);
            if (has_alpha_[r] || row.size() < antecedent.size()) continue;
            Index held = 0, left = row.size();
            for (int32_t item : row) {
                held += needs_[item];
                if (held + --left < antecedent.size()) break;
            }
            if (held == antecedent.size() && !body(r)) break;
        }
        for (int32_t item : antecedent) needs_[item] = 0;
    }

    struct Needed {
        int32_t word;
        uint64_t bits;
    };

    const Rows& rows_;
    int64_t population_;
    int32_t alpha_ = none;
    List<uint8_t> has_alpha_;  // row -> whether it holds α
    List<uint8_t> needs_;      // item -> whether a row has to hold it
    List<Needed> needed_;      // the same in bits
};

}  // namespace veilset::rules
