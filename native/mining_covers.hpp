// Data by columns for mining_*.cpp: covers as bitmaps where the data is dense, as lists of rows where it is sparse.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "bits.hpp"
#include "control.hpp"
#include "csr.hpp"
#include "mining_limits.hpp"

namespace veilset::mining {

// The data by columns: covers of the public items that occur, and for each row its sensitive items.
struct Columns {
    std::vector<int32_t> items;  // rank -> vocabulary code, rarest first
    std::vector<int32_t> sensitive;
    Vector<int64_t> row_offsets, sens_offsets;
    Vector<int32_t> row_items, row_sensitive;
    int64_t rows;

    Columns(const Csr& data, std::span<const uint8_t> is_sensitive, Control& control)
        : row_offsets(control), sens_offsets(control), row_items(control), row_sensitive(control), rows(data.rows()) {
        std::vector<int64_t> support(size_t(data.vocabulary), 0);
        for (int32_t item : data.items) ++support[size_t(item)];
        std::vector<int32_t> rank(size_t(data.vocabulary), none);
        for (int32_t i = 0; i < data.vocabulary; ++i) {
            if (is_sensitive[size_t(i)]) {
                rank[size_t(i)] = int32_t(sensitive.size());
                sensitive.push_back(i);
            } else if (support[size_t(i)] > 0) {
                items.push_back(i);
            }
        }
        std::stable_sort(items.begin(), items.end(), [&](int32_t a, int32_t b) { return support[size_t(a)] < support[size_t(b)]; });
        for (size_t i = 0; i < items.size(); ++i) rank[size_t(items[i])] = int32_t(i);
        row_offsets.push_back(0);
        sens_offsets.push_back(0);
        for (int64_t r = 0; r < rows; ++r) {
            for (int32_t item : data.row(r)) (is_sensitive[size_t(item)] ? row_sensitive : row_items).push_back(rank[size_t(item)]);
            std::sort(row_items.begin() + row_offsets.back(), row_items.end());
            row_offsets.push_back(int64_t(row_items.size()));
            sens_offsets.push_back(int64_t(row_sensitive.size()));
        }
    }
};

struct TidList {
    using Words = Vector<int32_t>;
    Words rows;
    int64_t support() const { return int64_t(rows.size()); }
};

struct Bitmap {
    using Words = Vector<uint64_t>;
    Words words;
    int64_t ones;
    int64_t support() const { return ones; }
};

// What a cover type must be able to do; built once for the data.
class TidLists {
public:
    using Cover = TidList;
    TidLists(const Columns& data, Control& control) : data_(data), control_(control), counts_(data.sensitive.size(), 0) {}

