// What anatomy/buckets.cpp fills: buckets that are open, and buckets that are done.
#pragma once

#include <memory>

#include "anatomy/limits.hpp"

namespace veilset::anatomy {

// A bucket that is being filled: its rows, and how often each value, and each limited item, is in them.
class Open {
public:
    explicit Open(const Values& data)
        : data_(&data), holders_(data.columns(), 0), largest_(data.columns(), 0), holders_with_(data.columns(), 0),
          largest_with_(data.columns(), 0) {
        resize(64);
    }

    // What one takes at first.
    static int64_t bytes(const Values& data) { return int64_t(2 * sizeof(int64_t)) * (64 + 2 * data.columns()); }

    const List<int64_t>& rows() const { return rows_; }
    double commonness() const { return commonness_; }
    // How many more rows it needs at least; 0: it is l-diverse.
    int64_t missing() const { return missing_; }

    // How many more rows it would need with this row; `too_many` or more are not counted exactly.
    int64_t missing_with(int64_t r, int64_t too_many = Values::never) const {
        const View<int32_t> row = data_->row(r);
        for (Index column = 0; column < row.size(); ++column) {
            const bool something = row[column] != 0;
            holders_with_[column] = holders_[column] + something;
            largest_with_[column] =
                something ? std::max(largest_[column], counts_[place(key(column, row[column]))] + 1) : largest_[column];
            if (data_->rules[column] == sensitive || data_->num == data_->den) continue;
            const int64_t missing =
                data_->missing_in(column, rows_.size() + 1, holders_with_[column], largest_with_[column]);
            if (missing >= too_many) return missing;  // the usual case, and soon seen
        }
        for (int32_t item : data_->items(r)) {
            int64_t& largest = largest_with_[data_->limited_column[item]];
            largest = std::max(largest, counts_[place(key(item))] + 1);
        }
        return data_->missing(rows_.size() + 1, holders_with_, largest_with_, too_many);
    }

    void add(int64_t r, double commonness) {
        const View<int32_t> row = data_->row(r);
        for (Index column = 0; column < row.size(); ++column) {
            if (row[column] == 0) continue;
            ++holders_[column];
            count(column, key(column, row[column]));
        }
        for (int32_t item : data_->items(r)) count(data_->limited_column[item], key(item));
        rows_.push_back(r);
        commonness_ = std::max(commonness_, commonness);
        missing_ = data_->missing(rows_.size(), holders_, largest_);
    }

    void clear() {
        const Index size = keys_.size() > 1024 ? 64 : keys_.size();  // an unusual one is not to cost all later ones
        keys_.assign(size, none), counts_.assign(size, 0);
        std::fill(holders_.begin(), holders_.end(), 0);
        std::fill(largest_.begin(), largest_.end(), 0);
        rows_.clear();
        used_ = 0, commonness_ = 0, missing_ = 0;
    }

private:
    static constexpr uint64_t none = ~uint64_t(0);
    static uint64_t key(Index column, int32_t value) { return uint64_t(column) << 32 | uint32_t(value); }
    static uint64_t key(int32_t item) { return uint64_t(1) << 63 | uint32_t(item); }

    Index place(uint64_t wanted) const {
        Index at = wanted * 0x9E3779B97F4A7C15ull >> 32 & (keys_.size() - 1);
        while (keys_[at] != none && keys_[at] != wanted) at = (at + 1) & (keys_.size() - 1);
        return at;
    }

    void count(Index column, uint64_t wanted) {
        Index at = place(wanted);
        if (keys_[at] == none) {
            if (2 * ++used_ > keys_.size()) {
                resize(2 * keys_.size());
                at = place(wanted);
            }
            keys_[at] = wanted;
        }
        largest_[column] = std::max(largest_[column], ++counts_[at]);
    }

    void resize(Index size) {
        const auto keys = std::exchange(keys_, List<uint64_t>(size, none));
        const auto counts = std::exchange(counts_, List<int64_t>(size, 0));
        for (Index at = 0; at < keys.size(); ++at)
            if (keys[at] != none) {
                const Index to = place(keys[at]);
                keys_[to] = keys[at], counts_[to] = counts[at];
            }
    }

