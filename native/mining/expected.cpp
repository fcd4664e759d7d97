// What transactions in buckets tell of itemsets that reach over several columns: the supports that are to be expected
// where, inside a bucket, any value of a column may belong to any value of the others.
#include <bit>
#include <optional>

#include "mining/holders.hpp"

namespace veilset {
namespace {

// How many rows of one bucket hold something; buckets without any are left out.
struct Count {
    int32_t bucket;
    int32_t rows;
};

// How many rows of one bucket are expected to hold an itemset.
struct Expected {
    int32_t bucket;
    double rows;
};

// Bucket b has the rows starts[b] to starts[b + 1].
using Starts = View<int64_t>;

// For each item that is asked for, its counts.
class ItemCounts {
public:
    ItemCounts(const Csr& data, Starts starts, const Holders& holders, Control& control)
        : first_(Index(data.vocabulary) + 1, 0, control), counts_(control) {
        Vector<int32_t> last(data.vocabulary, none, control);
        each(data, starts, holders, control, [&](Index item, int32_t bucket) {
            first_[item + 1] += last[item] != bucket;
            last[item] = bucket;
        });
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        counts_.resize(first_.back());
        Vector<int64_t> next(first_.begin(), first_.end(), control);
        std::fill(last.begin(), last.end(), none);
        each(data, starts, holders, control, [&](Index item, int32_t bucket) {
            if (last[item] != bucket) counts_[next[item]++] = {bucket, 0};
            ++counts_[next[item] - 1].rows;
            last[item] = bucket;
        });
    }

    View<Count> of(int32_t item) const { return part(counts_, first_, item); }

private:
    template <class Found>
    static void each(const Csr& data, Starts starts, const Holders& holders, Control& control, Found found) {
        for (Index b = 0; b + 1 < starts.size(); ++b) {
            control.poll();
            for (int64_t r = starts[b]; r < starts[b + 1]; ++r)
                for (int32_t item : data.row(r))
                    if (holders.rank(item) != none) found(item, int32_t(b));
        }
    }

    Vector<int64_t> first_;  // item -> where its counts begin
    Vector<Count> counts_;
};

int64_t ones_between(const uint64_t* bits, int64_t first, int64_t last) {
    int64_t count = 0;
    while (first < last) {
        const int64_t here = std::min(64 - first % 64, last - first);  // 1 to 64 of one word
        count += std::popcount(bits[first / 64] >> (first % 64) << (64 - here));
        first += here;
    }
    return count;
}

void count_by_bucket(const Cover& cover, Starts starts, Vector<Count>& counts) {
    counts.clear();
    if (cover.bits) {
        for (Index b = 0; b + 1 < starts.size(); ++b)
            if (const int64_t rows = ones_between(cover.bits, starts[b], starts[b + 1]))
                counts.push_back({int32_t(b), int32_t(rows)});
        return;
    }
    Index bucket = 0;
    for (Index at = 0; at < cover.rows.size();) {
        while (starts[bucket + 1] <= cover.rows[at]) ++bucket;
        const Index first = at;
        while (at < cover.rows.size() && cover.rows[at] < starts[bucket + 1]) ++at;
        counts.push_back({int32_t(bucket), int32_t(at - first)});
    }
}

// The rows that are expected to hold both, where both have some.
void multiply(View<Expected> before, View<Count> counts, Starts starts, Vector<Expected>& both) {
    both.resize(std::min(before.size(), counts.size()) + 1);
    Index found = 0;
    for (Index i = 0, j = 0; i < before.size() && j < counts.size();) {
        const int32_t a = before[i].bucket, b = counts[j].bucket;
        both[found] = {a, before[i].rows * counts[j].rows};  // without a branch: most guesses would be wrong
        found += a == b;
        i += a <= b;
        j += b <= a;
    }
    both.resize(found);
    for (auto& [bucket, rows] : both) rows /= double(starts[bucket + 1] - starts[bucket]);
}

// Itemsets one after the other, column by column, and in a column rarest item first. What was found of the prefixes is
// kept.
class Expectation {
public:
    Expectation(const Holders& holders, const ItemCounts& counts, View<int32_t> columns, Starts starts,
                Control& control)
        : holders_(holders), counts_(counts), columns_(columns), starts_(starts), control_(control),
          rarest_(columns.size(), none, control) {}

    double support(View<int32_t> itemset) {
        order(itemset);
        Index same = 0;
        while (same < depth_ && same < wanted_.size() && levels_[same]->item == wanted_[same]) ++same;
        depth_ = same;
        while (depth_ < wanted_.size()) push(wanted_[depth_]);
        if (depth_ == 0) return double(holders_.count());
        double sum = 0;
        for (const Expected& part : expected(depth_ - 1)) sum += part.rows;
        return sum;
    }

private:
    // The items of an itemset up to one of them.
    struct Level {
        int32_t item = none;
        Index first = 0;  // the level where its column begins
        Cover cover;      // of its items in this column
        CoverBuffer buffer;
        Vector<Count> counts;
        Vector<Expected> expected;  // of all its items, if known
        bool known = false;
        explicit Level(Control& control) : buffer(control), counts(control), expected(control) {}
    };

