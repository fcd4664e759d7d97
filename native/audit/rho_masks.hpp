// The search of audit/rho_search.hpp where no more than 64 items are left: rows are bits, and every node is a small
// audit of its own. What a node looks at is only the items that may still be added. Rows are shorter without the
// others, so more rows without the sensitive item hold what is left of a positive: n_t and the shares grow on the way
// down, and most branches end where no positive is open (audit/rho_item.hpp derives why). Only items of open rows need
// to be added at all: every cover of a rule that reaches the threshold has an open row, which holds all of its
// antecedent.
#pragma once

#include <bit>

#include "audit/rho_rules.hpp"
#include "audit/work.hpp"

namespace veilset::auditing {

struct MaskRow {
    uint64_t items;
    int64_t weight;
    int size = 0;  // how many items; known after project()
};
using MaskRows = Vector<MaskRow>;

class MaskSearch {
public:
    MaskSearch(Work& work, Control& control) : work_(work), control_(control), left_(control), possible_(control) {}

    // The first antecedent that reaches the threshold, or, if `surest`, the surest; with = 0 if there is none.
    struct Found {
        uint64_t items = 0;
        int64_t with = 0, without = 1;
    };
    Found run(MaskRows positives, MaskRows others, Threshold threshold, bool surest) {
        threshold_ = threshold;
        surest_ = surest;
        found_ = {};
        for (MaskRows* rows : {&positives, &others}) project(*rows, ~uint64_t(0));
        visit(std::move(positives), std::move(others), ~uint64_t(0), 0, 0);
        return found_;
    }

    int64_t checked() const { return checked_; }

private:
    // Rows are copied, sorted and compared here: each takes many times as long as one that is skipped elsewhere.
    static constexpr int64_t row_steps = 16;

    // The antecedents `known` + `added` + some of `allowed`, given the rows that hold the first two; true if the search
    // is over.
    bool visit(MaskRows positives, MaskRows others, uint64_t allowed, uint64_t known, uint64_t added) {
        control_.poll();
        work_.spend(row_steps * (1 + positives.size() + others.size()));
        // What all positives hold belongs to the antecedent: w stays, n can only fall. If another branch has it, so it
        // has this antecedent; if no rule that reaches the threshold has it, neither is this one.
        uint64_t common = ~uint64_t(0);
        for (const MaskRow& row : positives) common &= row.items;
        if (common & ~allowed & ~added) return false;
        known |= common;
        allowed &= ~common;
        std::erase_if(others, [&](const MaskRow& row) { return (common & ~row.items) != 0; });
        if (judge(known, weight_of(positives), weight_of(others))) return true;

        uint64_t open = 0;
        for (uint64_t before = 0; before != allowed;) {
            before = allowed;
            project(positives, allowed);
            project(others, allowed);
            if (share_out(positives, others, known, open)) return true;
            allowed &= open;
            if (allowed == 0) return false;
        }
        return branch(positives, others, allowed, known);
    }

    // Adds each item in turn, the rarest first; those before it are not added any more.
    bool branch(const MaskRows& positives, const MaskRows& others, uint64_t allowed, uint64_t known) {
        List<std::pair<int64_t, uint64_t>> order;
        for (uint64_t rest = allowed; rest != 0; rest &= rest - 1) {
            const uint64_t item = rest & -rest;
            order.emplace_back(
                std::ranges::count_if(positives, [&](const MaskRow& row) { return (row.items & item) != 0; }), item);
        }
        std::ranges::sort(order);
        for (const auto& [holders, item] : order) {
            allowed &= ~item;
            if (holders < 2) continue;  // all that such a row holds has been judged
            if (visit(holding(positives, item), holding(others, item), allowed, known, item)) return true;
        }
        return false;
    }

    MaskRows holding(const MaskRows& rows, uint64_t item) const {
        MaskRows held(control_);
        for (const MaskRow& row : rows)
            if (row.items & item) held.push_back(row);
        return held;
    }

    // Only these items; equal rows become one; the longest first.
    static void project(MaskRows& rows, uint64_t items) {
        for (MaskRow& row : rows) {
            row.items &= items;
            row.size = std::popcount(row.items);
        }
        std::ranges::sort(rows, [](const MaskRow& a, const MaskRow& b) {
            return a.size != b.size ? a.size > b.size : a.items < b.items;
        });
        Index kept = 0;
        for (const MaskRow& row : rows) {
            if (kept > 0 && rows[kept - 1].items == row.items) rows[kept - 1].weight += row.weight;
            else rows[kept++] = row;
        }
        rows.resize(kept);
    }

    // As Examiner::whole_rows: takes out the positives that can be in no cover, and tells the items of those that are
    // open.
    bool share_out(MaskRows& positives, const MaskRows& others, uint64_t known, uint64_t& open) {
        // A surer rule may be found on the way; what is proven for this one will do.
        const Threshold threshold = threshold_;
        const int64_t weight = weight_of(positives);
        int64_t steps = others.size();
        left_.clear();
        for (const MaskRow& row : others) left_.push_back(row.weight * threshold.unit());
        open = 0;
        possible_.clear();
        for (const MaskRow& row : positives) {
            ++checked_;
            int64_t needed = threshold.needed(row.weight), without = 0;
            bool possible = true;
            const auto shorter =
                std::ranges::partition_point(others, [&](const MaskRow& other) { return other.size >= row.size; });
            for (Index r = shorter - others.begin(); r-- > 0;) {
                ++steps;
                if (row.items & ~others[r].items) continue;
                without += others[r].weight;
                const int64_t share = std::min(needed, left_[r]);
                left_[r] -= share;
                needed -= share;
                possible = threshold.reached(weight, without);
                if (needed == 0 || !possible) break;
            }
            if (!possible) continue;
            possible_.push_back(row);
            if (needed == 0) continue;
            open |= row.items;
            int64_t with = 0;
            for (const MaskRow& other : positives) with += (row.items & ~other.items) ? 0 : other.weight;
            if (judge(known | row.items, with, without)) return true;
        }
        positives = possible_;
        work_.spend(row_steps * steps);
        return false;
    }

    bool judge(uint64_t items, int64_t with, int64_t without) {
        if (!threshold_.reached(with, without)) return false;
        found_ = {items, with, without};
        threshold_ = {with, with + without, true};
        return !surest_;
    }

    static int64_t weight_of(const MaskRows& rows) {
        int64_t sum = 0;
        for (const MaskRow& row : rows) sum += row.weight;
        return sum;
    }

    Work& work_;
    Control& control_;
    Threshold threshold_{};
    bool surest_ = false;
    Found found_;
    int64_t checked_ = 0;
    Vector<int64_t> left_;  // of each of the others, what has not been shared out
    MaskRows possible_;     // the positives that can be in a cover
};

}  // namespace veilset::auditing
