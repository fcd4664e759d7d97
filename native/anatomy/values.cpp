// The values of transactions in columns of items, as numbers: equal numbers, equal sets of items.
//
// A value is not copied: what is known of it is where its first item lies in the data when it appears first, and how
// many items it has. A hash only says where to look; whether two values are equal is decided by their items.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 4096;
constexpr int32_t none = 0;  // the number of having no item of a column

using Table = nb::ndarray<nb::numpy, int32_t, nb::ndim<2>, nb::c_contig>;

// Numbers 1, 2, ... for keys in the order of their first appearance; the keys themselves are told apart by the caller.
class Numbers {
public:
    explicit Numbers(Control& control) : slots_(16, 0, control), tags_(control) {}

    int32_t size() const { return int32_t(tags_.size()); }

    // The number of a key with this hash: same(number) says whether it has one already, else it gets the next.
    template <class Same>
    int32_t find_or_add(uint64_t hash, Same same) {
        const auto tag = uint32_t(hash >> 32);
        size_t at = tag & (slots_.size() - 1);
        for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
            if (tags_[slots_[at] - 1] == tag && same(slots_[at])) return slots_[at];
        tags_.push_back(tag);
        slots_[at] = size();
        if (2 * tags_.size() > slots_.size()) grow();
        return size();
    }

private:
    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        for (size_t i = 0; i < tags_.size(); ++i) {
            size_t at = tags_[i] & (slots_.size() - 1);
            while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = int32_t(i) + 1;
        }
    }

    Vector<int32_t> slots_;
    Vector<uint32_t> tags_;
};

// The values of one column that were met so far.
class ColumnValues {
public:
    ColumnValues(std::span<const int32_t> items, std::span<const int32_t> column_of, int32_t column, Control& control)
        : items_(items), column_of_(column_of), column_(column), numbers_(control), first_(control) {}

    int32_t size() const { return numbers_.size(); }

    // The number of the value with these items, the first of which lies at `first` in the data.
    int32_t number(std::span<const int32_t> value, int64_t first) {
        uint64_t hash = value.size();
        for (int32_t item : value) hash = mix(hash + (uint64_t(item) + 1) * random_step);
        const int32_t number =
            numbers_.find_or_add(hash, [&](int32_t known) { return equal(first_[known - 1], value); });
        if (size_t(number) > first_.size()) first_.push_back({first, int32_t(value.size())});
        return number;
    }

private:
    struct First {
        int64_t at;
        int32_t size;
    };

    bool equal(const First& known, std::span<const int32_t> value) const {
        if (size_t(known.size) != value.size()) return false;
        const int32_t* item = items_.data() + known.at;
        for (size_t met = 0; met < value.size(); ++item) {
            if (column_of_[*item] != column_) continue;
            if (*item != value[met++]) return false;
        }
        return true;
    }

    std::span<const int32_t> items_, column_of_;
    int32_t column_;
    Numbers numbers_;
    Vector<First> first_;
};

// Some neighbouring columns, begin to end, along all rows.
class ColumnGroup {
public:
    ColumnGroup(const Csr& data, std::span<const int32_t> column_of, int32_t begin, int32_t end, Control& control)
        : data_(data), column_of_(column_of), begin_(begin), ends_(end - begin, 0, control),
          first_(end - begin, control), sorted_(control) {
        for (int32_t column = begin; column < end; ++column)
            columns_.emplace_back(data.items, column_of, column, control);
    }

    // The numbers of this row go to out[c * rows + row].
    void number(int64_t row, int32_t* out) {
        const auto items = data_.row(row);
        const size_t width = columns_.size();
        std::fill(ends_.begin(), ends_.end(), 0);
        for (size_t i = 0; i < items.size(); ++i) {
            const auto column = size_t(column_of_[items[i]] - begin_);  // far too large if it comes before ours
            if (column < width && ends_[column]++ == 0) first_[column] = data_.offsets[row] + int64_t(i);
        }
        size_t before = 0;
        for (size_t& end : ends_) end = std::exchange(before, before + end);
        if (sorted_.size() < before) sorted_.resize(before);
        for (int32_t item : items) {
            const auto column = size_t(column_of_[item] - begin_);
            if (column < width) sorted_[ends_[column]++] = item;
        }
        before = 0;
        for (size_t column = 0; column < width; ++column) {
            const std::span<const int32_t> value(sorted_.data() + before, ends_[column] - before);
            before = ends_[column];
            out[(size_t(begin_) + column) * size_t(data_.rows()) + size_t(row)] =
                value.empty() ? none : columns_[column].number(value, first_[column]);
        }
    }

