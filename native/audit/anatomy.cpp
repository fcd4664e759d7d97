// The auditor of l-diverse anatomies: in each bucket and column, how many rows have the commonest value. And whether
// buckets have the values of the rows that are said to be in them. Both go along the rows; see audit/anatomy.hpp.
#include "audit/anatomy.hpp"

#include <atomic>
#include <deque>
#include <functional>

#include "audit/worst.hpp"

namespace veilset {
namespace {

// The commonest value of a column in a bucket. Its row is -1 if it is to have nothing. The greater is the worse.
struct Finding {
    int64_t bucket;
    int32_t column;
    int64_t count, size;  // size: of the bucket, or where having nothing is free, how many of it have something
    int64_t row;

    bool operator>(const Finding& other) const {
        const auto mine = __int128(count) * other.size, its = __int128(other.count) * size;
        if (mine != its) return mine > its;
        return bucket != other.bucket ? bucket < other.bucket : column < other.column;
    }
};

using WorstFindings = auditing::Worst<Finding, std::greater<>>;

// Looks at one bucket after the other.
class BucketReader {
public:
    BucketReader(const CutRows& rows, View<uint8_t> free, int64_t l_num, int64_t l_den, int64_t witness_limit,
                 Control& control)
        : witnesses(witness_limit, {}, control), largest(1, {}, control), rows_(rows), free_(free), l_num_(l_num),
          l_den_(l_den), control_(control), splitter_(rows, control), values_(control),
          columns_(rows.columns, {}, control), touched_(control), not_free_(std::ranges::count(free, 0)) {}

    void read(int64_t bucket) {
        const int64_t size = rows_.size(bucket);
        for (int64_t r = rows_.starts[bucket]; r < rows_.starts[bucket + 1]; ++r) {
            control_.poll();
            splitter_.split(r);
            for (int32_t column : splitter_.columns()) {
                Met& met = values_.add(column, splitter_.value(column)).tally;
                if (met.count == 0) met.row = r;
                add(column, ++met.count);
            }
        }
        for (const auto& value : values_.all())
            if (Column& column = columns_[value.key]; column.row < 0 && value.tally.count == column.most)
                column.row = value.tally.row;
        int64_t seen = 0;
        for (int32_t number : touched_) {
            Column& column = columns_[number];
            const bool is_free = free_[number];
            const int64_t nothing = size - column.holders;
            if (is_free) tell({bucket, number, column.most, column.holders, column.row});
            else if (nothing > column.most) tell({bucket, number, nothing, size, -1});
            else tell({bucket, number, column.most, size, column.row});
            seen += !is_free;
        }
        for (int32_t number = 0; seen < not_free_ && number < rows_.columns; ++number)
            if (!free_[number] && !columns_[number].holders) {
                tell({bucket, number, size, size, -1});
                ++seen;
            }
        for (int32_t number : touched_) columns_[number] = {};
        touched_.clear();
        values_.clear();
    }

    int64_t found = 0;
    WorstFindings witnesses, largest;

private:
    struct Met {
        int64_t count = 0, row = -1;  // row: the first
    };
    struct Column {
        int64_t holders = 0, most = 0, row = -1;
    };

    void add(int32_t number, int64_t count) {
        Column& column = columns_[number];
        if (column.holders++ == 0) touched_.push_back(number);
        column.most = std::max(column.most, count);
    }
    void tell(const Finding& finding) {
        largest.add(finding);
        // count / size > 1 / l
        if (__int128(finding.count) * l_num_ <= __int128(finding.size) * l_den_) return;
        ++found;
        witnesses.add(finding);
    }

