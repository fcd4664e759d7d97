// Transactions into buckets (Multi-Anatomy, Figure 2), in time linear in their number.
//
// Several buckets are open at a time. A row goes where it brings a bucket nearer to being l-diverse; the one with the
// commonest values first, because such a bucket seldom finds a match. If there is none it opens a bucket, or it waits,
// and is offered again in the end. With a single open bucket there is no choice, and this is the figure to the letter.
//
// What is left over is put into closed buckets: one that takes it as it is, or several that have to become one. Without
// sensitive items all rows together are l-diverse (merging.py sees to it), so joining ends. With them, a bucket that
// has any needs a public column in which all its rows have something, and a row may find no place: then its bucket is
// -1.
#include <limits>

#include "anatomy/buckets.hpp"
#include "core/arrays.hpp"

namespace veilset {
namespace {

using namespace anatomy;

constexpr int64_t looks_per_row = 300;  // at rows of closed buckets, for what is left over, before buckets are joined
constexpr int64_t most_tried = 8192;    // buckets, for one such row
constexpr int64_t candidates = 32;      // buckets to choose from when some have to be joined
constexpr int64_t most_joined = 8;      // of which each is chosen
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
        int64_t all = data.rows(), carriers = all - counts[0];
        if (data.rules[column] == free_if_empty) all = carriers;
        if (data.rules[column] == sensitive) std::fill(counts.begin() + 1, counts.end(), carriers);
        if (data.rules[column] != by_value) counts[0] = 0;
        for (int64_t count : counts)
            if (__int128(count) * data.num > __int128(all) * data.den)
                throw std::invalid_argument("a value is too common for any buckets");
        if (all == 0) continue;
        for (int64_t r = 0; r < data.rows(); ++r) sums[r] += double(counts[data.row(r)[column]]) / double(all);
    }
    return sums;
}

