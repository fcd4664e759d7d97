// How many rows hold all that a row holds: for any number of known items, nobody is told apart by more than that.
//
// Every itemset that occurs is part of a row, and held by all rows that hold this one. So each of them has k holders if
// and only if each *distinct row* has (docs/coherence.md). The rows of a branch, those whose rarest item is the same,
// are asked together, as a walk down all they have in common: a cohort of rows is handed from item to item, and what is
// left of it at the end of a row is what holds it. Rows with many items in common share the walk, rows without soon
// have a cohort of their own; no row is compared with all others.
#pragma once

#include "audit/judge.hpp"

namespace veilset::auditing {

// What the rows of one branch showed.
struct RowsFound {
    WorstMoles worst;              // rows with less than k holders
    int64_t rows = 0;              // distinct ones, all in all
    int64_t smallest_support = 0;  // 0: no row
    List<int32_t> smallest;

    // What a later branch showed; of equal supports, the first stays.
    void merge(RowsFound&& other) {
        rows += other.rows;
        if (other.smallest_support && (!smallest_support || other.smallest_support < smallest_support)) {
            smallest_support = other.smallest_support;
            smallest = std::move(other.smallest);
        }
        worst.merge(std::move(other.worst));
    }
};

// Reads the branches of one thread, one after the other.
class SupersetReader {
public:
    SupersetReader(Promise promise, const Rows& rows, Control& control)
        : promise_(promise), rows_(rows), paths_(rows.paths()), control_(control), cohorts_(control), asked_(control),
          steps_(control), slot_(rows.items(), none, control), handed_(control), prefix_(control), row_(control) {}

    void read(int64_t branch, RowsFound& found) {
        found_ = &found;
        cohorts_.clear();
        asked_.clear();
        for (const Position& at : rows_.holders(branch)) {
            cohorts_.push_back(at);
            if (paths_.is_row(at.node)) asked_.push_back(at.node);
        }
        if (asked_.empty()) return;
        steps_.push_back({int32_t(branch), 0, 0, cohorts_.size(), 0, asked_.size()});
        while (!steps_.empty()) {
            control_.poll();
            const Step step = steps_.back();
            steps_.pop_back();
            prefix_.resize(step.depth);
            prefix_.push_back(step.item);
            cohorts_.resize(step.cohort_end);
            asked_.resize(step.asked_end);
            take(step);
        }
    }

private:
    // Rows that are asked about, all with the prefix of so many items before this one, and the rows that hold it.
    struct Step {
        int32_t item;
        Index depth;
        Index cohort, cohort_end, asked, asked_end;  // their parts of cohorts_ and asked_
    };
    struct Handed {
        int32_t slot;
        Position at;
    };

    void take(const Step& step) {
        const int64_t support = weight_of(View(cohorts_).between(step.cohort, step.cohort_end));
        if (step.cohort_end - step.cohort == 1) return judge(cohorts_[step.cohort].node, support);
        bool ends = false;
        items_.clear();
        for (Index q = step.asked; q < step.asked_end; ++q) {
            const int32_t next = paths_.above(asked_[q]);
            if (next == none) ends = true;
            else items_.push_back(paths_.item(next));
        }
        if (ends) judge(none, support);
        std::ranges::sort(items_);
        items_.erase(std::unique(items_.begin(), items_.end()), items_.end());
        if (!items_.empty()) go_on(step);
    }

    // Hands the cohort and the questions down to each item that comes next in a row that is asked about. The first of
    // them is taken first; with it alone, nothing is kept for later.
    void go_on(const Step& step) {
        const auto next = int32_t(items_.size());
        for (int32_t slot = 0; slot < next; ++slot) slot_[items_[slot]] = slot;
        const int32_t furthest = items_.back();
        latest_.assign(next, none);
        cohort_sizes_.assign(next, 0);
        asked_sizes_.assign(next, 0);
        handed_.clear();
        for (Index c = step.cohort; c < step.cohort_end; ++c) {
            const Position& at = cohorts_[c];
            for (int32_t node = paths_.above(at.node); node != none; node = paths_.above(node)) {
                control_.poll();
                const int32_t item = paths_.item(node);
                if (item > furthest) break;
                const int32_t slot = slot_[item];
                if (slot == none) continue;
                if (latest_[slot] != none && handed_[latest_[slot]].at.node == node) {
                    handed_[latest_[slot]].at.weight += at.weight;
                    continue;
                }
                latest_[slot] = handed_.size();
                ++cohort_sizes_[slot];
                handed_.push_back({slot, {node, at.set, at.weight}});
            }
        }
        questions_.clear();
        for (Index q = step.asked; q < step.asked_end; ++q)
            if (const int32_t node = paths_.above(asked_[q]); node != none) {
                questions_.push_back({slot_[paths_.item(node)], node});
                ++asked_sizes_[questions_.back().first];
            }
        for (int32_t item : items_) slot_[item] = none;

        const bool alone = next == 1;
        cohorts_.resize(alone ? step.cohort : step.cohort_end);
        asked_.resize(alone ? step.asked : step.asked_end);
        for (int32_t slot = next; slot-- > 0;) {
            const Index cohort = cohorts_.size(), asked = asked_.size();
            cohorts_.resize(cohort + cohort_sizes_[slot]);
            asked_.resize(asked + asked_sizes_[slot]);
            steps_.push_back({items_[slot], step.depth + 1, cohort, cohorts_.size(), asked, asked_.size()});
            cohort_sizes_[slot] = cohort;
            asked_sizes_[slot] = asked;
        }
        for (const Handed& one : handed_) cohorts_[cohort_sizes_[one.slot]++] = one.at;
        for (const auto& [slot, node] : questions_) asked_[asked_sizes_[slot]++] = node;
    }

    // The row of the prefix and what follows this node.
    void judge(int32_t node, int64_t support) {
        ++found_->rows;
        const bool smallest = !found_->smallest_support || support < found_->smallest_support;
        if (!smallest && support >= promise_.k) return;
        row_ = prefix_;
        if (node != none) paths_.for_each_item(node, [&](int32_t item, int32_t) { row_.push_back(item); });
        for (int32_t& item : row_) item = rows_.item(item);
        std::ranges::sort(row_);
        if (smallest) {
            found_->smallest_support = support;
            found_->smallest.assign(row_.begin(), row_.end());
        }
        if (support < promise_.k) found_->worst.add(row_, support, none, 0);
    }

    Promise promise_;
    const Rows& rows_;
    const Paths& paths_;
    Control& control_;
    RowsFound* found_ = nullptr;
    Vector<Position> cohorts_;
    Vector<int32_t> asked_;  // nodes
    Vector<Step> steps_;     // still to take
    Vector<int32_t> slot_;   // by item, in the step that is taken
    Vector<Handed> handed_;
    Vector<int32_t> prefix_, row_;
    List<int32_t> items_;
    List<std::pair<int32_t, int32_t>> questions_;
    List<Index> latest_, cohort_sizes_, asked_sizes_;
};

}  // namespace veilset::auditing
