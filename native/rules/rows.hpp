// Transactions as those who conceal sensitive rules see them: equal ones merged with weights, and who holds an item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"

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
    Rows(const Csr& data, std::span<const int64_t> weights, std::span<const int32_t> rank, int32_t items,
         Control& control, std::optional<std::span<const int64_t>> chosen = {})
        : offsets_(1, 0, control), items_(control), weights_(control), bits_(control), first_(items + 1, 0, control),
          holders_(control), supports_(items, 0) {
        if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
        if (int64_t(weights.size()) != data.rows())
            throw std::invalid_argument("one weight for each transaction, please");
        Vector<int32_t> slots(1024, none, control);
        Vector<uint64_t> hashes(control);
        const int64_t many = chosen ? int64_t(chosen->size()) : data.rows();
        for (int64_t i = 0; i < many; ++i) {
            if (i % 4096 == 0) control.poll();
            if (i % (1 << 18) == 0) look_for_signals();
            const int64_t r = chosen ? (*chosen)[i] : i;
            if (r < 0 || r >= data.rows()) throw std::invalid_argument("no such row");
            if (weights[r] < 1) throw std::invalid_argument("a weight below 1");
            for (int32_t item : data.row(r))
                if (rank[item] != none) items_.push_back(rank[item]);
            add(weights[r], slots, hashes);
        }
        index();
        draw();
    }

    int32_t rows() const { return int32_t(weights_.size()); }
    int32_t items() const { return int32_t(supports_.size()); }
    std::span<const int32_t> row(int32_t r) const {
        return {items_.data() + offsets_[r], items_.data() + offsets_[r + 1]};
    }
    int64_t weight(int32_t r) const { return weights_[r]; }
    std::span<const int32_t> holders(int32_t item) const {
        return {holders_.data() + first_[item], holders_.data() + first_[item + 1]};
    }
    int64_t support(int32_t item) const { return supports_[item]; }
    size_t longest() const { return longest_; }

    // Where there are few items, rows are bitmaps as well: a row is asked for many items at once.
    bool has_bits() const { return words_ > 0; }
    const uint64_t* bits(int32_t r) const { return bits_.data() + size_t(r) * words_; }

private:
    static uint64_t mix(uint64_t x) {
        x ^= x >> 32;
        x *= 0x9E3779B97F4A7C15u;
        return x ^ (x >> 29);
    }

    // The items behind the last row become a row, unless there is one like it, or none is left.
    void add(int64_t weight, Vector<int32_t>& slots, Vector<uint64_t>& hashes) {
        const auto begin = items_.begin() + offsets_.back();
        if (begin == items_.end()) return;
        std::sort(begin, items_.end());
        items_.erase(std::unique(begin, items_.end()), items_.end());
        const std::span<const int32_t> added(items_.data() + offsets_.back(), items_.data() + items_.size());
        uint64_t hash = added.size();
        for (int32_t item : added) hash = mix(hash + uint64_t(item) + 1);
        size_t slot = hash & (slots.size() - 1);
        while (slots[slot] != none && !(hashes[slots[slot]] == hash && std::ranges::equal(row(slots[slot]), added)))
            slot = (slot + 1) & (slots.size() - 1);
        if (slots[slot] != none) {
            weights_[slots[slot]] += weight;
            items_.resize(offsets_.back());
            return;
        }
        slots[slot] = rows();
        longest_ = std::max(longest_, added.size());
        hashes.push_back(hash);
        weights_.push_back(weight);
        offsets_.push_back(int64_t(items_.size()));
        if (2 * weights_.size() <= slots.size()) return;
        slots.assign(2 * slots.size(), none);
        for (size_t r = 0; r < hashes.size(); ++r) {
            size_t free = hashes[r] & (slots.size() - 1);
            while (slots[free] != none) free = (free + 1) & (slots.size() - 1);
            slots[free] = int32_t(r);
        }
    }

    void index() {
        for (int32_t item : items_) ++first_[item + 1];
        for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        holders_.resize(items_.size());
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (int32_t r = 0; r < rows(); ++r)
            for (int32_t item : row(r)) {
                holders_[next[item]++] = r;
                supports_[item] += weight(r);
            }
    }

    void draw() {
        const size_t words = (supports_.size() + 63) / 64;
        if (words > most_words || words * size_t(rows()) > most_bits) return;
        words_ = words;
        bits_.assign(words * size_t(rows()), 0);
        for (int32_t r = 0; r < rows(); ++r)
            for (int32_t item : row(r)) bits_[size_t(r) * words + size_t(item) / 64] |= uint64_t(1) << (item % 64);
    }

    static constexpr size_t most_words = 64, most_bits = size_t(1) << 21;

    Vector<int64_t> offsets_;
    Vector<int32_t> items_;
    Vector<int64_t> weights_;
    Vector<uint64_t> bits_;
    size_t words_ = 0;
    Vector<int64_t> first_;  // item -> its part of holders_
    Vector<int32_t> holders_;
    std::vector<int64_t> supports_;
    size_t longest_ = 0;
};

}  // namespace veilset::rules
