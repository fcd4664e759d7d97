// Transactions into buckets (Multi-Anatomy, Figure 2), in time linear in their number.
//
// Several buckets are open at a time. A row goes where it brings a bucket nearer to being l-diverse; the one with the
// commonest values first, because such a bucket seldom finds a match. If there is none it opens a bucket, or it waits.
// With a single open bucket there is no choice, and this is the figure to the letter.
//
// What is left over is put into closed buckets: one that takes it as it is, or several that have to become one. For a
// value v of column c the slack of a set of rows is den * (rows that count in c) - num * (rows with v), with
// l = num / den; a set is l-diverse iff no slack is negative, and the slack of a union is the sum. So joining closed
// buckets only ever helps, and all rows together are l-diverse if every column is feasible: no row is ever withheld.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "control.hpp"

namespace veilset {
namespace {

constexpr int64_t looks_per_row = 300;   // at rows of closed buckets, for what is left over, before buckets are joined
constexpr int64_t candidates = 64;        // buckets to choose from when some have to be joined
constexpr int64_t waiting_share = 8;      // one row in so many may wait

// The rows' values in columns: 0 is having no item there.
struct Values {
    std::span<const int32_t> values;
    std::span<const uint8_t> free;  // whether having none does not count, by column
    int64_t num, den;               // of l

    int64_t columns() const { return int64_t(free.size()); }
    int64_t rows() const { return free.empty() ? 0 : int64_t(values.size() / free.size()); }
    std::span<const int32_t> row(int64_t r) const { return values.subspan(size_t(r) * free.size(), free.size()); }
    bool counts(size_t column, int32_t value) const { return value != 0 || !free[column]; }
    // How many rows must count in a column where `count` have the same value.
    int64_t needed(int64_t count) const { return (count * num + den - 1) / den; }
};

// How common the values of each row are: the sum of their shares in the columns. Raises if no buckets can be l-diverse.
std::vector<double> commonness(const Values& data, std::span<const int64_t> distinct) {
    std::vector<double> sums(size_t(data.rows()), 0.0);
    for (size_t column = 0; column < distinct.size(); ++column) {
        std::vector<int64_t> counts(size_t(distinct[column]) + 1, 0);
        for (int64_t r = 0; r < data.rows(); ++r) {
            const int32_t value = data.row(r)[column];
            if (value < 0 || value > distinct[column]) throw std::invalid_argument("no such value in a column");
            ++counts[size_t(value)];
        }
        if (data.free[column]) counts[0] = 0;
        const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
        for (int64_t count : counts)
            if (__int128(count) * data.num > __int128(all) * data.den) throw std::invalid_argument("a value is too common for any buckets");
        for (int64_t r = 0; r < data.rows(); ++r)
            if (const int32_t value = data.row(r)[column]; data.counts(column, value)) sums[size_t(r)] += double(counts[size_t(value)]) / double(all);
    }
    return sums;
}

// A bucket that is being filled: its rows, and how often each value is in them.
class Open {
public:
    explicit Open(const Values& data) : data_(data), counting_(data.free.size(), 0), largest_(data.free.size(), 0) { resize(64); }

    const std::vector<int64_t>& rows() const { return rows_; }
    double commonness() const { return commonness_; }
    // How many more rows it needs at least; 0: it is l-diverse.
    int64_t missing() const { return missing_; }

    // How many more rows it would need with this row; `too_many` or more are not counted exactly.
    int64_t missing_with(std::span<const int32_t> row, int64_t too_many = std::numeric_limits<int64_t>::max()) const {
        int64_t most = 0;
        for (size_t column = 0; column < row.size() && most < too_many; ++column) {
            const bool counts = data_.counts(column, row[column]);
            const int64_t largest = counts ? std::max(largest_[column], counts_[place(column, row[column])] + 1) : largest_[column];
            most = std::max(most, data_.needed(largest) - counting_[column] - counts);
        }
        return most;
    }

