// The auditor of l-diverse anatomies: in each bucket and column, the most probable value. And whether buckets have the
// values of the rows that are said to be in them. Both go along the rows; see audit/anatomy.hpp.
#include "audit/anatomy.hpp"

#include <atomic>
#include <deque>
#include <functional>

#include "audit/worst.hpp"

namespace veilset {
namespace {

// How probable it is, at most, that somebody has nothing in a column, where that is more than its share: a fraction for
// each column of each profile, as Python hands it over.
struct Nothing {
    Array<int64_t> profile_of, offsets, above, below;

    // Where those of a bucket begin, which has something in so many columns.
    int64_t first(int64_t bucket, Index columns) const {
        const int64_t profile = profile_of[bucket];
        if (profile < 0 || offsets[profile + 1] - offsets[profile] != columns)
            throw std::invalid_argument("profiles are not those of the buckets");
        return offsets[profile];
    }
};

struct Kind {
    static constexpr uint8_t value = 0, nothing = 1, item = 2, sensitive = 3;
};

// What is most probable of a column in a bucket: that somebody has the value of this row, nothing, this item or, in any
// column, a sensitive item. The greater is the worse.
struct Finding {
    int64_t bucket;
    int32_t column;
    uint8_t kind;
    int64_t rows;          // so many of them
    int64_t above, below;  // the probability
    int64_t place;         // the first row with that value, or the item

    int compared(const Finding& other) const {
        const auto mine = __int128(above) * other.below, its = __int128(other.above) * below;
        return mine > its ? 1 : mine < its ? -1 : 0;
    }
    bool operator>(const Finding& other) const {
        if (const int order = compared(other)) return order > 0;
        return bucket != other.bucket ? bucket < other.bucket : column < other.column;
    }
};

using WorstFindings = auditing::Worst<Finding, std::greater<>>;

struct Question {
    View<uint8_t> rules;    // of each column
    View<uint8_t> limited;  // of each item, whether it is limited by itself
    const Nothing& nothing;
    int64_t l_num, l_den, witness_limit;
};

// Looks at one bucket after the other.
class BucketReader {
public:
    BucketReader(const CutRows& rows, const Question& question, Control& control)
        : witnesses(question.witness_limit, {}, control), largest(1, {}, control), largest_item(1, {}, control),
          largest_sensitive(1, {}, control), rows_(rows), question_(question), control_(control),
          splitter_(rows, control), values_(control), columns_(rows.columns, {}, control), touched_(control),
          with_item_(rows.column_of.size(), 0, control), met_(control),
          by_value_(std::ranges::count(question.rules, Rule::value)) {}

    void read(int64_t bucket) {
        for (int64_t r = rows_.starts[bucket]; r < rows_.starts[bucket + 1]; ++r) {
            control_.poll();
            splitter_.split(r);
            empty += splitter_.columns().empty();
            for (int32_t column : splitter_.columns()) add(column, splitter_.value(column), r);
        }
        for (const auto& entry : values_.all())
            if (Column& column = columns_[entry.key]; column.row < 0 && entry.tally.count == column.most)
                column.row = entry.tally.row;
        for (int32_t item : met_) {
            Column& column = columns_[rows_.column_of[item]];
            column.item.take(item, with_item_[item]);
            if (question_.limited[item]) column.limited.take(item, with_item_[item]);
        }
        std::ranges::sort(touched_);
        judge(bucket);
        for (int32_t item : met_) with_item_[item] = 0;
        met_.clear();
        for (int32_t number : touched_) columns_[number] = {};
        touched_.clear();
        values_.clear();
    }
    void merge(BucketReader&& other) {
        found += other.found;
        empty += other.empty;
        witnesses.merge(std::move(other.witnesses));
        largest.merge(std::move(other.largest));
        largest_item.merge(std::move(other.largest_item));
        largest_sensitive.merge(std::move(other.largest_sensitive));
    }

    int64_t found = 0, empty = 0;  // groups where something is too probable, and rows without any item
    WorstFindings witnesses, largest, largest_item, largest_sensitive;

private:
    struct Met {
        int64_t count = 0, row = -1;  // row: the first
    };
    struct Commonest {
        int32_t item = -1;
        int64_t count = 0;

        void take(int32_t other, int64_t its) {
            if (its > count || (its == count && other < item)) *this = {other, its};
        }
    };
    struct Column {
        int64_t holders = 0, most = 0, row = -1;
        Commonest item, limited;
    };