    std::vector<Cover> singles() const {
        std::vector<Cover> covers(data_.items.size(), Cover{TidList::Words(control_)});
        for (int64_t r = 0; r < data_.rows; ++r)
            for (int64_t i = data_.row_offsets[size_t(r)]; i < data_.row_offsets[size_t(r) + 1]; ++i)
                covers[size_t(data_.row_items[size_t(i)])].rows.push_back(int32_t(r));
        return covers;
    }
    Cover intersect(const Cover& a, const Cover& b) const {
        Cover both{TidList::Words(control_)};
        std::set_intersection(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(both.rows));
        return both;
    }
    // The most frequent sensitive item of the cover and its count.
    std::pair<int32_t, int64_t> most_sensitive(const Cover& cover) {
        for_each_sensitive(cover, [&](int32_t s) { ++counts_[size_t(s)]; });
        std::pair<int32_t, int64_t> most{none, 0};
        for_each_sensitive(cover, [&](int32_t s) {
            const int64_t count = counts_[size_t(s)];
            if (count > most.second || (count == most.second && s < most.first)) most = {s, count};
        });
        for_each_sensitive(cover, [&](int32_t s) { counts_[size_t(s)] = 0; });
        return most;
    }
    // Covers of {a, b} for the safe items b after a, read off the rows of a: few pairs of a sparse file occur.
    template <class Body>
    void for_each_pair(int32_t a, const std::vector<Cover>& singles, const std::vector<bool>& safe, Body body) {
        pairs_.resize(singles.size(), Cover{TidList::Words(control_)});
        std::vector<int32_t> met;
        for (int32_t row : singles[size_t(a)].rows) {
            auto end = data_.row_items.begin() + data_.row_offsets[size_t(row) + 1];
            for (auto at = std::upper_bound(data_.row_items.begin() + data_.row_offsets[size_t(row)], end, a); at != end; ++at) {
                if (!safe[size_t(*at)]) continue;
                if (pairs_[size_t(*at)].rows.empty()) met.push_back(*at);
                pairs_[size_t(*at)].rows.push_back(row);
            }
        }
        std::sort(met.begin(), met.end());
        for (int32_t b : met) {
            body(b, Cover(pairs_[size_t(b)]));
            pairs_[size_t(b)].rows.clear();
        }
    }
    template <class Body>
    void for_each_row(const Cover& cover, Body body) const {
        for (int32_t row : cover.rows) body(row);
    }

private:
    template <class Body>
    void for_each_sensitive(const Cover& cover, Body body) const {
        for (int32_t row : cover.rows)
            for (int64_t i = data_.sens_offsets[size_t(row)]; i < data_.sens_offsets[size_t(row) + 1]; ++i) body(data_.row_sensitive[size_t(i)]);
    }
    const Columns& data_;
    Control& control_;
    std::vector<int64_t> counts_;
    std::vector<Cover> pairs_;
};

class Bitmaps {
public:
    using Cover = Bitmap;
    Bitmaps(const Columns& data, Control& control) : data_(data), control_(control), words_(size_t(data.rows + 63) / 64) {
        sensitive_ = from_rows(data.sensitive.size(), data.sens_offsets, data.row_sensitive);
    }
    std::vector<Cover> singles() const { return from_rows(data_.items.size(), data_.row_offsets, data_.row_items); }
    Cover intersect(const Cover& a, const Cover& b) const {
        Cover both{Bitmap::Words(words_, control_), 0};
        both.ones = and_store_count(a.words.data(), b.words.data(), both.words.data(), words_);
        return both;
    }
    std::pair<int32_t, int64_t> most_sensitive(const Cover& cover) const {
        std::pair<int32_t, int64_t> most{none, 0};
        for (size_t s = 0; s < sensitive_.size(); ++s) {
            const int64_t count = and_count(cover.words.data(), sensitive_[s].words.data(), words_);
            if (count > most.second) most = {int32_t(s), count};
        }
        return most;
    }
    template <class Body>
    void for_each_pair(int32_t a, const std::vector<Cover>& singles, const std::vector<bool>& safe, Body body) {
        for (size_t b = size_t(a) + 1; b < singles.size(); ++b) {
            if (!safe[b]) continue;
            Cover both = intersect(singles[size_t(a)], singles[b]);
            if (both.ones > 0) body(int32_t(b), std::move(both));
        }
    }
    template <class Body>
    void for_each_row(const Cover& cover, Body body) const {
        for (size_t w = 0; w < words_; ++w)
            for (uint64_t left = cover.words[w]; left; left &= left - 1) body(int32_t(64 * w + size_t(__builtin_ctzll(left))));
    }

private:
    std::vector<Cover> from_rows(size_t count, const Vector<int64_t>& offsets, const Vector<int32_t>& items) const {
        std::vector<Cover> covers(count, Cover{Bitmap::Words(words_, 0, control_), 0});
        for (int64_t r = 0; r < data_.rows; ++r)
            for (int64_t i = offsets[size_t(r)]; i < offsets[size_t(r) + 1]; ++i) {
                Cover& cover = covers[size_t(items[size_t(i)])];
                cover.words[size_t(r / 64)] |= uint64_t(1) << (r % 64);
                ++cover.ones;
            }
        return covers;
    }
    const Columns& data_;
    Control& control_;
    size_t words_;
    std::vector<Cover> sensitive_;
};

}  // namespace veilset::mining
