// Which of some sensitive things an attacker can infer, whatever is known of a person (audit/rho.cpp explains the
// steps).
#pragma once

#include <deque>
#include <limits>

#include "audit/rho_item.hpp"
#include "audit/rho_rows.hpp"
#include "audit/rho_search.hpp"
#include "audit/stages.hpp"

namespace veilset::auditing {

// What is known about one sensitive item or thing.
struct Finding {
    int32_t sensitive;
    bool broken = false;
    Rule rule;  // a violation, or the surest rule met so far
};

class Inferences {
public:
    // batch_limit: in bytes, of the rows that are loaded at a time; 0: as the memory allows.
    Inferences(MergedRows& rows, Threshold limit, int64_t batch_limit, Control& control)
        : rows_(rows), limit_(limit), batch_limit_(batch_limit), control_(control), findings_(control) {}

    // What is asked about; the longest work comes first, so that it is not left to the end, when other threads are
    // idle.
    void ask(int32_t sensitive) { findings_.push_back({sensitive, false, {}}); }

    // As many steps for steps 1 and 2; if those are not enough, OutOfWork is thrown.
    void take_at_most(int64_t steps) { work_.left = steps; }

    // Steps 1 and 2: whether each can be inferred.
    void decide(int threads) {
        threads_ = threads;
        const int64_t before = work_.left;
        in_batches(0, findings_.size(), [&](Index first, Index last) {
            each(stage::single_items, first, last,
                 [&](Finding& finding, Examiner& examiner) { start(finding, examiner); });
            each(stage::any_knowledge, first, last,
                 [&](Finding& finding, Examiner& examiner) { decide(finding, examiner); });
        });
        proof_ = before - work_.left;
    }
    // The same by a worker that is at work already, until one can be.
    void decide_here() {
        rows_.load(asked(0, findings_.size()));
        hire(1);
        for (Finding& finding : findings_) {
            control_.poll();
            Examiner& examiner = examiners_.back();
            examiner.begin(finding.sensitive);
            start(finding, examiner);
            decide(finding, examiner);
            examiner.end();
            if (finding.broken) return;
        }
    }
    bool all_hold() const { return std::ranges::none_of(findings_, &Finding::broken); }

    // Step 3, branch and bound: only what is surer than the surest rule met is looked for. The items of a round all
    // start from what the rounds before it have found, so that neither the rule found nor the work depends on threads
    // and batches; each round has as many items as those before it, but 64 at least. It takes no more steps than the
    // proof took, or 20 milliseconds; false if those were not enough. Then there may be surer rules than what earlier
    // rounds have found, but none that reaches the limit. src/veilset/audit/rho_spread.py does the same with shares.
    bool find_surest() {
        constexpr Index first_round = 64;
        constexpr int64_t a_moment = 20'000'000;
        margin_ = std::max(proof_, a_moment);
        int64_t left = margin_;
        for (Index first = 0; first < findings_.size();) {
            const Index last = std::min(std::max(2 * first, first_round), findings_.size());
            const int64_t steps = find_surer(first, last, surest().rule, left, threads_);
            if (steps > left) return false;
            left -= steps;
            first = last;
        }
        margin_ -= left;
        return true;
    }
    // What is surer than a rule, for the findings first .. last - 1. The answer is the number of steps, or one more
    // than those that are left: then nothing has changed.
    int64_t find_surer(Index first, Index last, const Rule& than, int64_t left, int threads) {
        threads_ = threads;
        const Threshold known = above(than);
        const List<Finding> before(findings_.begin() + first, findings_.begin() + last);
        const int64_t checked_before = checked();
        work_.left = left;
        try {
            in_batches(first, last, [&](Index from, Index to) {
                each(stage::margin, from, to, [&](Finding& finding, Examiner& examiner) {
                    Threshold wanted = known;
                    for (Rule rule; wanted.reached(rule = examiner.whole_rows(wanted, true));
                         wanted = above(finding.rule))
                        finding.rule = std::move(rule);
                    if (Rule rule = examiner.search(wanted, true); rule.with > 0) finding.rule = std::move(rule);
                });
            });
        } catch (const OutOfWork&) {
            std::ranges::copy(before, findings_.begin() + first);
            examiners_.clear();  // they stopped amid their work
            checked_ = checked_before;
            work_.left = any_work;
            return left + 1;
        }
        return left - work_.left.exchange(any_work);
    }
    // How many steps the proof took, and the search for the surest rule.
    std::pair<int64_t, int64_t> steps() const { return {proof_, margin_}; }

