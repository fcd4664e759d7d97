// The rows as the auditor reads them: public items numbered from the rarest to the most frequent, sensitive ones apart.
//
// A *branch* is the itemsets whose rarest item is the same. Rows are loaded for a *batch*, the branches first .. last -
// 1: those that hold one of its items, without the items before the first. So data of any size is audited in a given
// memory, as long as one branch fits; each batch reads all transactions again.
#pragma once

#include "audit/findings.hpp"
#include "audit/paths.hpp"
#include "audit/sequences.hpp"

namespace veilset::auditing {

class Rows {
public:
    // kind[i]: which sensitive thing the item i is (several items can be the same), or none if it is public.
    // weights: for how many transactions each row stands; empty: one each.
    Rows(const Csr& data, View<int32_t> kind, int32_t kinds, Control& control, View<int64_t> weights = {})
        : data_(data), weights_(weights), control_(control), kinds_(kinds) {
        place_.reserve(kind.size());
        for (int32_t k : kind) place_.push_back(k == none ? none : sensitive_place(k));
    }

    int64_t items() const { return items_.size(); }
    int32_t kinds() const { return kinds_; }
    int32_t item(int32_t number) const { return items_[number]; }  // vocabulary code
    int64_t support(int64_t number) const { return holders_[number]; }

    // Numbers these public items (vocabulary codes) in this order; all others are left out from now on.
    void number(const Vector<int32_t>& items, View<int64_t> support) {
        unload();
        for (int32_t item : items_) place_[item] = none;
        items_ = items;
        holders_.clear();
        for (Index i = 0; i < items_.size(); ++i) {
            place_[items_[i]] = int32_t(i);
            holders_.push_back(support[items_[i]]);
        }
        sensitive_occurrences_ = 0;
        for (Index i = 0; i < place_.size(); ++i)
            if (place_[i] < none) sensitive_occurrences_ += support[i];
        end_ = items_.size();
    }
    // Only branches before this one will be asked for.
    void end_at(int64_t end) { end_ = end; }
    int64_t end() const { return end_; }

    // The loaded batch ends before this branch.
    int64_t last() const { return last_; }
    // Whether the loaded batch is all branches from this one on.
    bool all_from(int64_t first) const { return first_ == first && last_ == end_ && bytes_ > 0; }
    int64_t bytes() const { return bytes_; }

    void unload() {
        first_ = last_ = bytes_ = 0;
        paths_.clear();
        sets_ = Sets(control_);
    }

    // Loads the batch that starts at this branch: as many as so many bytes hold, but one at least. Single items are
    // judged without the items of later branches: with_later false leaves those out.
    void load(int64_t first, int64_t bytes, bool with_later) {
        unload();
        first_ = first;
        with_later_ = with_later;
        const Size size = plan(bytes);
        bytes_ = size.bytes();
        Groups<int32_t> rows(control_);
        Vector<int32_t> sets(control_);
        Vector<uint8_t> cut(control_);
        Vector<int64_t> weights(control_);
        rows.first.reserve(size.rows + 1);
        rows.values.reserve(size.items);
        sets.reserve(size.rows);
        cut.reserve(size.rows);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            const auto row = data_.row(r);
            auto in_batch = [&](int32_t item) { return place_[item] >= first_ && place_[item] < last_; };
            if (!std::any_of(row.begin(), row.end(), in_batch)) continue;
            read(row, rows, sets, cut);
            if (!weights_.empty()) weights.push_back(weights_[r]);
        }
        paths_.make(rows, sets, cut, weights, int32_t(first_), int32_t(last_));
    }

    const Paths& paths() const { return paths_; }
    View<Position> holders(int64_t branch) const { return paths_.holders(branch); }
    View<int32_t> sensitive(int32_t set) const { return sets_.of(sets_.all()[set]); }

private:
    static constexpr int64_t polled_rows = 4096;
    struct Nothing {};
    using Sets = Sequences<int32_t, Nothing>;

    // What a batch takes.
    struct Size {
        int64_t rows = 0, items = 0, sensitive = 0, holders = 0, branches = 0;
        void operator+=(const Size& other) {
            rows += other.rows;
            items += other.items;
            sensitive += other.sensitive;
            holders += other.holders;
            branches += other.branches;
        }
        int64_t bytes() const {
            return int64_t(sizeof(int64_t)) * (2 * rows + branches + 2) +
                   int64_t(sizeof(int32_t)) * (items + sensitive) + Paths::bytes(rows, items, holders);
        }
    };

    // place_ of an item: its number; none if it is left out; below that, the sensitive thing it is.
    static int32_t sensitive_place(int32_t kind) { return none - 1 - kind; }
    static int32_t kind_at(int32_t place) { return none - 1 - place; }

    // Sets last_. Everything that is left, if it surely fits; else the rows are counted at the branch that makes them
    // needed, which is the first one they have an item of. Rows with weights are fewer than supports tell.
    Size plan(int64_t bytes) {
        if (weights_.empty()) {
            Size all{data_.rows(), 0, sensitive_occurrences_, 0, end_ - first_};
            for (int64_t b = first_; b < items(); ++b) all.items += support(b);
            all.holders = all.items;
            last_ = end_;
            if (all.bytes() <= bytes) return all;
        }

        Vector<Size> needed(end_ - first_, Size{}, control_);
        for (Size& branch : needed) branch.branches = 1;
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            Size row{1};
            int32_t earliest = int32_t(end_);
            for (int32_t item : data_.row(r)) {
                const int32_t place = place_[item];
                if (place < none) ++row.sensitive;
                if (place < first_) continue;
                row.items += with_later_;
                if (place >= end_) continue;
                ++needed[place - first_].holders;
                needed[place - first_].items += !with_later_;
                earliest = std::min(earliest, place);
            }
            if (earliest < end_) needed[earliest - first_] += row;
        }
        Size taken;
        for (last_ = first_; last_ < end_; ++last_) {
            Size with = taken;
            with += needed[last_ - first_];
            if (last_ > first_ && with.bytes() > bytes) break;
            taken = with;
        }
        return taken;
    }

    void read(View<int32_t> row, Groups<int32_t>& rows, Vector<int32_t>& sets, Vector<uint8_t>& cut) {
        bool whole = true;
        carried_.clear();
        for (int32_t item : row) {
            const int32_t place = place_[item];
            if (place >= first_ && (with_later_ || place < last_)) rows.values.push_back(place);
            else if (place < none) carried_.push_back(kind_at(place));
            else whole &= place == none;
        }
        std::sort(rows.values.begin() + rows.first.back(), rows.values.end());
        rows.close();
        std::sort(carried_.begin(), carried_.end());
        carried_.erase(std::unique(carried_.begin(), carried_.end()), carried_.end());
        sets.push_back(int32_t(&sets_.add(0, carried_) - sets_.all().data()));
        cut.push_back(!whole);
    }

    const Csr& data_;
    View<int64_t> weights_;
    Control& control_;
    int32_t kinds_;
    Vector<int32_t> items_{control_};
    Vector<int32_t> place_{control_};    // by vocabulary code
    Vector<int64_t> holders_{control_};  // number -> support
    int64_t sensitive_occurrences_ = 0;
    int64_t first_ = 0, last_ = 0, end_ = 0, bytes_ = 0;
    bool with_later_ = true;
    Sets sets_{control_};  // of sensitive things, that rows hold
    List<int32_t> carried_;
    Paths paths_{control_};
};

}  // namespace veilset::auditing
