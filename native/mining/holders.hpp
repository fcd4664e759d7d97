// The rows that hold each of the items that are asked for, as lists or bitmaps, and what two of them have in common.
#pragma once

#include "core/csr.hpp"
#include "mining/bits.hpp"
#include "mining/words.hpp"

namespace veilset {

inline constexpr int32_t none = -1;

// The rows that hold an itemset: a list of row numbers, ascending, or one bit a row.
struct Cover {
    View<int32_t> rows;
    const uint64_t* bits = nullptr;
    int64_t support = 0;
};

// The covers of the items that are asked for, by rank: 0 is the rarest, ties go to the item that comes first in the
// vocabulary.
class Holders {
public:
    Holders(const Csr& data, View<int32_t> asked, Control& control)
        : ranks_(data.vocabulary, none, control), first_(control), rows_(control), bits_(control), count_(data.rows()),
          words_(words_for(data.rows())) {
        Vector<int64_t> support(data.vocabulary, 0, control);
        Vector<uint8_t> wanted(data.vocabulary, 0, control);
        for (int32_t item : asked) wanted[item] = 1;
        for (int32_t item : data.items) ++support[item];
        control.poll();
        Vector<int32_t> order(control);
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (wanted[i]) order.push_back(i);
        std::ranges::stable_sort(order, {}, [&](int32_t item) { return support[item]; });
        first_.push_back(0);
        for (Index rank = 0; rank < order.size(); ++rank) {
            ranks_[order[rank]] = int32_t(rank);
            const int64_t held = support[order[rank]];
            // A bitmap of an item that a 32nd of the rows hold takes no more memory than the list.
            if (32 * held < count_) lists_ = rank + 1;
            first_.push_back(first_.back() + held);
        }
        rows_.resize(first_[lists_]);
        bits_.resize((order.size() - lists_) * words_);
        fill(data, control);
    }

    int64_t count() const { return count_; }
    Index words() const { return words_; }
    int32_t rank(int32_t item) const { return ranks_[item]; }
    Cover cover(int32_t rank) const {
        const int64_t support = first_[rank + 1] - first_[rank];
        if (rank < lists_) return {part(rows_, first_, rank), nullptr, support};
        return {{}, bits_.data() + (rank - lists_) * words_, support};
    }

private:
    void fill(const Csr& data, Control& control) {
        Vector<int64_t> next(first_.begin(), first_.begin() + lists_, control);
        for (int64_t r = 0; r < count_; ++r) {
            if (r % 4096 == 0) control.poll();
            for (int32_t item : data.row(r)) {
                const int32_t rank = ranks_[item];
                if (rank == none) continue;
                if (rank < lists_) rows_[next[rank]++] = int32_t(r);
                else set_bit(bits_.data() + (rank - lists_) * words_, r);
            }
        }
    }

    Vector<int32_t> ranks_;  // item -> rank, or none
    Vector<int64_t> first_;  // rank -> where its list begins
    Vector<int32_t> rows_;
    Vector<uint64_t> bits_;
    Index lists_ = 0;  // ranks below this one have lists, the others bitmaps
    int64_t count_;
    Index words_;
};

// Those of `few` that are among `many`.
inline Index meet(View<int32_t> few, View<int32_t> many, int32_t* out) {
    Index found = 0;
    if (many.size() / 16 > few.size()) {
        auto at = many.begin();
        for (int32_t row : few) {
            ptrdiff_t step = 1;  // gallop: the next one is seldom far
            while (step < many.end() - at && at[step] < row) step *= 2;
            at = std::lower_bound(at + step / 2, at + std::min(step, many.end() - at), row);
            if (at == many.end()) break;
            out[found] = row;
            found += *at == row;
        }
        return found;
    }
    for (Index i = 0, j = 0; i < few.size() && j < many.size();) {
        const int32_t a = few[i], b = many[j];
        out[found] = a;  // without a branch: most guesses would be wrong
        found += a == b;
        i += a <= b;
        j += b <= a;
    }
    return found;
}

inline Index meet(View<int32_t> few, const uint64_t* many, int32_t* out) {
    Index found = 0;
    for (int32_t row : few) {
        out[found] = row;
        found += has_bit(many, row);
    }
    return found;
}

// Room for the rows of one itemset.
struct CoverBuffer {
    Vector<int32_t> rows;
    Vector<uint64_t> bits;
    explicit CoverBuffer(Control& control) : rows(control), bits(control) {}
};

// The rows of both, kept in the buffer. The second one is no rarer than any item of the first: if the first has a
// bitmap, it has one too.
inline Cover meet(const Cover& few, const Cover& many, CoverBuffer& buffer, Index words) {
    Cover both;
    if (few.bits) {
        buffer.bits.resize(words);
        both.bits = buffer.bits.data();
        both.support = best_loops->and_store_count(few.bits, many.bits, nullptr, buffer.bits.data(), words);
    } else {
        if (buffer.rows.size() < few.rows.size()) buffer.rows.resize(few.rows.size());
        const Index found =
            many.bits ? meet(few.rows, many.bits, buffer.rows.data()) : meet(few.rows, many.rows, buffer.rows.data());
        both.rows = View(buffer.rows).first(found);
        both.support = found;
    }
    return both;
}

}  // namespace veilset
