// What the auditor of anatomies counts with: rows that are cut into columns, and the different values that it met. It
// shares nothing with the anonymizers but the CSR view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <stdexcept>

#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset {

// Rows, and how they are cut: bucket b has the rows starts[b] .. starts[b + 1] - 1.
struct CutRows {
    Csr data;
    std::span<const int64_t> starts;
    std::span<const int32_t> column_of;  // of each item
    int32_t columns;

    CutRows(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int64_t>& starts_,
            const Array<int32_t>& column_of_, size_t columns_)
        : data(offsets, items, int32_t(column_of_.size())), starts(span_of(starts_)), column_of(span_of(column_of_)),
          columns(int32_t(columns_)) {
        if (starts.empty() || starts.front() != 0 || starts.back() != data.rows())
            throw std::invalid_argument("buckets do not frame the rows");
        if (std::ranges::adjacent_find(starts, std::ranges::greater_equal()) != starts.end())
            throw std::invalid_argument("a bucket has no rows");
        if (std::ranges::any_of(column_of, [&](int32_t column) { return column < 0 || column >= columns; }))
            throw std::invalid_argument("an item is in no column");
    }

    int64_t buckets() const { return int64_t(starts.size()) - 1; }
    int64_t size(int64_t bucket) const { return starts[bucket + 1] - starts[bucket]; }

    // body(bucket, worker) for all buckets; those whose first rows are close to each other go to one thread.
    template <class Body>
    void each_bucket(Control& control, int64_t stage, int threads, Body body) const {
        constexpr int64_t rows_per_block = 4096;
        const int64_t blocks = (data.rows() + rows_per_block - 1) / rows_per_block;
        control.begin(stage, blocks);
        control.parallel(threads, blocks, [&](int64_t block, int worker) {
            auto bucket = std::ranges::lower_bound(starts, block * rows_per_block) - starts.begin();
            for (; bucket < buckets() && starts[bucket] < (block + 1) * rows_per_block; ++bucket) body(bucket, worker);
        });
    }
    int useful(int threads) const { return Control::useful(threads, data.rows() / 4096 + 1); }
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
        size_t next = 0;
        for (int32_t column : touched_) {
            first_[column] = next;
            next += count_[column];
            count_[column] = 0;
        }
        items_.resize(row.size());
        for (int32_t item : row) {
            const auto column = size_t(rows_.column_of[item]);
            items_[first_[column] + count_[column]++] = item;
        }
    }
    std::span<const int32_t> columns() const { return touched_; }
    std::span<const int32_t> value(int32_t column) const {
        return std::span(items_).subspan(count_[column] ? first_[column] : 0, count_[column]);
    }

private:
    const CutRows& rows_;
    Vector<size_t> first_, count_;
    Vector<int32_t> touched_, items_;
};

// The different values of columns, numbered in the order they were added. A hash says where to look; items decide.
template <class Tally>
class Values {
public:
    struct Entry {
        int32_t column;
        size_t first, length;  // of its items
        size_t slot;
        uint64_t hash;
        int64_t row;  // where it was met first
        Tally tally{};
    };

    explicit Values(Control& control) : slots_(size_t(1) << 8, none, control), entries_(control), items_(control) {}

    Entry& add(int32_t column, std::span<const int32_t> value, int64_t row) {
        const uint64_t mixed = hash(column, value);
        const size_t slot = place(mixed, column, value);
        if (slots_[slot] != none) return entries_[slots_[slot]];
        slots_[slot] = int64_t(entries_.size());
        entries_.push_back({column, items_.size(), value.size(), slot, mixed, row});
        items_.insert(items_.end(), value.begin(), value.end());
        if (2 * entries_.size() > slots_.size()) grow();
        return entries_.back();
    }
    const Entry* find(int32_t column, std::span<const int32_t> value) const {
        const int64_t number = slots_[place(hash(column, value), column, value)];
        return number == none ? nullptr : &entries_[number];
    }
    std::span<Entry> all() { return entries_; }
    std::span<const Entry> all() const { return entries_; }
    void clear() {
        for (const Entry& entry : entries_) slots_[entry.slot] = none;
        entries_.clear();
        items_.clear();
    }

private:
    static constexpr int64_t none = -1;

    static uint64_t hash(int32_t column, std::span<const int32_t> value) {
        uint64_t mixed = uint64_t(column) + 1;
        for (int32_t item : value) {
            mixed = (mixed ^ uint64_t(item)) * 0x9E3779B97F4A7C15u;
            mixed ^= mixed >> 29;
        }
        mixed *= 0xBF58476D1CE4E5B9u;
        return mixed ^ mixed >> 32;
    }
    size_t place(uint64_t mixed, int32_t column, std::span<const int32_t> value) const {
        size_t slot = mixed & (slots_.size() - 1);
        for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
            const Entry& entry = entries_[slots_[slot]];
            if (entry.hash == mixed && entry.column == column &&
                std::ranges::equal(std::span(items_).subspan(entry.first, entry.length), value))
                break;
        }
        return slot;
    }
    void grow() {
        Vector<int64_t> slots(2 * slots_.size(), none, slots_.get_allocator());
        for (size_t number = 0; number < entries_.size(); ++number) {
            size_t slot = entries_[number].hash & (slots.size() - 1);
            while (slots[slot] != none) slot = (slot + 1) & (slots.size() - 1);
            slots[slot] = int64_t(number);
            entries_[number].slot = slot;
        }
        slots_ = std::move(slots);
    }

    Vector<int64_t> slots_;
    Vector<Entry> entries_;
    Vector<int32_t> items_;
};

}  // namespace veilset
