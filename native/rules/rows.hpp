// Transactions as those who conceal sensitive rules see them: equal ones merged with weights, and who holds an item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "core/control.hpp"
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
        : offsets_(1, 0, control), items_(control), weights_(control), bits_(control), first_(items + 1, 0, control),
          holders_(control), supports_(items, 0) {
        if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
        if (weights.size() != data.rows()) throw std::invalid_argument("one weight for each transaction, please");
        Slots numbers(control);
        const int64_t many = chosen ? chosen->size() : data.rows();
        for (int64_t i = 0; i < many; ++i) {
            if (i % 4096 == 0) control.poll();
            if (i % (1 << 18) == 0) look_for_signals();
            const int64_t r = chosen ? (*chosen)[i] : i;
            if (r < 0 || r >= data.rows()) throw std::invalid_argument("no such row");
            if (weights[r] < 1) throw std::invalid_argument("a weight below 1");
            for (int32_t item : data.row(r))
                if (rank[item] != none) items_.push_back(rank[item]);
            add(weights[r], numbers);
        }
        index();
        draw();
    }

    int32_t rows() const { return int32_t(weights_.size()); }
    int32_t items() const { return int32_t(supports_.size()); }
    View<int32_t> row(int32_t r) const { return part(items_, offsets_, r); }
    int64_t weight(int32_t r) const { return weights_[r]; }
    View<int32_t> holders(int32_t item) const { return part(holders_, first_, item); }
    int64_t support(int32_t item) const { return supports_[item]; }
    Index longest() const { return longest_; }

    // Where there are few items, rows are bitmaps as well: a row is asked for many items at once.
    bool has_bits() const { return words_ > 0; }
    const uint64_t* bits(int32_t r) const { return bits_.data() + r * words_; }

private:
    // The items behind the last row become a row, unless there is one like it, or none is left.
    void add(int64_t weight, Slots& numbers) {
        const auto begin = items_.begin() + offsets_.back();
        if (begin == items_.end()) return;
        std::sort(begin, items_.end());
        items_.erase(std::unique(begin, items_.end()), items_.end());
        const View<int32_t> added = View(items_).subspan(offsets_.back());
        const int32_t at = numbers.find_or_add(hash_of(added, added.size()),
                                               [&](int32_t other) { return std::ranges::equal(row(other), added); });
        if (at < rows()) {
            weights_[at] += weight;
            items_.resize(offsets_.back());
            return;
        }
        longest_ = std::max(longest_, added.size());
        weights_.push_back(weight);
        offsets_.push_back(items_.size());
    }

    void index() {
        group(first_, holders_, [&](auto put) {
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

    Vector<int64_t> offsets_;
    Vector<int32_t> items_;
    Vector<int64_t> weights_;
    Vector<uint64_t> bits_;
    Index words_ = 0;
    Vector<int64_t> first_;  // item -> its part of holders_
    Vector<int32_t> holders_;
    List<int64_t> supports_;
    Index longest_ = 0;
};

}  // namespace veilset::rules
