// The transactions as the miners walk them: only the items that matter, rarest first; equal rows merged, with weights.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset::mining {

constexpr int32_t none = -1;

// A row and the place in it where the items after the current one begin.
struct Place {
    int32_t row;
    int32_t next;
};

inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

// Items are ranks from here on: 0 is the rarest, ties go to the item that comes first in the vocabulary (or all are in
// its order, for those who ask). Items that are only looked at (sensitive ones, when moles are mined) come after all
// others, in the order of the vocabulary.
class Rows {
public:
    enum class Order { rarest_first, vocabulary };

    // Of the rows that hold all of `given` (the cohort), the other allowed items that at least min_support of them
    // hold.
    Rows(const Csr& data, std::span<const uint8_t> allowed, std::span<const int32_t> given, int64_t min_support,
         Order order, Control& control, std::span<const uint8_t> looked_at = {})
        : rows_(control), items_(control), first_(control), places_(control), control_(control) {
        if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
        std::vector<int64_t> support(data.vocabulary, 0);
        for_each_row(data, given, [&](std::span<const int32_t> row) {
            ++cohort_;
            for (int32_t item : row) ++support[item];
        });
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (allowed[i] && support[i] >= min_support && std::find(given.begin(), given.end(), i) == given.end())
                codes_.push_back(i);
        if (order == Order::rarest_first)
            std::stable_sort(codes_.begin(), codes_.end(),
                             [&](int32_t a, int32_t b) { return support[a] < support[b]; });
        walked_ = codes_.size();
        for (size_t i = 0; i < looked_at.size(); ++i)
            if (looked_at[i] && support[i] > 0) codes_.push_back(int32_t(i));
        std::vector<int32_t> rank(data.vocabulary, none);
        for (size_t i = 0; i < codes_.size(); ++i) {
            rank[codes_[i]] = int32_t(i);
            supports_.push_back(support[codes_[i]]);
        }
        if (codes_.size() <= 64) merge<1>(data, given, rank);
        else if (codes_.size() <= 128) merge<2>(data, given, rank);
        else append(data, given, rank);
        index();
    }

    size_t items() const { return codes_.size(); }
    size_t walked() const { return walked_; }  // items that are not only looked at
    // Of those, the items that some row lacks. The others come after them: free from the start, no branch of a walk.
    size_t branches() const {
        return std::find(supports_.begin(), supports_.begin() + ptrdiff_t(walked_), cohort_) - supports_.begin();
    }
    int64_t rows() const { return cohort_; }  // of the cohort, before merging
    int32_t distinct() const { return int32_t(rows_.size()); }
    int32_t code(int32_t item) const { return codes_[item]; }
    int64_t support(int32_t item) const { return supports_[item]; }
    int32_t weight(int32_t row) const { return rows_[row].weight; }
    std::span<const int32_t> row(int32_t r) const { return {items_.data() + rows_[r].begin, size_t(rows_[r].size)}; }
    void fetch_soon(Place place) const { __builtin_prefetch(&rows_[place.row]); }
    void fetch(Place place) const { __builtin_prefetch(items_.data() + rows_[place.row].begin + place.next); }
    std::span<const Place> places(int32_t item) const {
        return {places_.data() + first_[item], places_.data() + first_[item + 1]};
    }
    int32_t longest() const { return longest_; }

private:
    // With few items a row is a mask, and merging costs one look into a hash table.
    template <size_t Words>
    void merge(const Csr& data, std::span<const int32_t> given, const std::vector<int32_t>& rank) {
        using Mask = std::array<uint64_t, Words>;
        Vector<Mask> masks(control_);
        Vector<int32_t> slots(1024, none, control_);
        for_each_row(data, given, [&](std::span<const int32_t> held) {
            Mask mask{};
            for (int32_t item : held)
                if (const int32_t i = rank[item]; i != none) mask[size_t(i) / 64] |= uint64_t(1) << (i % 64);
            if (mask == Mask{}) return;
            const int32_t at =
                find(slots, hash(mask), [&](int32_t other) { return masks[other] == mask; }, int32_t(masks.size()));
            if (at == int32_t(masks.size())) {
                masks.push_back(mask);
                rows_.push_back({0, 0, 0});
                if (2 * masks.size() > slots.size()) grow(slots, [&](int32_t row) { return hash(masks[row]); });
            }
            ++rows_[at].weight;
        });
        for (size_t r = 0; r < masks.size(); ++r) {
            rows_[r].begin = int64_t(items_.size());
            for (size_t w = 0; w < Words; ++w)
                for (uint64_t left = masks[r][w]; left; left &= left - 1)
                    items_.push_back(int32_t(64 * w) + __builtin_ctzll(left));
            rows_[r].size = int32_t(int64_t(items_.size()) - rows_[r].begin);
        }
    }

