// What the auditor of anatomies counts with: rows that are cut into columns, and the different values that it met. It
// shares nothing with the anonymizers but the CSR view.
#pragma once

#include "audit/sequences.hpp"
#include "core/csr.hpp"

namespace veilset {

// Rows, and how they are cut: bucket b has the rows starts[b] .. starts[b + 1] - 1.
struct CutRows {
    Csr data;
    View<int64_t> starts;
    View<int32_t> column_of;  // of each item
    int32_t columns;

    CutRows(View<int64_t> offsets, View<int32_t> items, View<int64_t> starts_, View<int32_t> column_of_, Index columns_)
        : data(offsets, items, int32_t(column_of_.size())), starts(starts_), column_of(column_of_),
          columns(int32_t(columns_)) {
        if (starts.empty() || starts.front() != 0 || starts.back() != data.rows())
            throw std::invalid_argument("buckets do not frame the rows");
        if (std::ranges::adjacent_find(starts, std::ranges::greater_equal()) != starts.end())
            throw std::invalid_argument("a bucket has no rows");
        if (std::ranges::any_of(column_of, [&](int32_t column) { return column < 0 || column >= columns; }))
            throw std::invalid_argument("an item is in no column");
    }

    Index buckets() const { return starts.size() - 1; }
    int64_t size(int64_t bucket) const { return starts[bucket + 1] - starts[bucket]; }

    // body(bucket, worker) for all buckets; those whose first rows are close to each other go to one thread.
    template <class Body>
    void each_bucket(Control& control, int64_t stage, int threads, Body body) const {
        const Index blocks = Control::blocks(data.rows(), rows_per_block);
        control.begin(stage, blocks);
        control.parallel(threads, blocks, [&](int64_t block, int worker) {
            auto bucket = std::ranges::lower_bound(starts, block * rows_per_block) - starts.begin();
            for (; bucket < buckets() && starts[bucket] < (block + 1) * rows_per_block; ++bucket) body(bucket, worker);
        });
    }
    int useful(int threads) const { return Control::useful(threads, Control::blocks(data.rows(), rows_per_block)); }

private:
    static constexpr int64_t rows_per_block = 4096;
};

// One row at a time, its items column by column. What it has in a column where it has nothing is not listed.
class Splitter {
public:
    Splitter(const CutRows& rows, Control& control)
        : rows_(rows), first_(rows.columns, 0, control), count_(rows.columns, 0, control), touched_(control),
          items_(control) {}

    void split(int64_t r) {
        for (int32_t column : touched_) count_[column] = 0;
        touched_.clear();
        const auto row = rows_.data.row(r);
        for (int32_t item : row)
            if (int32_t column = rows_.column_of[item]; count_[column]++ == 0) touched_.push_back(column);
        Index next = 0;
        for (int32_t column : touched_) {
            first_[column] = next;
            next += count_[column];
            count_[column] = 0;
        }
        items_.resize(row.size());
        for (int32_t item : row) {
            const int32_t column = rows_.column_of[item];
            items_[first_[column] + count_[column]++] = item;
        }
    }
    View<int32_t> columns() const { return touched_; }
    View<int32_t> value(int32_t column) const {
        return View(items_).subspan(count_[column] ? first_[column] : 0, count_[column]);
    }

private:
    const CutRows& rows_;
    Vector<int64_t> first_, count_;
    Vector<int32_t> touched_, items_;
};

// What limits the values of a column: see LDiverseAnatomy.rule.
struct Rule {
    static constexpr uint8_t value = 0, free = 1, sensitive = 2;
};

// The different values of columns.
template <class Tally>
using Values = auditing::Sequences<int32_t, Tally>;

}  // namespace veilset