    void add(int64_t r, double commonness) {
        const std::span<const int32_t> row = data_.row(r);
        for (size_t column = 0; column < row.size(); ++column) {
            if (!data_.counts(column, row[column])) continue;
            ++counting_[column];
            size_t at = place(column, row[column]);
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
        for (size_t column = 0; column < row.size(); ++column)
            missing_ = std::max(missing_, data_.needed(largest_[column]) - counting_[column]);
    }

    void clear() {
        const size_t size = keys_.size() > 1024 ? 64 : keys_.size();  // an unusual one is not to cost all later ones
        keys_.assign(size, none), counts_.assign(size, 0);
        std::fill(counting_.begin(), counting_.end(), 0);
        std::fill(largest_.begin(), largest_.end(), 0);
        rows_.clear();
        used_ = 0, commonness_ = 0, missing_ = 0;
    }

private:
    static constexpr uint64_t none = ~uint64_t(0);
    static uint64_t key(size_t column, int32_t value) { return uint64_t(column) << 32 | uint32_t(value); }

    size_t place(size_t column, int32_t value) const {
        const uint64_t wanted = key(column, value);
        size_t at = size_t(wanted * 0x9E3779B97F4A7C15ull >> 32) & (keys_.size() - 1);
        while (keys_[at] != none && keys_[at] != wanted) at = (at + 1) & (keys_.size() - 1);
        return at;
    }

    void resize(size_t size) {
        const auto keys = std::exchange(keys_, std::vector<uint64_t>(size, none));
        const auto counts = std::exchange(counts_, std::vector<int64_t>(size, 0));
        for (size_t at = 0; at < keys.size(); ++at)
            if (keys[at] != none) {
                const size_t to = place(size_t(keys[at] >> 32), int32_t(uint32_t(keys[at])));
                keys_[to] = keys[at], counts_[to] = counts[at];
            }
    }

    const Values& data_;
    std::vector<int64_t> rows_, counting_, largest_;  // the latter two by column
    std::vector<uint64_t> keys_;
    std::vector<int64_t> counts_;
    size_t used_ = 0;
    double commonness_ = 0;
    int64_t missing_ = 0;
};

// The buckets that are done, as lists of rows that can be put together.
class Closed {
public:
    explicit Closed(const Values& data) : data_(data), next_(size_t(data.rows()), -1) {}

    int64_t count() const { return int64_t(first_.size()); }

    void append(std::span<const int64_t> rows) {
        for (size_t i = 0; i + 1 < rows.size(); ++i) next_[size_t(rows[i])] = rows[i + 1];
        first_.push_back(rows.front());
        last_.push_back(rows.back());
    }

    void add(int64_t bucket, int64_t row) {
        next_[size_t(row)] = std::exchange(first_[size_t(bucket)], row);
    }

    // Puts `other` into `bucket`; the last bucket gets its number.
    void join(int64_t bucket, int64_t other) {
        next_[size_t(last_[size_t(bucket)])] = first_[size_t(other)];
        last_[size_t(bucket)] = last_[size_t(other)];
        first_[size_t(other)] = first_.back(), last_[size_t(other)] = last_.back();
        first_.pop_back(), last_.pop_back();
    }

    // body(row) for the rows of a bucket.
    template <class Body>
    void for_each(int64_t bucket, Body body) const {
        for (int64_t r = first_[size_t(bucket)]; r != -1; r = next_[size_t(r)]) body(r);
    }

    // Whether the bucket stays l-diverse with this row.
    bool takes(int64_t bucket, std::span<const int32_t> row, int64_t& looks) const {
        for (size_t column = 0; column < row.size(); ++column)
            if (data_.counts(column, row[column]) && data_.den - data_.num + slack(bucket, column, row[column], looks) < 0) return false;
        return true;
    }

