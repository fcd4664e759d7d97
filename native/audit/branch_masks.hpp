// The rows of a branch as masks: what the search for a few items reads.
//
// Only items that tell rows apart are in them: not those in all rows of the branch, and one of those that are in the
// same rows. Equal rows come once, those that hold most items first. So what is read does not depend on what else is
// loaded.
#pragma once

#include <bit>
#include <limits>

#include "audit/rows.hpp"
#include "audit/sequences.hpp"
#include "audit/work.hpp"

namespace veilset::auditing {

class BranchMasks {
public:
    BranchMasks(const Rows& rows, Control& control)
        : rows_(rows), paths_(rows.paths()), control_(control), masks_(control), size_(control), mask_of_(control) {}

    void read(int64_t branch, Work& work) {
        branch_ = branch;
        work_ = &work;
        number_items();
        read_rows();
    }

    int32_t rows() const { return int32_t(size_.size()); }
    int32_t items() const { return int32_t(items_.size()); }
    int32_t code(int32_t item) const { return rows_.item(items_[item]); }  // in the vocabulary
    const List<int32_t>& things() const { return things_; }                // that some row holds
    Index words() const { return words_; }
    View<uint64_t> mask(int32_t row) const { return View(masks_).subspan(row * words_, words_); }
    bool holds(int32_t row, int32_t item) const { return mask(row)[item >> 6] >> (item & 63) & 1; }
    Index size(int32_t row) const { return size_[row]; }
    // The row of each holder of the branch.
    View<int32_t> row_of_holders() const { return mask_of_; }

private:
    static constexpr int32_t unmet = 0;
    // Items that were in the same rows so far.
    struct Kind {
        Index size = 0, here = 0;  // how many items are of it; in the row that is read
        int32_t to = none;         // what those of the row become
        bool named = false;
    };

    // Local numbers for the items that some rows of the branch lack: one of those that are in the same rows.
    void number_items() {
        if (place_.empty()) place_.assign(rows_.items(), none);
        for (int32_t item : codes_) place_[item] = none;
        codes_.clear();
        kind_of_.clear();
        kinds_.assign(1, {std::numeric_limits<Index>::max()});  // there are always more that no row has held so far
        List<int64_t> held;
        for (const Position& at : rows_.holders(branch_)) {
            control_.poll();
            touched_.clear();
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) {
                if (place_[item] == none) {
                    place_[item] = int32_t(codes_.size());
                    codes_.push_back(item);
                    kind_of_.push_back(unmet);
                    held.push_back(0);
                }
                touched_.push_back(place_[item]);
                ++held[touched_.back()];
            });
            work_->spend(touched_.size());
            tell_apart();
        }
        List<int32_t> order(codes_.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, {}, [&](int32_t i) { return codes_[i]; });
        items_.clear();
        for (int32_t i : order) {
            const bool one_will_do = kinds_[kind_of_[i]].named || held[i] == rows_.holders(branch_).size();
            place_[codes_[i]] = one_will_do ? none : int32_t(items_.size());
            if (!one_will_do) items_.push_back(codes_[i]);
            kinds_[kind_of_[i]].named = true;
        }
        words_ = Index(items_.size() + 63) / 64;
    }
    // Items are of a kind if they were in the same rows so far. Those of a kind that a row holds part from the others.
    void tell_apart() {
        for (int32_t i : touched_) ++kinds_[kind_of_[i]].here;
        for (int32_t i : touched_) {
            const int32_t kind = kind_of_[i];
            if (kinds_[kind].to == none) {
                const bool all_of_them = kinds_[kind].here == kinds_[kind].size;
                kinds_[kind].to = all_of_them ? kind : int32_t(kinds_.size());
                if (!all_of_them) kinds_.push_back({});
            }
            kind_of_[i] = kinds_[kind].to;
            kinds_[kind_of_[i]].size += kind_of_[i] != kind;
        }
        for (int32_t kind = 0; kind < int32_t(kinds_.size()); ++kind) {
            Kind& one = kinds_[kind];
            if (one.to != none && one.to != kind && kind != unmet) one.size -= one.here;
            one.here = 0;
            one.to = none;
        }
    }
    // Those that hold most items first, so that their order does not depend on what else is loaded.
    void read_rows() {
        Sequences<uint64_t, int32_t> met(control_);
        things_.clear();
        mask_of_.clear();
        for (const Position& at : rows_.holders(branch_)) {
            control_.poll();
            mask_.assign(words_, 0);
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) {
                if (const int32_t i = place_[item]; i != none) mask_[i >> 6] |= uint64_t(1) << (i & 63);
            });
            mask_of_.push_back(int32_t(&met.add(0, mask_) - met.all().data()));
            const auto carried = rows_.sensitive(at.set);
            things_.insert(things_.end(), carried.begin(), carried.end());
            if (things_.size() > 2 * rows_.kinds()) keep_one_of_each(things_);
        }
        keep_one_of_each(things_);

        const auto all = met.all();
        List<int32_t> order(all.size());
        std::iota(order.begin(), order.end(), 0);
        List<Index> held;
        for (const auto& row : all) {
            held.push_back(0);
            for (uint64_t word : met.of(row)) held.back() += std::popcount(word);
        }
        std::ranges::sort(order, [&](int32_t a, int32_t b) {
            if (held[a] != held[b]) return held[a] > held[b];
            return std::ranges::lexicographical_compare(met.of(all[a]), met.of(all[b]));
        });
        masks_.clear();
        size_.clear();
        List<int32_t> number(all.size());
        for (int32_t row : order) {
            number[row] = int32_t(size_.size());
            const auto mask = met.of(all[row]);
            masks_.insert(masks_.end(), mask.begin(), mask.end());
            size_.push_back(held[row]);
        }
        for (int32_t& row : mask_of_) row = number[row];
        work_->spend(all.size() * words_);
    }
    static void keep_one_of_each(List<int32_t>& things) {
        std::ranges::sort(things);
        things.erase(std::unique(things.begin(), things.end()), things.end());
    }

    const Rows& rows_;
    const Paths& paths_;
    Control& control_;
    Work* work_ = nullptr;
    int64_t branch_ = 0;
    Index words_ = 0;
    List<int32_t> items_;                    // by local number: the item's own
    List<int32_t> place_, codes_, kind_of_;  // of items met: by their own number, the local one; in the order met
    List<Kind> kinds_;
    List<int32_t> touched_, things_;
    List<uint64_t> mask_;
    Vector<uint64_t> masks_;
    Vector<Index> size_;  // of each row: how many items it holds
    Vector<int32_t> mask_of_;
};

}  // namespace veilset::auditing
