// Transactions into buckets (Multi-Anatomy, Figure 2), in time linear in their number.
//
// Several buckets are open at a time. A row goes where it brings a bucket nearer to being l-diverse; the one with the
// commonest values first, because such a bucket seldom finds a match. If there is none it opens a bucket, or it waits,
// and is offered again in the end. With a single open bucket there is no choice, and this is the figure to the letter.
//
// What is left over is put into closed buckets: one that takes it as it is, or several that have to become one. For a
// value v of column c the slack of a set of rows is den * (rows that count in c) - num * (rows with v), with
// l = num / den; a set is l-diverse iff no slack is negative, and the slack of a union is the sum. So joining closed
// buckets only ever helps, and all rows together are l-diverse if every column is feasible: no row is ever withheld.
#include <limits>

#include "anatomy/buckets.hpp"
#include "core/arrays.hpp"

namespace veilset {
namespace {

using namespace anatomy;

constexpr int64_t looks_per_row = 300;  // at rows of closed buckets, for what is left over, before buckets are joined
constexpr int64_t candidates = 64;      // buckets to choose from when some have to be joined
constexpr int64_t waiting_share = 8;    // one row in so many may wait

// How common the values of each row are: the sum of their shares in the columns. Raises if no buckets can be l-diverse.
List<double> commonness(const Values& data, View<int64_t> distinct, const Control& control) {
    List<double> sums(data.rows(), 0.0);
    for (Index column = 0; column < distinct.size(); ++column) {
        control.poll();
        List<int64_t> counts(distinct[column] + 1, 0);
        for (int64_t r = 0; r < data.rows(); ++r) {
            const int32_t value = data.row(r)[column];
            if (value < 0 || value > distinct[column]) throw std::invalid_argument("no such value in a column");
            ++counts[value];
        }
        if (data.free[column]) counts[0] = 0;
        const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
        for (int64_t count : counts)
            if (__int128(count) * data.num > __int128(all) * data.den)
                throw std::invalid_argument("a value is too common for any buckets");
        for (int64_t r = 0; r < data.rows(); ++r)
            if (const int32_t value = data.row(r)[column]; data.counts(column, value))
                sums[r] += double(counts[value]) / double(all);
    }
    return sums;
}

class Filling {
public:
    Filling(const Values& data, View<double> commonness, int64_t open_buckets, Control& control)
        : data_(data), commonness_(commonness), control_(control), closed_(data, control),
          open_(open_buckets, Open(data)), common_first_(open_.size()),
          most_waiting_(open_buckets == 1 ? 0 : data.rows() / waiting_share) {
        std::iota(common_first_.begin(), common_first_.end(), 0);
    }

    void fill(View<int64_t> order) {
        offer(order);
        // Places become free later on. Again as long as a quarter finds one, so that all this takes linear time.
        most_waiting_ = waiting_.size();
        for (Index before = 2 * waiting_.size(); !waiting_.empty() && 4 * waiting_.size() <= 3 * before;) {
            before = waiting_.size();
            offer(std::exchange(waiting_, {}));
        }
        for (const Open& open : open_) waiting_.insert(waiting_.end(), open.rows().begin(), open.rows().end());
    }

    int64_t waiting() const { return waiting_.size(); }

    // Lines 10 to 12 of the figure, and what it leaves open: returns how many buckets had to be joined.
    int64_t place_what_is_left() {
        if (closed_.count() == 0) {
            if (!waiting_.empty()) closed_.append(waiting_);
            return 0;
        }
        List<int64_t> stubborn;
        int64_t looks = 0, cursor = 0;
        for (int64_t r : waiting_) {
            control_.poll();
            bool placed = false;
            for (int64_t tried = 0; !placed && tried < closed_.count() && looks < looks_per_row * data_.rows();
                 ++tried) {
                cursor = (cursor + 1) % closed_.count();
                if ((placed = closed_.takes(cursor, data_.row(r), looks))) closed_.add(cursor, r);
            }
            if (!placed) stubborn.push_back(r);
        }
        const int64_t before = closed_.count();
        for (Index at = 0; at < stubborn.size(); ++at)
            if (!join_for(stubborn[at])) {
                // All buckets are one now, and do not take it: all rows together are l-diverse.
                for (; at < stubborn.size(); ++at) closed_.add(0, stubborn[at]);
            }
        return before - closed_.count();
    }