    // The slack of one value in a bucket.
    int64_t slack(int64_t bucket, size_t column, int32_t value, int64_t& looks) const {
        int64_t sum = 0;
        for_each(bucket, [&](int64_t r) {
            const int32_t other = data_.row(r)[column];
            sum += (data_.counts(column, other) ? data_.den : 0) - (other == value ? data_.num : 0);
            ++looks;
        });
        return sum;
    }

private:
    const Values& data_;
    std::vector<int64_t> next_, first_, last_;  // the row after each row; the first and last of each bucket
};

class Filling {
public:
    Filling(const Values& data, std::span<const double> commonness, int64_t open_buckets, Control& control)
        : data_(data), commonness_(commonness), control_(control), closed_(data), open_(size_t(open_buckets), Open(data)),
          most_waiting_(open_buckets == 1 ? 0 : data.rows() / waiting_share) {}

    void fill(std::span<const int64_t> order) {
        for (int64_t r : order) {
            control_.poll();
            control_.advance();
            const int64_t bucket = choose(data_.row(r));
            if (bucket < 0) {
                waiting_.push_back(r);
                continue;
            }
            Open& open = open_[size_t(bucket)];
            open.add(r, commonness_[size_t(r)]);
            if (open.missing() > 0) continue;
            closed_.append(open.rows());
            open.clear();
        }
        for (const Open& open : open_) waiting_.insert(waiting_.end(), open.rows().begin(), open.rows().end());
    }

    int64_t waiting() const { return int64_t(waiting_.size()); }

    // Lines 10 to 12 of the figure, and what it leaves open: returns how many buckets had to be joined.
    int64_t place_what_is_left() {
        if (closed_.count() == 0) {
            if (!waiting_.empty()) closed_.append(waiting_);
            return 0;
        }
        std::vector<int64_t> stubborn;
        int64_t looks = 0, cursor = 0;
        for (int64_t r : waiting_) {
            control_.poll();
            bool placed = false;
            for (int64_t tried = 0; !placed && tried < closed_.count() && looks < looks_per_row * data_.rows(); ++tried) {
                cursor = (cursor + 1) % closed_.count();
                if ((placed = closed_.takes(cursor, data_.row(r), looks))) closed_.add(cursor, r);
            }
            if (!placed) stubborn.push_back(r);
        }
        const int64_t before = closed_.count();
        for (size_t at = 0; at < stubborn.size(); ++at)
            if (!join_for(stubborn[at])) {
                // All buckets are one now, and do not take it: all rows together are l-diverse.
                for (; at < stubborn.size(); ++at) closed_.add(0, stubborn[at]);
            }
        return before - closed_.count();
    }

    std::vector<int64_t> numbers() const {
        std::vector<int64_t> bucket_of(size_t(data_.rows()), -1);
        for (int64_t bucket = 0; bucket < closed_.count(); ++bucket)
            closed_.for_each(bucket, [&](int64_t r) { bucket_of[size_t(r)] = bucket; });
        return bucket_of;
    }

private:
    // The open bucket for a row; -1: it has to wait.
    int64_t choose(std::span<const int32_t> row) const {
        int64_t best = -1, empty = -1;
        for (size_t bucket = 0; bucket < open_.size(); ++bucket) {
            const Open& open = open_[bucket];
            if (open.rows().empty()) {
                empty = int64_t(bucket);
            } else if ((best < 0 || open.commonness() > open_[size_t(best)].commonness()) && open.missing_with(row, open.missing()) < open.missing()) {
                best = int64_t(bucket);
            }
        }
        if (best >= 0) return best;
        if (empty >= 0) return empty;
        if (int64_t(waiting_.size()) < most_waiting_) return -1;
        // Where it does least harm.
        int64_t least = std::numeric_limits<int64_t>::max();
        for (size_t bucket = 0; bucket < open_.size(); ++bucket)
            if (const int64_t harm = open_[bucket].missing_with(row) - open_[bucket].missing(); harm < least) least = harm, best = int64_t(bucket);
        return best;
    }