    int32_t distinct(size_t column) const { return columns_[column].size(); }

private:
    const Csr& data_;
    std::span<const int32_t> column_of_;
    int32_t begin_;
    Vector<size_t> ends_;
    Vector<int64_t> first_;
    Vector<int32_t> sorted_;  // the row's items, column by column
    std::vector<ColumnValues> columns_;
};

void check_rows(int64_t rows) {
    if (rows >= INT32_MAX) throw std::invalid_argument("too many rows to number their values");
}

Table as_table(std::vector<int32_t>&& values, size_t columns, size_t rows) {
    auto owned = std::make_unique<std::vector<int32_t>>(std::move(values));
    int32_t* data = owned->data();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<int32_t>*>(p); });
    owned.release();
    return Table(data, {columns, rows}, owner);
}

// For each column and row the number of the row's value there: 0 for none of its items, else 1, 2, ... by first
// appearance; and for each column how many values have a number above 0.
nb::tuple column_values(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int32_t>& column_of_,
                        int32_t columns, int threads, int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, int32_t(column_of_.size()));
    const auto column_of = span_of(column_of_);
    if (columns < 0) throw std::invalid_argument("a negative number of columns");
    for (int32_t column : column_of)
        if (column < 0 || column >= columns) throw std::invalid_argument("column out of range");
    check_rows(data.rows());
    Control control(memory_limit, time_limit, std::move(progress));
    if (columns > control.limit() / 4 / std::max<int64_t>(1, data.rows())) throw OutOfMemory();  // before it overflows
    const size_t cells = size_t(columns) * size_t(data.rows());
    control.charge(int64_t(cells * sizeof(int32_t)));
    std::vector<int32_t> values(cells);
    std::vector<int64_t> distinct(columns, 0);
    // Each thread goes along all rows with columns of its own: numbers by first appearance need no agreement then.
    const int64_t groups = Control::useful(threads, columns),
                  blocks = (data.rows() + rows_per_block - 1) / rows_per_block;
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
    return nb::make_tuple(as_table(std::move(values), columns, data.rows()), to_numpy(std::move(distinct)));
}

// The numbers of the values in two columns taken as one, from their numbers in each; and how often each number occurs.
nb::tuple merged_values(const Array<int32_t>& one_, const Array<int32_t>& other_, int64_t memory_limit,
                        double time_limit, nb::object progress) {
    const auto one = span_of(one_), other = span_of(other_);
    if (one.size() != other.size()) throw std::invalid_argument("two columns of different lengths");
    check_rows(int64_t(one.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    control.charge(int64_t(one.size() * sizeof(int32_t)));
    std::vector<int32_t> values(one.size());
    std::vector<int64_t> counts;
    control.begin(0, 1);
    control.single([&] {
        Numbers numbers(control);
        Vector<uint64_t> pairs(control);
        Vector<int64_t> times(1, 0, control);
        for (size_t row = 0; row < one.size(); ++row) {
            if (row % rows_per_block == 0) control.poll();
            const uint64_t pair = uint64_t(uint32_t(one[row])) << 32 | uint32_t(other[row]);
            if (pair != 0) {
                values[row] = numbers.find_or_add(mix(pair + random_step),
                                                  [&](int32_t known) { return pairs[known - 1] == pair; });
                if (size_t(values[row]) > pairs.size()) {
                    pairs.push_back(pair);
                    times.push_back(0);
                }
            }
            ++times[values[row]];
        }
        control.charge(int64_t(times.size() * sizeof(int64_t)));
        counts.assign(times.begin(), times.end());
    });
    return nb::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(counts)));
}

}  // namespace

void register_anatomy_values(nb::module_& m) {
    m.def("column_values", &column_values, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("column_of").noconvert(), nb::arg("columns"), nb::kw_only(), nb::arg("threads"),
          nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
    m.def("merged_values", &merged_values, nb::arg("one").noconvert(), nb::arg("other").noconvert(), nb::kw_only(),
          nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