    // The itemset by columns. The column with the rarest item comes first: what follows is short then, and itemsets
    // that share their rarest items, as the search for frequent ones lists them, begin in the same way.
    void order(View<int32_t> itemset) {
        wanted_.assign(itemset.begin(), itemset.end());
        std::ranges::sort(wanted_, {}, [&](int32_t item) { return holders_.rank(item); });
        for (Index at = wanted_.size(); at-- > 0;) rarest_[column(wanted_[at])] = holders_.rank(wanted_[at]);
        std::ranges::stable_sort(wanted_, {}, [&](int32_t item) { return rarest_[column(item)]; });
    }

    Index column(int32_t item) const { return columns_[item]; }

    void push(int32_t item) {
        control_.poll();
        if (levels_.size() == depth_) levels_.push_back(std::make_unique<Level>(control_));
        Level& level = *levels_[depth_];
        const Cover cover = holders_.cover(holders_.rank(item));
        level.item = item;
        level.known = false;
        level.first = depth_;
        level.cover = cover;
        if (depth_ > 0 && column(levels_[depth_ - 1]->item) == column(item)) {
            level.first = levels_[depth_ - 1]->first;
            level.cover = meet(levels_[depth_ - 1]->cover, cover, level.buffer, holders_.words());
        }
        ++depth_;
    }

    // For each bucket, the rows that are expected to hold all items up to this level, where any are.
    View<Expected> expected(Index depth) {
        Level& level = *levels_[depth];
        if (level.known) return level.expected;
        View<Count> counts = counts_.of(level.item);
        if (level.first != depth) {  // several items of one column
            count_by_bucket(level.cover, starts_, level.counts);
            counts = level.counts;
        }
        if (level.first == 0) {
            level.expected.clear();
            for (const auto& [bucket, rows] : counts) level.expected.push_back({bucket, double(rows)});
        } else {
            multiply(expected(level.first - 1), counts, starts_, level.expected);
        }
        level.known = true;
        return level.expected;
    }

    const Holders& holders_;
    const ItemCounts& counts_;
    View<int32_t> columns_;
    Starts starts_;
    Control& control_;
    List<int32_t> wanted_;
    Vector<int32_t> rarest_;  // column -> rank of the rarest item that the itemset has there
    List<std::unique_ptr<Level>> levels_;
    Index depth_ = 0;  // levels that belong to the itemset
};

void check_anatomy(const Csr& data, View<int32_t> columns, Starts starts) {
    if (columns.size() != data.vocabulary) throw std::invalid_argument("not one column for each item");
    for (int32_t column : columns)
        if (column < 0 || column >= data.vocabulary) throw std::invalid_argument("more columns than items");
    if (starts.empty() || starts.size() > INT32_MAX || starts.front() != 0 || starts.back() != data.rows())
        throw std::invalid_argument("buckets do not frame the rows");
    for (Index b = 1; b < starts.size(); ++b)
        if (starts[b] <= starts[b - 1]) throw std::invalid_argument("a bucket without rows");
}

Output<double> expected_supports(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                                 View<int32_t> columns, View<int64_t> starts, View<int64_t> asked_offsets,
                                 View<int32_t> asked_items, int threads) {
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    check_anatomy(data, columns, starts);
    control.charge(8 * asked.rows());
    List<double> answer(asked.rows());
    std::optional<Holders> holders;
    std::optional<ItemCounts> counts;
    control.single([&] {
        holders.emplace(data, asked.items, control);
        counts.emplace(data, starts, *holders, control);
    });
    List<std::unique_ptr<Expectation>> workers(Control::useful(threads, asked.rows()));
    const Index block = std::clamp<Index>(asked.rows() / 64, 1, 1024);
    control.in_blocks(1, threads, asked.rows(), block, [&](Index i, int worker) {
        auto& expectation = workers[worker];
        if (!expectation) expectation = std::make_unique<Expectation>(*holders, *counts, columns, starts, control);
        answer[i] = expectation->support(asked.row(i));
    });
    return to_numpy(std::move(answer));
}

}  // namespace

void register_mining_expected(nb::module_& m) {
    def_kernel(m, "expected_supports", expected_supports, "offsets"_a, "items"_a, "vocabulary"_a, "columns"_a,
               "starts"_a, "asked_offsets"_a, "asked_items"_a, nb::kw_only(), "threads"_a);
}

}  // namespace veilset