    // Of those that are equal, the first in this order.
    const Finding& surest() const {
        return *std::ranges::max_element(findings_,
                                         [](const Finding& a, const Finding& b) { return b.rule.surer_than(a.rule); });
    }

    // A rule as sure as the surest, and short.
    Rule surest_in_short() {
        const Finding& finding = surest();
        const Rule& rule = finding.rule;
        if (rule.items.size() < 2) return rule;
        return control_.single([&] {
            rows_.load(View(&finding.sensitive, 1));
            hire(1);
            Examiner& examiner = examiners_.front();
            examiner.begin(finding.sensitive);
            Rule shorter = examiner.shortened(rule.items, {rule.with, rule.support(), false});
            examiner.end();
            return shorter;
        });
    }

    Vector<Finding>& findings() { return findings_; }
    int64_t checked() const {
        int64_t sum = checked_;
        for (const Examiner& examiner : examiners_) sum += examiner.checked();
        return sum;
    }

private:
    // For the rows that are loaded now.
    void hire(int threads) {
        checked_ = checked();
        examiners_.clear();
        for (int t = 0; t < threads; ++t) examiners_.emplace_back(rows_, work_, control_);
    }

    List<int32_t> asked(Index first, Index last) const {
        List<int32_t> numbers;
        for (Index i = first; i < last; ++i) numbers.push_back(findings_[i].sensitive);
        return numbers;
    }

    // body(from, to) for the findings first .. last - 1, with the rows that they need: all at once, or in as many
    // batches as the memory takes. What is found about one does not depend on its batch.
    template <class Body>
    void in_batches(Index first, Index last, Body body) {
        while (first < last) {
            const Index to = std::min(first + batch_, last);
            const List<Finding> before(findings_.begin() + first, findings_.begin() + to);
            const int64_t checked_before = checked(), work_left = work_.left;
            bool fits = true;
            try {
                control_.begin(stage::loading, 1);
                control_.single([&] { rows_.load(asked(first, to)); });
                fits = batch_limit_ == 0 || rows_.bytes() <= batch_limit_ || to - first == 1;
                if (fits) {
                    hire(Control::useful(threads_, to - first));
                    body(first, to);
                    first = to;
                }
            } catch (const OutOfMemory&) {
                if (to - first == 1) throw;
                std::ranges::copy(before, findings_.begin() + first);
                work_.left = work_left;
                checked_ = checked_before;
                fits = false;
            }
            if (fits) continue;
            examiners_.clear();
            rows_.unload();
            batch_ = std::max<Index>(1, (to - first) / 2);
        }
        hire(0);
    }

    // body(finding, examiner) for the sensitive items first .. last - 1. What is found about one does not depend on the
    // others.
    template <class Body>
    void each(int64_t which, Index first, Index last, Body body) {
        control_.begin(which, findings_.size(), first);
        control_.parallel(int(examiners_.size()), last - first, [&](int64_t index, int worker) {
            Finding& finding = findings_[first + index];
            Examiner& examiner = examiners_[worker];
            examiner.begin(finding.sensitive);
            body(finding, examiner);
            examiner.end();
        });
    }

    static Threshold above(const Rule& rule) { return {rule.with, rule.support(), true}; }

    void start(Finding& finding, Examiner& examiner) const {
        finding.rule = examiner.simplest();
        finding.broken = limit_.reached(finding.rule);
    }
    void decide(Finding& finding, Examiner& examiner) const {
        if (finding.broken) return;
        Rule rule = examiner.whole_rows(limit_, false);
        if (!limit_.reached(rule)) {
            if (rule.surer_than(finding.rule)) finding.rule = std::move(rule);
            rule = examiner.search(limit_, false);
        }
        finding.broken = limit_.reached(rule);
        if (finding.broken) finding.rule = examiner.shortened(rule.items, limit_);
    }

    MergedRows& rows_;
    Threshold limit_;
    int64_t batch_limit_;
    Control& control_;
    int threads_ = 1;
    Index batch_ = std::numeric_limits<int32_t>::max();  // how many findings fit into the memory together
    Work work_;
    int64_t proof_ = 0, margin_ = 0;  // steps
    int64_t checked_ = 0;             // by examiners that are gone
    Vector<Finding> findings_;
    std::deque<Examiner> examiners_;  // they stay where they are
};

}  // namespace veilset::auditing
