// Covers as bitmaps, for the dense part of a walk: one bit a row, the rows of one branch only.
//
// Equal rows are one row with a weight. So that counting stays AND + popcount, a weight is written in binary: all rows
// of a word weigh the same power of two, and a row of weight 5 stands in a word of weight 4 and in one of weight 1.
#pragma once

#include <bit>

#include "mining/arena.hpp"
#include "mining/bits.hpp"
#include "mining/rows.hpp"

namespace veilset::mining {

struct Column {
    int32_t item;
    int64_t support;
    uint64_t* bits;
};

// First the columns that extend the itemset (the tail), then those that may not any more (the excluded). Tail columns
// hold only rows of the itemset's cover; excluded ones may hold more.
struct Bitmaps {
    Index words = 0;                   // a multiple of 8, zeros at the end
    const uint64_t* shifts = nullptr;  // word -> log2 of the weight of its rows; none if all weigh 1
    Column* columns = nullptr;
    int32_t tail = 0, count = 0;
    int64_t tried = 0;  // the support when equal rows were last looked for

    int64_t meet(const uint64_t* a, const uint64_t* b, uint64_t* out) const {
        return (shifts ? best_loops->and_store_weigh : best_loops->and_store_count)(a, b, shifts, out, words);
    }
    int64_t meet(const uint64_t* a, const uint64_t* b) const {
        return (shifts ? best_loops->and_weigh : best_loops->and_count)(a, b, shifts, nullptr, words);
    }
};

// Turns a 64 x 64 matrix of bits: bit c of word r becomes bit r of word c.
inline void transpose(uint64_t* m) {
    uint64_t mask = 0x00000000FFFFFFFFu;
    for (Index step = 32; step; step >>= 1, mask ^= mask << step)
        for (Index k = 0; k < 64; k = ((k | step) + 1) & ~step) {
            const uint64_t swap = ((m[k] >> step) ^ m[k | step]) & mask;
            m[k] ^= swap << step;
            m[k | step] ^= swap;
        }
}

// Rows as masks over the columns of a branch, with weights, equal ones merged; from them come the bitmaps.
class Masks {
public:
    explicit Masks(Control& control) : masks_(control), weights_(control), numbers_(control) {}

    // Excluded columns begin a word of their own. Rows that differ only there are equal if `merge_excluded`: the row
    // that stands for them keeps the excluded columns that all of them hold.
    void begin(Index tail, Index excluded, bool merge_excluded) {
        tail_ = tail;
        tail_width_ = words_for(tail);
        width_ = tail_width_ + words_for(excluded);
        key_ = merge_excluded ? tail_width_ : width_;
        masks_.clear();
        weights_.clear();
        numbers_.clear();
    }
    Index size() const { return weights_.size(); }
    Index width() const { return width_; }
    Index bit_of(Index column) const { return column < tail_ ? column : 64 * tail_width_ + column - tail_; }

    // The mask has width() words.
    void add(const uint64_t* mask, int64_t weight) {
        uint64_t hash = 0;
        for (Index w = 0; w < key_; ++w) hash = stir(hash ^ mask[w]);
        const int32_t row = numbers_.find_or_add(
            hash, [&](int32_t other) { return std::equal(mask, mask + key_, masks_.data() + other * width_); });
        if (row == size()) {
            masks_.insert(masks_.end(), mask, mask + width_);
            weights_.push_back(weight);
            return;
        }
        for (Index w = key_; w < width_; ++w) masks_[row * width_ + w] &= mask[w];
        weights_[row] += weight;
    }

    // The first column of word w of a mask, and how many columns it has.
    std::pair<Index, Index> columns_of(Index w, Index count) const {
        const Index first = w < tail_width_ ? 64 * w : tail_ + 64 * (w - tail_width_);
        return {first, std::min<Index>(64, (w < tail_width_ ? tail_ : count) - first)};
    }

    // The words that the bitmaps of these rows take.
    Index words() const {
        Index words = 0;
        for_each_power([&](int, Index rows) { words += words_for(rows); });
        return (words + 7) / 8 * 8;
    }

    // Writes the rows as bitmaps of `table`, whose columns are there, in the order of the masks' bits.
    void write(Bitmaps& table, Arena& arena) {
        table.words = words();
        uint64_t* shifts = arena.take<uint64_t>(table.words);
        std::fill(shifts, shifts + table.words, 0);
        for (int32_t c = 0; c < table.count; ++c) {
            table.columns[c].bits = arena.take<uint64_t>(table.words);
            std::fill(table.columns[c].bits, table.columns[c].bits + table.words, 0);
        }
        Index word = 0;
        bool weighted = false;
        for_each_power([&](int power, Index) {
            weighted |= power > 0;
            Index row = 0;
            while (row < size()) {
                const Index first = row;
                for (Index w = 0; w < width_; ++w) {
                    uint64_t block[64] = {};
                    Index filled = 0;
                    for (row = first; row < size() && filled < 64; ++row)
                        if (weights_[row] >> power & 1) block[filled++] = masks_[row * width_ + w];
                    if (filled == 0) return;
                    transpose(block);
                    const auto [column, columns] = columns_of(w, table.count);
                    for (Index c = 0; c < columns; ++c) table.columns[column + c].bits[word] = block[c];
                }
                shifts[word++] = uint64_t(power);
            }
        });
        table.shifts = weighted ? shifts : nullptr;
    }

private:
    // body(power, number of rows with it) for every power of two in some weight, from the largest.
    template <class Body>
    void for_each_power(Body body) const {
        Index rows[64] = {};
        for (int64_t weight : weights_)
            for (uint64_t left = uint64_t(weight); left; left &= left - 1) ++rows[std::countr_zero(left)];
        for (int power = 63; power >= 0; --power)
            if (rows[power]) body(power, rows[power]);
    }

    Index tail_ = 0, tail_width_ = 0, width_ = 0, key_ = 0;
    Vector<uint64_t> masks_;
    Vector<int64_t> weights_;
    Slots numbers_;
};

}  // namespace veilset::mining
