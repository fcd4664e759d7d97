// Whether the promise holds for any number of known items: not itemsets decide, but distinct rows (audit/supersets.hpp)
// and, of what they give away, a search for rules (audit/inferences.hpp). What holds for any number holds for p.
#pragma once

#include "audit/inferences.hpp"
#include "audit/shrink.hpp"
#include "audit/supersets.hpp"
#include "audit/tally.hpp"

namespace veilset::auditing {

constexpr Index most_shrunk = 100;  // rows, or antecedents, of which a mole is made

class WholeRows {
public:
    WholeRows(const Asked& asked, Rows& rows, Tally& tally)
        : asked_(asked), control_(asked.control), rows_(rows), tally_(tally),
          batches_(rows, work_, asked.batch_limit, asked.threads, control_),
          merged_(asked.data, asked.kind, asked.kinds, control_),
          things_(merged_, {asked.promise.h_num, asked.promise.h_den, true}, asked.batch_limit, control_),
          found_(nobody()) {}

    // How many rows hold all of each; perhaps only until one has less than k.
    void look(bool until_exposed) {
        std::atomic<bool> over = false;
        Vector<RowsFound> found(control_);
        for (int64_t b = 0; b < rows_.items(); ++b) found.push_back(nobody());
        batches_.each(
            stage::whole_rows, 0, true, [&] { return SupersetReader(asked_.promise, rows_, control_); },
            [&](int64_t branch, SupersetReader& reader) {
                if (over) return;
                reader.read(branch, found[branch]);
                over = until_exposed && !found[branch].worst.empty();
            },
            [&](int64_t branch) { found[branch] = nobody(); });

        found_ = nobody();
        for (RowsFound& branch : found) found_.merge(std::move(branch));
        if (!over) tally_.checked += found_.rows;  // else it depends on the threads
    }
    // Those with less than k.
    WorstMoles& exposed() { return found_.worst; }

    // The row with the fewest holders has a part with as few, which is the margin; false if it has too many items.
    bool name_smallest(Index most_items) {
        Margins& margins = tally_.all.margins;
        if (found_.smallest_support >= margins.smallest_support) return true;
        const Mole part = control_.single([&] {
            return Overlaps(asked_.data, found_.smallest, control_)
                .identity_mole(found_.smallest_support + 1, control_);
        });
        if (part.items.size() > most_items) return false;
        margins.smallest_support = found_.smallest_support;
        margins.smallest_items.assign(part.items.begin(), part.items.end());
        return true;
    }

    // Whether the promise holds for any number of known items. Then these are the margins, if so many items tell as
    // much. The rows have been looked at.
    bool hold(Index most_items, const List<int64_t>& support_of_things) {
        const bool named = name_smallest(most_items);
        if (asked_.kinds > 0) {
            rows_.unload();
            control_.begin(stage::loading, 1);
            control_.single([&] { merged_.count(); });
            for (int32_t thing : ordered_by(asked_.kinds, [&](int32_t s) { return -support_of_things[s]; }))
                things_.ask(merged_.thing(thing));
            things_.decide(asked_.threads);
            tally_.checked += things_.checked();
        }
        const bool all_hold = found_.smallest_support >= asked_.promise.k && things_.all_hold();
        if (all_hold && asked_.kinds > 0) {
            Inferences any(merged_, {1, 1, true}, asked_.batch_limit, control_);  // certainty is no limit, either
            any.ask(merged_.any());
            any.decide(asked_.threads);
            const bool one = things_.find_surest(), some = any.find_surest();
            Margins& margins = tally_.all.margins;
            tally_.exact = {named, keep_larger(things_, most_items, margins.breach) && one,
                            keep_larger(any, most_items, margins.any) && some};
        }
        merged_.unload();
        return all_hold;
    }

    // False also if that takes longer than so many steps: then it may hold all the same.
    bool hold_within(int64_t steps, Index most_items, const List<int64_t>& support_of_things) {
        const int64_t checked = tally_.checked;
        look(true);
        if (found_.worst.empty()) {
            things_.take_at_most(steps);
            try {
                if (hold(most_items, support_of_things)) return true;
            } catch (const OutOfWork&) {
                merged_.unload();
            }
        }
        tally_.checked = checked;
        return false;
    }

    // Itemsets that give a thing away each, up to so many, by code.
    Vector<Vector<int32_t>> giving_away(Index most) {
        Vector<Vector<int32_t>> known(control_);
        for (const Finding& finding : things_.findings()) {
            if (!finding.broken || known.size() == most) continue;
            List<int32_t> items = finding.rule.items;
            merged_.name(items);
            known.emplace_back(items.begin(), items.end(), known.get_allocator());
        }
        return known;
    }

private:
    RowsFound nobody() const { return {{asked_.promise, most_shrunk, control_}, 0, 0, {}}; }

    // False if it has too many items.
    bool keep_larger(Inferences& inferences, Index most_items, Share& met) const {
        const Finding& most = inferences.surest();
        if (!greater(most.rule.with, most.rule.support(), met.with, met.support)) return true;
        const Rule rule = inferences.surest_in_short();
        if (rule.items.size() > most_items) return false;
        const int32_t sensitive = most.sensitive == merged_.any() ? none : most.sensitive - merged_.items();
        met = {rule.with, rule.support(), sensitive, rule.items};
        merged_.name(met.items);
        return true;
    }

    const Asked& asked_;
    Control& control_;
    Rows& rows_;
    Tally& tally_;
    Work work_;  // of comparing rows, which is not limited
    Batches batches_;
    MergedRows merged_;
    Inferences things_;
    RowsFound found_;
};

}  // namespace veilset::auditing