    // Joins closed buckets until they take the row, those that lack its values most first; false: all of them do not.
    bool join_for(int64_t r) {
        const std::span<const int32_t> row = data_.row(r);
        int64_t into = -1, looks = 0;
        std::vector<int64_t> slack(row.size(), 0);  // of the row with the buckets that were joined for it
        for (size_t column = 0; column < row.size(); ++column)
            if (data_.counts(column, row[column])) slack[column] = data_.den - data_.num;
        while (std::any_of(slack.begin(), slack.end(), [](int64_t s) { return s < 0; })) {
            control_.poll();
            int64_t best = -1, least = std::numeric_limits<int64_t>::max();
            std::vector<int64_t> best_slack;
            for (int64_t tried = 0; tried < std::min(candidates, closed_.count()); ++tried) {
                join_cursor_ = (join_cursor_ + 1) % closed_.count();
                if (join_cursor_ == into) continue;
                std::vector<int64_t> with = slack;
                int64_t lack = 0;
                for (size_t column = 0; column < row.size(); ++column) {
                    if (with[column] < 0) with[column] += closed_.slack(join_cursor_, column, row[column], looks);
                    lack -= std::min<int64_t>(0, with[column]);
                }
                if (lack < least) least = lack, best = join_cursor_, best_slack = std::move(with);
            }
            if (best < 0) return false;
            slack = std::move(best_slack);
            if (into < 0) {
                into = best;
                continue;
            }
            if (into == closed_.count() - 1) std::swap(into, best);
            closed_.join(into, best);
        }
        closed_.add(into, r);
        return true;
    }

    const Values& data_;
    std::span<const double> commonness_;
    Control& control_;
    Closed closed_;
    std::vector<Open> open_;
    std::vector<int64_t> waiting_;
    int64_t most_waiting_, join_cursor_ = 0;
};

// The bucket of each row (numbers that mean nothing else), how many rows were left over, how many buckets were joined.
nb::tuple anatomy_buckets(const Array<int32_t>& values, const Array<int64_t>& distinct, const Array<uint8_t>& free, const Array<int64_t>& order,
                          int64_t numerator, int64_t denominator, int64_t open_buckets, int64_t memory_limit, double time_limit, nb::object progress) {
    const Values data{span_of(values), span_of(free), numerator, denominator};
    const auto rows = span_of(order);
    if (data.free.empty() || data.values.size() % data.free.size() != 0 || distinct.size() != data.free.size())
        throw std::invalid_argument("arrays of different lengths");
    if (denominator < 1 || numerator < denominator) throw std::invalid_argument("l is below 1");
    if (open_buckets < 1) throw std::invalid_argument("no open bucket");
    std::vector<uint8_t> met(size_t(data.rows()), 0);
    for (int64_t r : rows)
        if (r < 0 || r >= data.rows() || std::exchange(met[size_t(r)], 1)) throw std::invalid_argument("the order is no order of the rows");
    if (int64_t(rows.size()) != data.rows()) throw std::invalid_argument("the order is no order of the rows");
    Control control(memory_limit, time_limit, std::move(progress));
    control.charge(data.rows() * int64_t(5 * sizeof(int64_t)));
    std::vector<int64_t> numbers;
    int64_t left_over = 0, joined = 0;
    control.begin(1, data.rows());
    control.parallel(1, 1, [&](int64_t, int) {
        const std::vector<double> common = commonness(data, span_of(distinct));
        Filling filling(data, common, open_buckets, control);
        filling.fill(rows);
        left_over = filling.waiting();
        joined = filling.place_what_is_left();
        numbers = filling.numbers();
    });
    return nb::make_tuple(to_numpy(std::move(numbers)), left_over, joined);
}

}  // namespace

void register_anatomy_buckets(nb::module_& m) {
    m.def("anatomy_buckets", &anatomy_buckets, nb::arg("values").noconvert(), nb::arg("distinct").noconvert(), nb::arg("free").noconvert(),
          nb::arg("order").noconvert(), nb::kw_only(), nb::arg("numerator"), nb::arg("denominator"), nb::arg("open_buckets"), nb::arg("memory_limit"),
          nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