void check(const Values& data, View<int64_t> distinct, View<int64_t> order, int64_t open_buckets) {
    const auto outside = [](auto numbers, int64_t end) {
        return std::ranges::any_of(numbers, [&](auto number) { return number < 0 || number >= end; });
    };
    if (data.rules.empty() || data.values.size() % data.rules.size() != 0 || distinct.size() != data.columns())
        throw std::invalid_argument("arrays of different lengths");
    if (outside(data.rules, sensitive + 1)) throw std::invalid_argument("there is no such rule");
    if (data.den < 1 || data.num < data.den) throw std::invalid_argument("l is below 1");
    if (open_buckets < 1 || data.least_size < 1) throw std::invalid_argument("no open bucket, or no row in it");
    if (!data.limited_offsets.empty() &&
        (data.limited_offsets.size() != data.rows() + 1 || data.limited_offsets.front() != 0 ||
         data.limited_offsets.back() != data.limited.size() || !std::ranges::is_sorted(data.limited_offsets)))
        throw std::invalid_argument("offsets do not frame the limited items");
    if (outside(data.limited, data.limited_column.size()) || outside(data.limited_column, data.columns()))
        throw std::invalid_argument("a limited item is in no column");
    List<uint8_t> met(data.rows(), 0);
    if (order.size() != data.rows()) throw std::invalid_argument("the order is no order of the rows");
    for (int64_t r : order)
        if (r < 0 || r >= data.rows() || std::exchange(met[r], 1))
            throw std::invalid_argument("the order is no order of the rows");
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

    // Lines 10 to 12 of the figure, and what it leaves open: returns how many buckets had to be joined. If more rows
    // than `patience` fit into no bucket as it is, they stay without one.
    int64_t place_what_is_left(int64_t patience) {
        if (closed_.count() == 0) {
            Open all(data_);
            for (int64_t r : waiting_) all.add(r, 0);
            if (!waiting_.empty() && all.missing() == 0) closed_.append(waiting_);
            return 0;
        }
        List<int64_t> stubborn;
        int64_t looks = 0, cursor = 0;
        for (int64_t r : waiting_) {
            control_.poll();
            bool placed = false;
            for (int64_t tried = 0;
                 !placed && tried < std::min(closed_.count(), most_tried) && looks < looks_per_row * data_.rows();
                 ++tried) {
                cursor = (cursor + 1) % closed_.count();
                if ((placed = closed_.takes(cursor, r, looks))) closed_.add(cursor, r);
            }
            if (placed) continue;
            stubborn.push_back(r);
            if (stubborn.size() > patience) return 0;
        }
        const int64_t before = closed_.count();
        for (Index at = 0; at < stubborn.size(); ++at)
            if (!join_for(stubborn[at]) && !data_.has_sensitive()) {
                // No union of buckets takes it, but all rows together are l-diverse.
                while (closed_.count() > 1) closed_.join(0, closed_.count() - 1);
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
            const int64_t bucket = choose(r);
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
    int64_t choose(int64_t row) const {
        for (Index bucket : common_first_) {
            const Open& open = open_[bucket];
            if (open.rows().empty()) break;
            if (open.missing_with(row, open.missing()) < open.missing()) return bucket;
        }
        if (open_[common_first_.back()].rows().empty()) return common_first_.back();
        if (waiting_.size() < most_waiting_) return -1;
        // Where it does least harm.
        int64_t best = -1, least = Values::never / 2;
        for (Index bucket = 0; bucket < open_.size(); ++bucket)
            if (const int64_t harm = open_[bucket].missing_with(row) - open_[bucket].missing(); harm < least)
                least = harm, best = bucket;
        return best;
    }

    // Joins closed buckets until together they take the row, first those that bring it nearest; false: they do not.
    bool join_for(int64_t r) {
        Open pool(data_);
        pool.add(r, 0);
        List<int64_t> chosen;
        while (pool.missing() > 0) {
            control_.poll();
            if (chosen.size() == closed_.count() || (chosen.size() >= most_joined && data_.has_sensitive()))
                return false;
            // A pool that has grown large is compared with one bucket at a time.
            const int64_t looked_at = chosen.size() < most_joined ? std::min(candidates, closed_.count()) : 1;
            Open best = pool;
            int64_t best_bucket = -1;
            for (int64_t tried = 0; tried < looked_at || (looked_at == 1 && best_bucket < 0); ++tried) {
                join_cursor_ = (join_cursor_ + 1) % closed_.count();
                if (std::ranges::find(chosen, join_cursor_) != chosen.end()) continue;
                Open with = pool;
                closed_.for_each(join_cursor_, [&](int64_t row) { with.add(row, 0); });
                if (best_bucket >= 0 && with.missing() >= best.missing()) continue;
                best = std::move(with), best_bucket = join_cursor_;
            }
            if (best_bucket < 0) return false;
            pool = std::move(best);
            chosen.push_back(best_bucket);
        }
        // From the last on, so that those that are still to come keep their numbers.
        std::ranges::sort(chosen);
        for (; chosen.size() > 1; chosen.pop_back()) closed_.join(chosen.front(), chosen.back());
        closed_.add(chosen.front(), r);
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

// What is limited, as Python hands it over: see anatomy/limits.hpp.
struct Limited {
    Array<int64_t> offsets;
    Array<int32_t> items, column_of;
};

// The bucket of each row (numbers that mean nothing else; -1: none takes it), how many rows were left over, how many
// buckets were joined.
nb::tuple anatomy_buckets(Control& control, View<int32_t> values, View<int64_t> distinct, View<uint8_t> rules,
                          View<int64_t> rows, const Limited& limited, int64_t numerator, int64_t denominator,
                          int64_t least_size, int64_t open_buckets, int64_t patience) {
    const Values data{values,    rules,       limited.offsets, limited.items, limited.column_of,
                      numerator, denominator, least_size};
    check(data, distinct, rows, open_buckets);
    control.charge(data.rows() * int64_t(5 * sizeof(int64_t)) + open_buckets * Open::bytes(data));
    List<int64_t> numbers;
    int64_t left_over = 0, joined = 0;
    control.begin(1, data.rows());
    control.single([&] {
        const List<double> common = commonness(data, distinct, control);
        Filling filling(data, common, open_buckets, control);
        filling.fill(rows);
        left_over = filling.waiting();
        joined = filling.place_what_is_left(patience);
        numbers = filling.numbers();
    });
    return nb::make_tuple(to_numpy(std::move(numbers)), left_over, joined);
}

}  // namespace

void register_anatomy_buckets(nb::module_& m) {
    nb::class_<Limited>(m, "Limited")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int32_t>>(), nb::kw_only(), "offsets"_a, "items"_a,
             "column_of"_a);
    def_kernel(m, "buckets", anatomy_buckets, "values"_a, "distinct"_a, "rules"_a, "order"_a, "limited"_a,
               nb::kw_only(), "numerator"_a, "denominator"_a, "least_size"_a, "open_buckets"_a, "patience"_a);
}

}  // namespace veilset