    void add(int32_t number, View<int32_t> held, int64_t r) {
        Met& met = values_.add(number, held).tally;
        if (met.count++ == 0) met.row = r;
        Column& column = columns_[number];
        if (column.holders++ == 0) touched_.push_back(number);
        column.most = std::max(column.most, met.count);
        if (question_.rules[number] != Rule::sensitive)
            for (int32_t item : held)
                if (with_item_[item]++ == 0) met_.push_back(item);
    }
    void judge(int64_t bucket) {
        const int64_t size = rows_.size(bucket);
        bool anchored = false, in_public = false;  // whether everybody has something in some column, or a public one
        int64_t with_sensitive = 0, by_value = 0;
        int32_t first_sensitive = -1;
        for (int32_t number : touched_) {
            const bool everybody = columns_[number].holders == size;
            anchored |= everybody;
            if (question_.rules[number] == Rule::sensitive) {
                with_sensitive += columns_[number].holders;
                if (first_sensitive < 0) first_sensitive = number;
            } else in_public |= everybody;
        }
        for (Index at = 0; at < touched_.size(); ++at)
            if (question_.rules[touched_[at]] != Rule::sensitive) {
                tell_public(bucket, at, anchored);
                by_value += question_.rules[touched_[at]] == Rule::value;
            }
        for (int32_t number = 0; by_value < by_value_ && number < rows_.columns; ++number)
            if (question_.rules[number] == Rule::value && !columns_[number].holders) {
                const Finding nobody{bucket, number, Kind::nothing, size, 1, 1, -1};
                largest.add(nobody);
                tell(nobody);
                ++by_value;
            }
        if (!with_sensitive) return;
        // Several sensitive columns may meet in one row or not: their sum is as much as it can be. Somebody known to
        // have nothing public has a sensitive item.
        const int64_t share = in_public ? std::min(with_sensitive, size) : size;
        const Finding any{
            bucket, first_sensitive, Kind::sensitive, with_sensitive, share, size, columns_[first_sensitive].row};
        largest_sensitive.add(any);
        tell(any);
    }
    void tell_public(int64_t bucket, Index at, bool anchored) {
        const int32_t number = touched_[at];
        const Column& column = columns_[number];
        const bool is_value = question_.rules[number] == Rule::value;
        const int64_t size = rows_.size(bucket), among = anchored && is_value ? size : column.holders;
        Finding worst{bucket, number, Kind::value, column.most, column.most, among, column.row};
        if (is_value) {
            Finding none{bucket, number, Kind::nothing, size - column.holders, size - column.holders, size, -1};
            if (!anchored) {
                const int64_t place = question_.nothing.first(bucket, touched_.size()) + at;
                none.above = question_.nothing.above[place];
                none.below = question_.nothing.below[place];
            }
            if (none.compared(worst) > 0) worst = none;
        }
        largest.add(worst);
        const auto of_item = [&](Commonest most) {
            return Finding{bucket, number, Kind::item, most.count, most.count, among, most.item};
        };
        largest_item.add(of_item(column.item));
        if (const Finding limited = of_item(column.limited); limited.compared(worst) > 0) worst = limited;
        tell(worst);
    }
    void tell(const Finding& finding) {
        // above / below > 1 / l
        if (__int128(finding.above) * question_.l_num <= __int128(finding.below) * question_.l_den) return;
        ++found;
        witnesses.add(finding);
    }

    const CutRows& rows_;
    const Question& question_;
    Control& control_;
    Splitter splitter_;
    Values<Met> values_;
    Vector<Column> columns_;  // of this bucket
    Vector<int32_t> touched_;
    Vector<int64_t> with_item_;  // rows of this bucket, of each public item
    Vector<int32_t> met_;
    int64_t by_value_;  // columns where having nothing is a value
};

nb::dict listed(View<Finding> findings) {
    nb::dict out;
    out["bucket"] = to_numpy(findings, &Finding::bucket);
    out["column"] = to_numpy(findings, &Finding::column);
    out["kind"] = to_numpy(findings, &Finding::kind);
    out["rows"] = to_numpy(findings, &Finding::rows);
    out["above"] = to_numpy(findings, &Finding::above);
    out["below"] = to_numpy(findings, &Finding::below);
    out["place"] = to_numpy(findings, &Finding::place);
    return out;
}

void check(const CutRows& rows, const Question& question) {
    const auto& [rules, limited, nothing, l_num, l_den, witness_limit] = question;
    if (l_den < 1 || l_num < l_den) throw std::invalid_argument("l is below 1");
    if (witness_limit < 0) throw std::invalid_argument("witness_limit is negative");
    if (limited.size() != rows.column_of.size()) throw std::invalid_argument("limited items are not those of the data");
    const auto& [profile_of, offsets, above, below] = nothing;
    if (profile_of.size() != rows.buckets() || offsets.empty() || offsets.front() != 0 ||
        !std::ranges::is_sorted(offsets) || offsets.back() != above.size() || above.size() != below.size() ||
        std::ranges::any_of(profile_of, [&](int64_t profile) { return profile >= offsets.size() - 1; }))
        throw std::invalid_argument("profiles are not those of the buckets");
}

nb::tuple audit_anatomy(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> starts,
                        View<int32_t> column_of, View<uint8_t> rules, View<uint8_t> limited, const Nothing& nothing,
                        int64_t l_num, int64_t l_den, int64_t witness_limit, int threads) {
    const CutRows rows(offsets, items, starts, column_of, rules.size());
    const Question question{rules, limited, nothing, l_num, l_den, witness_limit};
    check(rows, question);
    std::deque<BucketReader> readers;  // they stay where they are
    for (int t = 0; t < rows.useful(threads); ++t) readers.emplace_back(rows, question, control);
    rows.each_bucket(control, 2, int(readers.size()),
                     [&](int64_t bucket, int worker) { readers[worker].read(bucket); });
    BucketReader& first = readers.front();
    control.single([&] {
        for (; readers.size() > 1; readers.pop_back()) first.merge(std::move(readers.back()));
    });
    return nb::make_tuple(first.found, first.empty, listed(first.witnesses.sorted()), listed(first.largest.sorted()),
                          listed(first.largest_item.sorted()), listed(first.largest_sensitive.sorted()));
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
    nb::class_<Nothing>(m, "Nothing")
        .def(nb::init<Array<int64_t>, Array<int64_t>, Array<int64_t>, Array<int64_t>>(), nb::kw_only(), "profile_of"_a,
             "offsets"_a, "above"_a, "below"_a);
    def_kernel(m, "anatomy", audit_anatomy, "offsets"_a, "items"_a, "starts"_a, "column_of"_a, "rules"_a, "limited"_a,
               "nothing"_a, nb::kw_only(), "l_num"_a, "l_den"_a, "witness_limit"_a, "threads"_a);
    def_kernel(m, "differing_values", differing_values, "offsets"_a, "items"_a, "other_offsets"_a, "other_items"_a,
               "starts"_a, "column_of"_a, nb::kw_only(), "columns"_a, "threads"_a);
}

}  // namespace veilset