    List<int64_t> numbers() const {
        List<int64_t> bucket_of(data_.rows(), -1);
        for (int64_t bucket = 0; bucket < closed_.count(); ++bucket)
            closed_.for_each(bucket, [&](int64_t r) { bucket_of[r] = bucket; });
        return bucket_of;
    }

private:
    // Puts rows into open buckets, and closes those that are l-diverse.
    void offer(View<int64_t> rows) {
        for (int64_t r : rows) {
            control_.poll();
            control_.advance();
            const int64_t bucket = choose(data_.row(r));
            if (bucket < 0) {
                waiting_.push_back(r);
                continue;
            }
            Open& open = open_[bucket];
            open.add(r, commonness_[r]);
            if (open.missing() == 0) {
                closed_.append(open.rows());
                open.clear();
            }
            put_in_order(bucket);
        }
    }

    // Moves an open bucket that was changed to its place among the others: those with the commonest values first.
    void put_in_order(Index bucket) {
        common_first_.erase(std::find(common_first_.begin(), common_first_.end(), bucket));
        const auto before = [&](Index one, Index other) {
            const double common = open_[one].commonness(), than = open_[other].commonness();
            return common > than || (common == than && one < other);
        };
        common_first_.insert(std::lower_bound(common_first_.begin(), common_first_.end(), bucket, before), bucket);
    }

    // The open bucket for a row; -1: it has to wait.
    int64_t choose(View<int32_t> row) const {
        for (Index bucket : common_first_) {
            const Open& open = open_[bucket];
            if (open.rows().empty()) break;
            if (open.missing_with(row, open.missing()) < open.missing()) return bucket;
        }
        if (open_[common_first_.back()].rows().empty()) return common_first_.back();
        if (waiting_.size() < most_waiting_) return -1;
        // Where it does least harm.
        int64_t best = -1, least = std::numeric_limits<int64_t>::max();
        for (Index bucket = 0; bucket < open_.size(); ++bucket)
            if (const int64_t harm = open_[bucket].missing_with(row) - open_[bucket].missing(); harm < least)
                least = harm, best = bucket;
        return best;
    }

    // Joins closed buckets until they take the row, those that lack its values most first; false: all of them do not.
    bool join_for(int64_t r) {
        const View<int32_t> row = data_.row(r);
        int64_t into = -1, looks = 0;
        List<int64_t> slack(row.size(), 0);  // of the row with the buckets that were joined for it
        for (Index column = 0; column < row.size(); ++column)
            if (data_.counts(column, row[column])) slack[column] = data_.den - data_.num;
        while (std::any_of(slack.begin(), slack.end(), [](int64_t s) { return s < 0; })) {
            control_.poll();
            int64_t best = -1, least = std::numeric_limits<int64_t>::max();
            List<int64_t> best_slack;
            for (int64_t tried = 0; tried < std::min(candidates, closed_.count()); ++tried) {
                join_cursor_ = (join_cursor_ + 1) % closed_.count();
                if (join_cursor_ == into) continue;
                List<int64_t> with = slack;
                int64_t lack = 0;
                for (Index column = 0; column < row.size(); ++column) {
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
    View<double> commonness_;
    Control& control_;
    Closed closed_;
    List<Open> open_;
    List<Index> common_first_;  // the open buckets in order, empty ones last
    List<int64_t> waiting_;
    int64_t most_waiting_, join_cursor_ = 0;
};

// The bucket of each row (numbers that mean nothing else), how many rows were left over, how many buckets were joined.
nb::tuple anatomy_buckets(Control& control, View<int32_t> values, View<int64_t> distinct, View<uint8_t> free,
                          View<int64_t> rows, int64_t numerator, int64_t denominator, int64_t open_buckets) {
    const Values data{values, free, numerator, denominator};
    if (data.free.empty() || data.values.size() % data.free.size() != 0 || distinct.size() != free.size())
        throw std::invalid_argument("arrays of different lengths");
    if (denominator < 1 || numerator < denominator) throw std::invalid_argument("l is below 1");
    if (open_buckets < 1) throw std::invalid_argument("no open bucket");
    List<uint8_t> met(data.rows(), 0);
    for (int64_t r : rows)
        if (r < 0 || r >= data.rows() || std::exchange(met[r], 1))
            throw std::invalid_argument("the order is no order of the rows");
    if (rows.size() != data.rows()) throw std::invalid_argument("the order is no order of the rows");
    control.charge(data.rows() * int64_t(5 * sizeof(int64_t)) + open_buckets * Open::bytes(data));
    List<int64_t> numbers;
    int64_t left_over = 0, joined = 0;
    control.begin(1, data.rows());
    control.single([&] {
        const List<double> common = commonness(data, distinct, control);
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
    def_kernel(m, "buckets", anatomy_buckets, "values"_a, "distinct"_a, "free"_a, "order"_a, nb::kw_only(),
               "numerator"_a, "denominator"_a, "open_buckets"_a);
}

}  // namespace veilset