    // With many items, equal rows are looked for as long as they turn up. The items are still in the order of the
    // vocabulary.
    void append(const Csr& data, std::span<const int32_t> given, const std::vector<int32_t>& rank) {
        Vector<int32_t> slots(1024, none, control_);
        Vector<uint64_t> hashes(control_);
        bool merging = true;
        int64_t entries = 0;
        for (int64_t support : supports_) entries += support;
        items_.reserve(entries);  // growing step by step would touch twice the memory
        rows_.reserve(cohort_);
        int64_t seen = 0;
        for_each_row(data, given, [&](std::span<const int32_t> held) {
            const size_t begin = items_.size();
            for (int32_t item : held)
                if (const int32_t i = rank[item]; i != none) items_.push_back(i);
            if (items_.size() == begin) return;
            ++seen;
            if (merging) {
                const std::span<const int32_t> added(items_.data() + begin, items_.data() + items_.size());
                uint64_t h = 0;
                for (int32_t item : added) h = mix(h + uint64_t(item) + 1);
                const int32_t at = find(
                    slots, h,
                    [&](int32_t other) {
                        const auto there = row(other);
                        return hashes[other] == h && std::equal(there.begin(), there.end(), added.begin(), added.end());
                    },
                    distinct());
                if (at < distinct()) {
                    ++rows_[at].weight;
                    items_.resize(begin);
                    return;
                }
                hashes.push_back(h);
                if (2 * hashes.size() > slots.size()) grow(slots, [&](int32_t other) { return hashes[other]; });
                merging = seen < 8192 || 20 * int64_t(distinct()) < 19 * seen;
            }
            rows_.push_back({int64_t(begin), int32_t(items_.size() - begin), 1});
        });
    }

    template <class Body>
    void for_each_row(const Csr& data, std::span<const int32_t> given, Body body) const {
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            const auto row = data.row(r);
            if (std::includes(row.begin(), row.end(), given.begin(), given.end())) body(row);
        }
    }

    template <size_t Words>
    static uint64_t hash(const std::array<uint64_t, Words>& mask) {
        uint64_t h = 0;
        for (uint64_t word : mask) h = mix(h ^ word);
        return h;
    }
    // The row that is the same, or `fresh` after putting that into a free slot.
    template <class Same>
    static int32_t find(Vector<int32_t>& slots, uint64_t h, Same same, int32_t fresh) {
        for (size_t slot = h & (slots.size() - 1);; slot = (slot + 1) & (slots.size() - 1)) {
            if (slots[slot] == none) return slots[slot] = fresh;
            if (same(slots[slot])) return slots[slot];
        }
    }
    template <class Hash>
    static void grow(Vector<int32_t>& slots, Hash hash) {
        Vector<int32_t> larger(2 * slots.size(), none, slots.get_allocator());
        for (int32_t row : slots)
            if (row != none) find(larger, hash(row), [](int32_t) { return false; }, row);
        slots.swap(larger);
    }

    // Sorts all rows and finds the places of every item.
    void index() {
        first_.assign(codes_.size() + 1, 0);
        for (int32_t item : items_) ++first_[item + 1];
        for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        places_.resize(items_.size());
        for (const Row& row : rows_) longest_ = std::max(longest_, row.size);
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        if (items_.size() > size_t(1) << 22) {
            for (int32_t r = 0; r < distinct(); ++r) {
                if (r % 4096 == 0) control_.poll();
                int32_t* items = items_.data() + rows_[r].begin;
                std::sort(items, items + rows_[r].size);
                for (int32_t i = 0; i < rows_[r].size; ++i) places_[next[items[i]]++] = {r, i + 1};
            }
            return;
        }
        // As long as the rows fit the cache it is quicker to hand out the items in the order of ranks.
        for (int32_t r = 0; r < distinct(); ++r)
            for (int32_t item : row(r)) places_[next[item]++].row = r;
        Vector<int32_t> filled(distinct(), 0, control_);
        for (size_t item = 0; item < codes_.size(); ++item)
            for (int64_t at = first_[item]; at < first_[item + 1]; ++at) {
                Place& place = places_[at];
                int32_t& size = filled[place.row];
                items_[rows_[place.row].begin + size] = int32_t(item);
                place.next = ++size;
            }
    }

    // Together, since a walk jumps from row to row and pays for every line of the cache.
    struct Row {
        int64_t begin;
        int32_t size, weight;
    };
    std::vector<int32_t> codes_;
    std::vector<int64_t> supports_;
    Vector<Row> rows_;
    Vector<int32_t> items_;
    Vector<int64_t> first_;  // item -> its part of places_
    Vector<Place> places_;
    Control& control_;
    int64_t cohort_ = 0;
    size_t walked_ = 0;
    int32_t longest_ = 0;
};

}  // namespace veilset::mining
