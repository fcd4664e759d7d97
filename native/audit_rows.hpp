// The rows as the auditor reads them: public items numbered from the rarest to the most frequent, sensitive ones apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "audit_findings.hpp"
#include "control.hpp"
#include "csr.hpp"

namespace veilset::auditing {

// A row that holds a prefix, and where its items after the prefix start.
struct Position {
    int64_t next;
    int32_t row;
};
using Cohort = Vector<Position>;

class Rows {
public:
    Rows(const Csr& data, std::span<const uint8_t> is_sensitive, Control& control)
        : data_(data), control_(control), is_sensitive_(is_sensitive), items_(control), offsets_(control), row_items_(control),
          sens_offsets_(control), row_sensitive_(control), posting_(control), postings_(control) {
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (is_sensitive[size_t(i)]) sensitive_.push_back(i);
    }

    size_t items() const { return items_.size(); }
    int32_t sensitive() const { return int32_t(sensitive_.size()); }
    // Vocabulary codes.
    int32_t item(int32_t rank) const { return items_[size_t(rank)]; }
    int32_t sensitive_item(int32_t rank) const { return sensitive_[size_t(rank)]; }

    // Keeps these public items (vocabulary codes), in this order; all others but the sensitive ones are left out.
    void load(const Vector<int32_t>& items) {
        items_ = items;
        std::vector<int32_t> rank(size_t(data_.vocabulary), none);
        for (size_t i = 0; i < items_.size(); ++i) rank[size_t(items_[i])] = int32_t(i);
        for (size_t i = 0; i < sensitive_.size(); ++i) rank[size_t(sensitive_[i])] = int32_t(i);
        offsets_.assign(1, 0);
        sens_offsets_.assign(1, 0);
        row_items_.clear();
        row_sensitive_.clear();
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            for (int32_t item : data_.row(r))
                if (rank[size_t(item)] != none) (is_sensitive_[size_t(item)] ? row_sensitive_ : row_items_).push_back(rank[size_t(item)]);
            std::sort(row_items_.begin() + offsets_.back(), row_items_.end());
            offsets_.push_back(int64_t(row_items_.size()));
            sens_offsets_.push_back(int64_t(row_sensitive_.size()));
        }
        index();
    }

    Cohort everybody() const {
        Cohort cohort(control_);
        for (int64_t r = 0; r < data_.rows(); ++r) cohort.push_back({offsets_[size_t(r)], int32_t(r)});
        return cohort;
    }
    Cohort holders(int64_t item) const {
        return Cohort(postings_.begin() + posting_[size_t(item)], postings_.begin() + posting_[size_t(item) + 1], control_);
    }

    // body(item, position after it) for the items that follow in a row.
    template <class Body>
    void for_each_item(const Position& at, Body body) const {
        const int64_t end = offsets_[size_t(at.row) + 1];
        for (int64_t i = at.next; i < end; ++i) body(row_items_[size_t(i)], Position{i + 1, at.row});
    }
    template <class Body>
    void for_each_sensitive(const Position& at, Body body) const {
        const int64_t end = sens_offsets_[size_t(at.row) + 1];
        for (int64_t i = sens_offsets_[size_t(at.row)]; i < end; ++i) body(row_sensitive_[size_t(i)]);
    }

private:
    // For each item, the rows that hold it and where they go on.
    void index() {
        posting_.assign(items_.size() + 1, 0);
        for (int32_t item : row_items_) ++posting_[size_t(item) + 1];
        std::partial_sum(posting_.begin(), posting_.end(), posting_.begin());
        postings_.assign(row_items_.size(), Position{});
        std::vector<int64_t> next(posting_.begin(), posting_.end() - 1);
        for (const Position& start : everybody())
            for_each_item(start, [&](int32_t item, Position after) { postings_[size_t(next[size_t(item)]++)] = after; });
    }

    const Csr& data_;
    Control& control_;
    std::span<const uint8_t> is_sensitive_;
    std::vector<int32_t> sensitive_;
    Vector<int32_t> items_;
    Vector<int64_t> offsets_;
    Vector<int32_t> row_items_;
    Vector<int64_t> sens_offsets_;
    Vector<int32_t> row_sensitive_;
    Vector<int64_t> posting_;  // item -> its part of postings_
    Vector<Position> postings_;
};

}  // namespace veilset::auditing
