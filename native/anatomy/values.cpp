// The values of transactions in columns of items, as numbers: equal numbers, equal sets of items.
//
// A value is not copied: what is known of it is where its first item lies in the data when it appears first, and how
// many items it has. A hash only says where to look; whether two values are equal is decided by their items.
#include "core/csr.hpp"
#include "core/random.hpp"
#include "mining/slots.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 4096;
constexpr int32_t none = 0;  // the number of having no item of a column

using Table = nb::ndarray<nb::numpy, int32_t, nb::ndim<2>, nb::c_contig>;

// The values of one column that were met so far.
class ColumnValues {
public:
    ColumnValues(View<int32_t> items, View<int32_t> column_of, int32_t column, Control& control)
        : items_(items), column_of_(column_of), column_(column), numbers_(control), first_(control) {}

    int32_t size() const { return numbers_.size(); }

    // The number of the value with these items, the first of which lies at `first` in the data.
    int32_t number(View<int32_t> value, int64_t first) {
        const int32_t number =
            numbers_.find_or_add(hash_of(value), [&](int32_t known) { return equal(first_[known], value); });
        if (number == first_.size()) first_.push_back({first, int32_t(value.size())});
        return number + 1;
    }

private:
    struct First {
        int64_t at;
        int32_t size;
    };

    bool equal(const First& known, View<int32_t> value) const {
        if (known.size != value.size()) return false;
        const int32_t* item = items_.data() + known.at;
        for (Index met = 0; met < value.size(); ++item) {
            if (column_of_[*item] != column_) continue;
            if (*item != value[met++]) return false;
        }
        return true;
    }

    View<int32_t> items_, column_of_;
    int32_t column_;
    Slots numbers_;
    Vector<First> first_;
};

// Some neighbouring columns, begin to end, along all rows.
class ColumnGroup {
public:
    ColumnGroup(const Csr& data, View<int32_t> column_of, int32_t begin, int32_t end, Control& control)
        : data_(data), column_of_(column_of), begin_(begin), ends_(end - begin, 0, control),
          first_(end - begin, control), sorted_(control) {
        for (int32_t column = begin; column < end; ++column)
            columns_.emplace_back(data.items, column_of, column, control);
    }

    // The numbers of this row go to out[c * rows + row].
    void number(int64_t row, int32_t* out) {
        const auto items = data_.row(row);
        const Index width = columns_.size();
        std::fill(ends_.begin(), ends_.end(), 0);
        for (Index i = 0; i < items.size(); ++i) {
            const auto column = uint32_t(column_of_[items[i]] - begin_);  // far too large if it comes before ours
            if (column < width && ends_[column]++ == 0) first_[column] = data_.offsets[row] + i;
        }
        Index before = 0;
        for (Index& end : ends_) end = std::exchange(before, before + end);
        if (sorted_.size() < before) sorted_.resize(before);
        for (int32_t item : items) {
            const auto column = uint32_t(column_of_[item] - begin_);
            if (column < width) sorted_[ends_[column]++] = item;
        }
        before = 0;
        for (Index column = 0; column < width; ++column) {
            const View<int32_t> value(sorted_.data() + before, ends_[column] - before);
            before = ends_[column];
            out[(begin_ + column) * data_.rows() + row] =
                value.empty() ? none : columns_[column].number(value, first_[column]);
        }
    }

    int32_t distinct(Index column) const { return columns_[column].size(); }

private:
    const Csr& data_;
    View<int32_t> column_of_;
    int32_t begin_;
    Vector<Index> ends_;
    Vector<int64_t> first_;
    Vector<int32_t> sorted_;  // the row's items, column by column
    List<ColumnValues> columns_;
};

void check_rows(int64_t rows) {
    if (rows >= INT32_MAX) throw std::invalid_argument("too many rows to number their values");
}

// For each column and row the number of the row's value there: 0 for none of its items, else 1, 2, ... by first
// appearance; and for each column how many values have a number above 0.
nb::tuple column_values(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> column_of,
                        int32_t columns, int threads) {
    const Csr data(offsets, items, int32_t(column_of.size()));
    if (columns < 0) throw std::invalid_argument("a negative number of columns");
    for (int32_t column : column_of)
        if (column < 0 || column >= columns) throw std::invalid_argument("column out of range");
    check_rows(data.rows());
    if (columns > control.limit() / 4 / std::max<int64_t>(1, data.rows())) throw OutOfMemory();  // before it overflows
    const Index cells = columns * data.rows();
    control.charge(cells * int64_t(sizeof(int32_t)));
    List<int32_t> values(cells);
    List<int64_t> distinct(columns, 0);
    // Each thread goes along all rows with columns of its own: numbers by first appearance need no agreement then.
    const int64_t groups = Control::useful(threads, columns), blocks = Control::blocks(data.rows(), rows_per_block);
    control.begin(0, groups * (blocks + 1));
    control.parallel(int(groups), groups, [&](int64_t g, int) {
        const auto begin = int32_t(g * columns / groups), end = int32_t((g + 1) * columns / groups);
        ColumnGroup group(data, column_of, begin, end, control);
        for (int64_t first = 0; first < data.rows(); first += rows_per_block) {
            control.poll();
            for (int64_t row = first; row < std::min(first + rows_per_block, data.rows()); ++row)
                group.number(row, values.data());
            control.advance();
        }
        for (int32_t column = begin; column < end; ++column) distinct[column] = group.distinct(column - begin);
    });
    return nb::make_tuple(to_numpy<Table>(std::move(values), {size_t(columns), size_t(data.rows())}),
                          to_numpy(std::move(distinct)));
}

// The numbers of the values in two columns taken as one, from their numbers in each; and how often each number occurs.
nb::tuple merged_values(Control& control, View<int32_t> one, View<int32_t> other) {
    if (one.size() != other.size()) throw std::invalid_argument("two columns of different lengths");
    check_rows(one.size());
    control.charge(one.size() * int64_t(sizeof(int32_t)));
    List<int32_t> values(one.size());
    List<int64_t> counts;
    control.begin(0, 1);
    control.single([&] {
        Slots numbers(control);
        Vector<uint64_t> pairs(control);
        Vector<int64_t> times(1, 0, control);
        for (Index row = 0; row < one.size(); ++row) {
            if (row % rows_per_block == 0) control.poll();
            const uint64_t pair = uint64_t(uint32_t(one[row])) << 32 | uint32_t(other[row]);
            if (pair != 0) {
                const auto same = [&](int32_t known) { return pairs[known] == pair; };
                values[row] = numbers.find_or_add(mix(pair + random_step), same) + 1;
                if (values[row] > pairs.size()) {
                    pairs.push_back(pair);
                    times.push_back(0);
                }
            }
            ++times[values[row]];
        }
        control.charge(times.size() * int64_t(sizeof(int64_t)));
        counts.assign(times.begin(), times.end());
    });
    return to_tuple(values, counts);
}

}  // namespace

void register_anatomy_values(nb::module_& m) {
    def_kernel(m, "column_values", column_values, "offsets"_a, "items"_a, "column_of"_a, "columns"_a, nb::kw_only(),
               "threads"_a);
    def_kernel(m, "merged_values", merged_values, "one"_a, "other"_a, nb::kw_only());
}

}  // namespace veilset