    const Values* data_;
    List<int64_t> rows_, holders_, largest_;             // the latter two by column
    mutable List<int64_t> holders_with_, largest_with_;  // the same, with the row that is looked at
    List<uint64_t> keys_;
    List<int64_t> counts_;
    Index used_ = 0;
    double commonness_ = 0;
    int64_t missing_ = 0;
};

// The buckets that are done, as lists of rows that can be put together. Large ones also know how often they have each
// value: they would be gone through again and again.
class Closed {
public:
    Closed(const Values& data, Control& control)
        : data_(data), control_(control), next_(data.rows(), -1), trial_(data) {}

    int64_t count() const { return buckets_.size(); }
    int64_t size(int64_t bucket) const { return buckets_[bucket].size; }

    void append(View<int64_t> rows) {
        for (Index i = 0; i + 1 < rows.size(); ++i) next_[rows[i]] = rows[i + 1];
        buckets_.push_back({rows.front(), rows.back(), rows.size(), nullptr});
        count_if_large(buckets_.back());
    }

    void add(int64_t bucket, int64_t row) {
        Bucket& to = buckets_[bucket];
        next_[row] = std::exchange(to.first, row);
        ++to.size;
        if (to.counted) count(to, row);
        else count_if_large(to);
    }

    // Puts `other` into `bucket`; the last bucket gets its number.
    void join(int64_t bucket, int64_t other) {
        Bucket &to = buckets_[bucket], &from = buckets_[other];
        if (from.size > to.size) std::swap(to, from);  // the smaller is counted again
        if (to.counted) for_each(from, [&](int64_t r) { count(to, r); });
        next_[to.last] = from.first;
        to.last = from.last;
        to.size += from.size;
        if (!to.counted) count_if_large(to);
        if (&from != &buckets_.back()) from = std::move(buckets_.back());
        buckets_.pop_back();
    }

    // body(row) for the rows of a bucket.
    template <class Body>
    void for_each(int64_t bucket, Body body) const {
        for_each(buckets_[bucket], body);
    }

    // Whether the bucket stays l-diverse with this row; looks grows by the rows that were looked at.
    bool takes(int64_t bucket, int64_t row, int64_t& looks) {
        if (const auto& counted = buckets_[bucket].counted) {
            ++looks;
            return counted->missing_with(row) == 0;
        }
        looks += buckets_[bucket].size;
        if (repeats(bucket, data_.row(row))) return false;
        trial_.clear();
        for_each(bucket, [&](int64_t r) { trial_.add(r, 0); });
        return trial_.missing_with(row) == 0;
    }

private:
    static constexpr int64_t large = 64;

    struct Bucket {
        int64_t first, last, size;
        std::unique_ptr<Open> counted;
    };

    template <class Body>
    void for_each(const Bucket& bucket, Body body) const {
        for (int64_t r = bucket.first; r != -1; r = next_[r]) body(r);
    }

    // Whether the row would make a value of its own too common: soon seen, and the usual reason.
    bool repeats(int64_t bucket, View<int32_t> row) const {
        for (Index column = 0; column < row.size(); ++column) {
            if (data_.rules[column] != by_value) continue;
            int64_t same = 1;
            for_each(bucket, [&](int64_t r) { same += data_.row(r)[column] == row[column]; });
            if (data_.needed(same) > buckets_[bucket].size + 1) return true;
        }
        return false;
    }

    void count(Bucket& bucket, int64_t row) {
        control_.poll();
        control_.charge(data_.columns() * int64_t(4 * sizeof(int64_t)));  // a place in a table that is half full
        bucket.counted->add(row, 0);
    }

    void count_if_large(Bucket& bucket) {
        if (bucket.size <= large) return;
        bucket.counted = std::make_unique<Open>(data_);
        for_each(bucket, [&](int64_t r) { count(bucket, r); });
    }

    const Values& data_;
    Control& control_;
    List<int64_t> next_;  // the row after each row of a bucket
    List<Bucket> buckets_;
    Open trial_;
};

}  // namespace veilset::anatomy
