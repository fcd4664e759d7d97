// What anatomy/buckets.cpp fills: buckets that are open, and buckets that are done.
#pragma once

#include <limits>

#include "core/control.hpp"

namespace veilset::anatomy {

// The rows' values in columns: 0 is having no item there.
struct Values {
    View<int32_t> values;
    View<uint8_t> free;  // whether having none does not count, by column
    int64_t num, den;    // of l

    int64_t columns() const { return free.size(); }
    int64_t rows() const { return free.empty() ? 0 : values.size() / free.size(); }
    View<int32_t> row(int64_t r) const { return values.subspan(r * free.size(), free.size()); }
    bool counts(Index column, int32_t value) const { return value != 0 || !free[column]; }
    // How many rows must count in a column where `count` have the same value.
    int64_t needed(int64_t count) const { return (count * num + den - 1) / den; }
};

// A bucket that is being filled: its rows, and how often each value is in them.
class Open {
public:
    explicit Open(const Values& data) : data_(data), counting_(data.free.size(), 0), largest_(data.free.size(), 0) {
        resize(64);
    }

    // What one takes at first.
    static int64_t bytes(const Values& data) { return int64_t(2 * sizeof(int64_t)) * (64 + data.columns()); }

    const List<int64_t>& rows() const { return rows_; }
    double commonness() const { return commonness_; }
    // How many more rows it needs at least; 0: it is l-diverse.
    int64_t missing() const { return missing_; }

    // The slack of one value: see anatomy/buckets.cpp.
    int64_t slack(Index column, int32_t value) const {
        return data_.den * counting_[column] - data_.num * counts_[place(column, value)];
    }

    // How many more rows it would need with this row; `too_many` or more are not counted exactly.
    int64_t missing_with(View<int32_t> row, int64_t too_many = std::numeric_limits<int64_t>::max()) const {
        int64_t most = 0;
        for (Index column = 0; column < row.size() && most < too_many; ++column) {
            const bool counts = data_.counts(column, row[column]);
            const int64_t largest =
                counts ? std::max(largest_[column], counts_[place(column, row[column])] + 1) : largest_[column];
            most = std::max(most, data_.needed(largest) - counting_[column] - counts);
        }
        return most;
    }

    void add(int64_t r, double commonness) {
        const View<int32_t> row = data_.row(r);
        for (Index column = 0; column < row.size(); ++column) {
            if (!data_.counts(column, row[column])) continue;
            ++counting_[column];
            Index at = place(column, row[column]);
            if (keys_[at] == none) {
                if (2 * ++used_ > keys_.size()) {
                    resize(2 * keys_.size());
                    at = place(column, row[column]);
                }
                keys_[at] = key(column, row[column]);
            }
            largest_[column] = std::max(largest_[column], ++counts_[at]);
        }
        rows_.push_back(r);
        commonness_ = std::max(commonness_, commonness);
        missing_ = 0;
        for (Index column = 0; column < row.size(); ++column)
            missing_ = std::max(missing_, data_.needed(largest_[column]) - counting_[column]);
    }

    void clear() {
        const Index size = keys_.size() > 1024 ? 64 : keys_.size();  // an unusual one is not to cost all later ones
        keys_.assign(size, none), counts_.assign(size, 0);
        std::fill(counting_.begin(), counting_.end(), 0);
        std::fill(largest_.begin(), largest_.end(), 0);
        rows_.clear();
        used_ = 0, commonness_ = 0, missing_ = 0;
    }

private:
    static constexpr uint64_t none = ~uint64_t(0);
    static uint64_t key(Index column, int32_t value) { return uint64_t(column) << 32 | uint32_t(value); }

    Index place(Index column, int32_t value) const {
        const uint64_t wanted = key(column, value);
        Index at = wanted * 0x9E3779B97F4A7C15ull >> 32 & (keys_.size() - 1);
        while (keys_[at] != none && keys_[at] != wanted) at = (at + 1) & (keys_.size() - 1);
        return at;
    }

    void resize(Index size) {
        const auto keys = std::exchange(keys_, List<uint64_t>(size, none));
        const auto counts = std::exchange(counts_, List<int64_t>(size, 0));
        for (Index at = 0; at < keys.size(); ++at)
            if (keys[at] != none) {
                const Index to = place(keys[at] >> 32, int32_t(uint32_t(keys[at])));
                keys_[to] = keys[at], counts_[to] = counts[at];
            }
    }

    const Values& data_;
    List<int64_t> rows_, counting_, largest_;  // the latter two by column
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
    Closed(const Values& data, Control& control) : data_(data), control_(control), next_(data.rows(), -1) {}

    int64_t count() const { return buckets_.size(); }

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

    // Whether the bucket stays l-diverse with this row.
    bool takes(int64_t bucket, View<int32_t> row, int64_t& looks) const {
        for (Index column = 0; column < row.size(); ++column)
            if (data_.counts(column, row[column]) &&
                data_.den - data_.num + slack(bucket, column, row[column], looks) < 0)
                return false;
        return true;
    }

    // The slack of one value in a bucket.
    int64_t slack(int64_t bucket, Index column, int32_t value, int64_t& looks) const {
        if (const auto& counted = buckets_[bucket].counted) {
            ++looks;
            return counted->slack(column, value);
        }
        int64_t sum = 0;
        for_each(bucket, [&](int64_t r) {
            const int32_t other = data_.row(r)[column];
            sum += (data_.counts(column, other) ? data_.den : 0) - (other == value ? data_.num : 0);
            ++looks;
        });
        return sum;
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
};

}  // namespace veilset::anatomy