    const CutRows& rows_;
    View<uint8_t> free_;  // of each column: whether having nothing there is free
    int64_t l_num_, l_den_;
    Control& control_;
    Splitter splitter_;
    Values<Met> values_;
    Vector<Column> columns_;  // of this bucket
    Vector<int32_t> touched_;
    int64_t not_free_;
};

nb::dict listed(View<Finding> findings) {
    nb::dict out;
    out["bucket"] = to_numpy(findings, &Finding::bucket);
    out["column"] = to_numpy(findings, &Finding::column);
    out["count"] = to_numpy(findings, &Finding::count);
    out["size"] = to_numpy(findings, &Finding::size);
    out["row"] = to_numpy(findings, &Finding::row);
    return out;
}

nb::tuple audit_anatomy(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> starts,
                        View<int32_t> column_of, View<uint8_t> free, int64_t l_num, int64_t l_den,
                        int64_t witness_limit, int threads) {
    if (l_den < 1 || l_num < l_den) throw std::invalid_argument("l is below 1");
    if (witness_limit < 0) throw std::invalid_argument("witness_limit is negative");
    const CutRows rows(offsets, items, starts, column_of, free.size());
    std::deque<BucketReader> readers;  // they stay where they are
    for (int t = 0; t < rows.useful(threads); ++t)
        readers.emplace_back(rows, free, l_num, l_den, witness_limit, control);
    rows.each_bucket(control, 1, int(readers.size()),
                     [&](int64_t bucket, int worker) { readers[worker].read(bucket); });
    BucketReader& first = readers.front();
    control.single([&] {
        for (; readers.size() > 1; readers.pop_back()) {
            first.found += readers.back().found;
            first.witnesses.merge(std::move(readers.back().witnesses));
            first.largest.merge(std::move(readers.back().largest));
        }
    });
    return nb::make_tuple(first.found, listed(first.witnesses.sorted()), listed(first.largest.sorted()));
}

// The first bucket, and there the first column, in which the rows of two data sets do not have the same values equally
// often.
nb::object differing_values(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> other_offsets,
                            View<int32_t> other_items, View<int64_t> starts, View<int32_t> column_of, int32_t columns,
                            int threads) {
    if (columns < 0) throw std::invalid_argument("the number of columns is negative");
    const CutRows mine(offsets, items, starts, column_of, columns),
        its(other_offsets, other_items, starts, column_of, columns);
    struct Reader {
        Splitter mine, its;
        Values<int64_t> values;
    };
    std::deque<Reader> readers;
    for (int t = 0; t < mine.useful(threads); ++t)
        readers.push_back({{mine, control}, {its, control}, Values<int64_t>(control)});
    std::mutex mutex;
    std::pair<int64_t, int32_t> differs{mine.buckets(), 0};
    std::atomic<int64_t> first{mine.buckets()};  // behind it nobody need look
    mine.each_bucket(control, 1, int(readers.size()), [&](int64_t bucket, int worker) {
        if (bucket > first) return;
        auto& [mine_split, its_split, values] = readers[worker];
        for (int64_t r = mine.starts[bucket]; r < mine.starts[bucket + 1]; ++r) {
            control.poll();
            mine_split.split(r);
            for (int32_t column : mine_split.columns()) ++values.add(column, mine_split.value(column)).tally;
            its_split.split(r);
            for (int32_t column : its_split.columns()) --values.add(column, its_split.value(column)).tally;
        }
        int32_t wrong = columns;
        for (const auto& value : values.all())
            if (value.tally != 0) wrong = std::min(wrong, value.key);
        values.clear();
        if (wrong == columns) return;
        std::lock_guard lock(mutex);
        differs = std::min(differs, {bucket, wrong});
        first = differs.first;
    });
    return differs.first == mine.buckets() ? nb::none() : nb::object(nb::make_tuple(differs.first, differs.second));
}

}  // namespace

void register_audit_anatomy(nb::module_& m) {
    def_kernel(m, "anatomy", audit_anatomy, "offsets"_a, "items"_a, "starts"_a, "column_of"_a, "free"_a, nb::kw_only(),
               "l_num"_a, "l_den"_a, "witness_limit"_a, "threads"_a);
    def_kernel(m, "differing_values", differing_values, "offsets"_a, "items"_a, "other_offsets"_a, "other_items"_a,
               "starts"_a, "column_of"_a, nb::kw_only(), "columns"_a, "threads"_a);
}

}  // namespace veilset
