// Whether a few known items reveal too much, branch after branch (audit/few_items.hpp), and how close they come to it.
//
// Each branch gets a number of steps; those that are not decided then are asked again, with more, when the caller wants
// it. So neither what is found nor the work depends on threads and batches.
#pragma once

#include "audit/few_items.hpp"
#include "audit/stages.hpp"
#include "audit/tally.hpp"

namespace veilset::auditing {

class FewItemsSearch {
public:
    FewItemsSearch(const Asked& asked, Rows& rows, Tally& tally)
        : asked_(asked), promise_(asked.promise), control_(asked.control), rows_(rows), tally_(tally),
          batches_(rows, no_work_, asked.batch_limit, asked.threads, control_) {}

    // Whether it is decided, with so many steps for each branch: an itemset is found in one of them, or none in any.
    bool decide(int64_t steps) {
        outcomes_.resize(rows_.items());
        const List<Outcome> before = outcomes_;
        each_branch(
            [&](FewItemsReader& reader, int64_t branch) {
                Outcome& outcome = outcomes_[branch];
                if (!outcome.decided) outcome = look(reader, branch, steps);
            },
            [&](int64_t branch) { outcomes_[branch] = before[branch]; });
        steps_ = checked_ = 0;
        for (const Outcome& outcome : outcomes_) {
            steps_ += outcome.steps;
            checked_ += outcome.checked;
        }
        return !found().empty() || std::ranges::all_of(outcomes_, &Outcome::decided);
    }
    // Itemsets that break the promise, one of each branch that has any; their parts may do so, too.
    Vector<Vector<int32_t>> found() const {
        Vector<Vector<int32_t>> all(control_);
        for (const Outcome& outcome : outcomes_)
            if (!outcome.items.empty())
                all.emplace_back(outcome.items.begin(), outcome.items.end(), all.get_allocator());
        return all;
    }
    // In the last round, and in those before it for what they have decided.
    int64_t steps() const { return steps_; }
    int64_t checked() const { return checked_; }

    // If the promise holds: the margins that are not known to be exact, as far as so many steps go.
    void find_margins(int64_t steps) {
        Work work;
        work.left = steps;
        auto smallest = [](FewItemsReader& reader, Margins& met) {
            for (Reached rarer; reader.ask(Question::held_by_less_than(met.smallest_support), rarer);) {
                met.smallest_support = rarer.con;
                met.smallest_items = rarer.items;
            }
        };
        auto breach = [&](FewItemsReader& reader, Margins& met) {
            for (int32_t thing : reader.things()) find_surest(reader, thing, thing, met.breach);
        };
        auto any = [&](FewItemsReader& reader, Margins& met) {
            if (!reader.things().empty()) find_surest(reader, rows_.kinds(), none, met.any);
        };
        auto& exact = tally_.exact;
        exact.smallest_support = exact.smallest_support || find_margin(work, smallest);
        exact.breach = exact.breach || find_margin(work, breach);
        exact.any = exact.any || find_margin(work, any);
    }

private:
    struct Outcome {
        bool decided = false;
        List<int32_t> items;  // empty: none was found
        int64_t steps = 0, checked = 0;
    };

    template <class Body, class Forget>
    void each_branch(Body body, Forget forget) {
        batches_.each(
            stage::few_items, 0, true, [&] { return FewItemsReader(promise_.p, rows_, control_); },
            [&](int64_t branch, FewItemsReader& reader) { body(reader, branch); }, forget);
    }

    Outcome look(FewItemsReader& reader, int64_t branch, int64_t steps) const {
        Work work;
        work.left = steps;
        Outcome outcome;
        Reached reached;
        const int64_t checked = reader.checked();
        try {
            reader.open(branch, work);
            bool found = reader.ask(Question::held_by_less_than(promise_.k), reached);
            if (promise_.can_be_breached())
                for (Index t = 0; t < reader.things().size() && !found; ++t)
                    found =
                        reader.ask(Question::surer_than(reader.things()[t], promise_.h_num, promise_.h_den), reached);
            outcome.items = std::move(reached.items);
            outcome.decided = true;
        } catch (const OutOfWork&) {  // the others may be decided all the same
        }
        outcome.steps = steps - std::max<int64_t>(0, work.left);
        outcome.checked = reader.checked() - checked;
        return outcome;
    }

    // body(reader, met) looks for what is more extreme than what was met; false if there are not enough steps, and then
    // nothing has changed.
    template <class Body>
    bool find_margin(Work& work, Body body) {
        const Margins before = tally_.all.margins;
        List<Margins> met(rows_.items(), before);
        try {
            each_branch(
                [&](FewItemsReader& reader, int64_t branch) {
                    reader.open(branch, work);
                    body(reader, met[branch]);
                },
                [&](int64_t branch) { met[branch] = before; });
        } catch (const OutOfWork&) {
            return false;
        }
        for (const Margins& one : met) tally_.all.margins.merge(one);
        return true;
    }
    static void find_surest(FewItemsReader& reader, int32_t thing, int32_t told, Share& met) {
        for (Reached surer; reader.ask(Question::surer_than(thing, met.with, met.support), surer);)
            met = {surer.pro, surer.pro + surer.con, told, surer.items};
    }

    const Asked& asked_;
    Promise promise_;
    Control& control_;
    Rows& rows_;
    Tally& tally_;
    Work no_work_;  // each branch has its own
    Batches batches_;
    List<Outcome> outcomes_;
    int64_t steps_ = 0, checked_ = 0;
};

}  // namespace veilset::auditing
