// What the rows of a prefix give away: how many of them hold each sensitive thing, and whether that matters.
#pragma once

#include "audit/judge.hpp"

namespace veilset::auditing {

// "Any of them" is passed along like one more sensitive thing, the last, which no limit applies to.
class Carriers {
public:
    Carriers(const Judge& judge, const Rows& rows, Control& control)
        : judge_(judge), promise_(judge.promise), rows_(rows), control_(control),
          cohort_with_(rows.kinds() + 1, 0, control) {}

    int32_t any() const { return rows_.kinds(); }
    View<int32_t> seen() const { return seen_; }
    int64_t in_cohort(int32_t sensitive) const { return cohort_with_[sensitive]; }

    template <class Body>
    void for_each(const Position& at, Body body) const {
        const auto carried = rows_.sensitive(at.set);
        for (int32_t sensitive : carried) body(sensitive);
        if (!carried.empty()) body(any());
    }

    void count(View<Position> cohort) {
        for (const Position& at : cohort) {
            control_.poll();
            for_each(at, [&](int32_t sensitive) {
                if (cohort_with_[sensitive] == 0) seen_.push_back(sensitive);
                cohort_with_[sensitive] += at.weight;
            });
        }
        std::sort(seen_.begin(), seen_.end());
    }
    void forget() {
        for (int32_t sensitive : seen_) cohort_with_[sensitive] = 0;
        seen_.clear();
    }

    // Sup(Q + s) is at most `most` and, where it matters, Sup(Q) >= k: s can be passed over if even that ratio neither
    // breaks the promise nor beats the largest breach met so far.
    bool matters(int32_t sensitive, int64_t most, const Margins& margins) const {
        const Share& met = largest(sensitive, margins);
        return greater(most, promise_.k, met.with, met.support) ||
               (sensitive != any() && promise_.breaks(most, promise_.k));
    }

    void keep_larger(int32_t sensitive, int64_t with, int64_t support, View<int32_t> prefix, int32_t item,
                     Margins& margins) const {
        Share& met = sensitive == any() ? margins.any : margins.breach;
        if (greater(with, support, met.with, met.support))
            met = {with, support, sensitive == any() ? none : sensitive, judge_.named(prefix, item)};
    }

private:
    const Share& largest(int32_t sensitive, const Margins& margins) const {
        return sensitive == any() ? margins.any : margins.breach;
    }

    const Judge& judge_;
    Promise promise_;
    const Rows& rows_;
    Control& control_;
    Vector<int64_t> cohort_with_;  // rows of the cohort that hold s
    List<int32_t> seen_;           // sensitive things in the cohort
};

}  // namespace veilset::auditing
