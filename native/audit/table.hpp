// The rows of one prefix as bits: a column for each item that may follow, and for each sensitive thing. How many rows
// hold two of them is counted a word at a time.
//
// Many rows may stand at one position: a position with the weight 5 has a bit that weighs 4 and one that weighs 1. All
// bits of a word weigh the same.
#pragma once

#include <bit>

#include "audit/bits.hpp"
#include "audit/paths.hpp"

namespace veilset::auditing {

class Table {
public:
    explicit Table(Control& control) : shifts_(control), bits_(control), first_bit_(control), bit_(control) {}

    // for_each_column(position, put) calls put(column) for the columns that the rows at this position hold.
    template <class ForEachColumn>
    void make(View<Position> cohort, Index columns, ForEachColumn for_each_column) {
        lay_out(cohort);
        words_ = shifts_.size();
        bits_.assign((columns + 1) * words_, 0);  // the last is for the caller
        for (Index at = 0; at < cohort.size(); ++at) {
            const auto bits = part(bit_, first_bit_, at);
            for_each_column(cohort[at], [&](Index column) {
                for (int64_t bit : bits) bits_[column * words_ + (bit >> 6)] |= uint64_t(1) << (bit & 63);
            });
        }
    }

    Index words() const { return words_; }
    int64_t of_both(Index a, Index b) const { return weight_of_both(column(a), column(b), shifts_.data(), words_); }
    // Puts what both hold into the last column.
    void keep_both(Index a, Index b, Index last) {
        uint64_t* both = bits_.data() + last * words_;
        for (Index i = 0; i < words_; ++i) both[i] = column(a)[i] & column(b)[i];
    }

private:
    const uint64_t* column(Index number) const { return bits_.data() + number * words_; }

    // Which bits each position has, and what they weigh.
    void lay_out(View<Position> cohort) {
        int64_t count[64] = {};
        for (const Position& at : cohort)
            for (uint64_t left = uint64_t(at.weight); left != 0; left &= left - 1) ++count[std::countr_zero(left)];
        // Where few bits weigh much, twice as many that weigh half may fit into words that are there anyway.
        int down[64] = {};
        for (int power = 63; power > 0; --power) {
            auto words = [](int64_t bits) { return (bits + 63) / 64; };
            if (count[power] == 0 ||
                words(count[power - 1] + 2 * count[power]) > words(count[power - 1]) + words(count[power]))
                continue;
            down[power] = 1;
            count[power - 1] += 2 * count[power];
            count[power] = 0;
        }
        int64_t next[64];
        shifts_.clear();
        for (int power = 0; power < 64; ++power) {
            next[power] = shifts_.size() * 64;
            shifts_.insert(shifts_.end(), (count[power] + 63) / 64, uint64_t(power));
        }
        shifts_.resize((shifts_.size() + block_of_words - 1) / block_of_words * block_of_words);
        first_bit_.assign(1, 0);
        bit_.clear();
        for (const Position& at : cohort) {
            for (uint64_t left = uint64_t(at.weight); left != 0; left &= left - 1) {
                int power = std::countr_zero(left);
                int64_t bits = 1;
                for (; down[power]; --power) bits *= 2;
                for (; bits > 0; --bits) bit_.push_back(next[power]++);
            }
            first_bit_.push_back(bit_.size());
        }
    }

    Index words_ = 0;
    Vector<uint64_t> shifts_, bits_;
    Vector<int64_t> first_bit_, bit_;  // of each position
};

}  // namespace veilset::auditing
