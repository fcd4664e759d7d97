// Transactions as those who conceal sensitive rules see them: equal ones merged with weights, and who holds an item.
#pragma once

#include <optional>

#include "core/csr.hpp"
#include "mining/slots.hpp"
#include "mining/words.hpp"

namespace veilset::rules {

constexpr int32_t none = -1;

// ρ as a fraction, compared exactly.
struct Rho {
    int64_t num, den;

    // A rule χ -> α violates: sup(χα) / sup(χ) >= ρ.
    bool reached(int64_t with, int64_t held) const { return with > 0 && __int128(with) * den >= __int128(num) * held; }
    // The same by the transactions without α: n with p / (p + n) >= ρ is n <= p (1 - ρ) / ρ.
    int64_t most_without(int64_t with) const { return int64_t(__int128(with) * (den - num) / num); }
};

class Rows {
public:
    // Items become rank[item]; those with the rank `none` are left out. Of `chosen` rows, if any are given.
    Rows(const Csr& data, View<int64_t> weights, View<int32_t> rank, int32_t items, Control& control,
         std::optional<View<int64_t>> chosen = {})
        : rows_(control), weights_(control), bits_(control), holders_(control), supports_(items, 0) {
        if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
        if (weights.size() != data.rows()) throw std::invalid_argument("one weight for each transaction, please");
        List<int32_t> held;
        const int64_t many = chosen ? chosen->size() : data.rows();
        for (int64_t i = 0; i < many; ++i) {
            if (i % 4096 == 0) control.poll();
            if (i % (1 << 18) == 0) look_for_signals();
            const int64_t r = chosen ? (*chosen)[i] : i;
            if (r < 0 || r >= data.rows()) throw std::invalid_argument("no such row");
            if (weights[r] < 1) throw std::invalid_argument("a weight below 1");
            held.clear();
            for (int32_t item : data.row(r))
                if (rank[item] != none) held.push_back(rank[item]);
            if (held.empty()) continue;
            std::sort(held.begin(), held.end());
            held.erase(std::unique(held.begin(), held.end()), held.end());
            const int32_t row = rows_.number(held);
            if (row == weights_.size()) weights_.push_back(0);
            weights_[row] += weights[r];
            longest_ = std::max(longest_, held.size());
        }
        index();
        draw();
    }

    int32_t rows() const { return int32_t(weights_.size()); }
    int32_t items() const { return int32_t(supports_.size()); }
    View<int32_t> row(int32_t r) const { return rows_[r]; }
    int64_t weight(int32_t r) const { return weights_[r]; }
    View<int32_t> holders(int32_t item) const { return holders_[item]; }
    int64_t support(int32_t item) const { return supports_[item]; }
    Index longest() const { return longest_; }

    // Where there are few items, rows are bitmaps as well: a row is asked for many items at once.
    bool has_bits() const { return words_ > 0; }
    const uint64_t* bits(int32_t r) const { return bits_.data() + r * words_; }

private:
    void index() {
        holders_.fill(items(), [&](auto put) {
            for (int32_t r = 0; r < rows(); ++r)
                for (int32_t item : row(r)) put(item, r);
        });
        for (int32_t r = 0; r < rows(); ++r)
            for (int32_t item : row(r)) supports_[item] += weight(r);
    }

    void draw() {
        const Index words = words_for(supports_.size());
        if (words > most_words || words * rows() > most_bits) return;
        words_ = words;
        bits_.assign(words * rows(), 0);
        for (int32_t r = 0; r < rows(); ++r)
            for (int32_t item : row(r)) set_bit(bits_.data() + r * words, item);
    }

    static constexpr Index most_words = 64, most_bits = 1 << 21;

    Distinct rows_;
    Vector<int64_t> weights_;
    Vector<uint64_t> bits_;
    Index words_ = 0;
    Groups<int32_t> holders_;  // by item
    List<int64_t> supports_;
    Index longest_ = 0;
};

}  // namespace veilset::rules
