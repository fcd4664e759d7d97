// The greedy choice: again and again the item that pays most for what it is worth.
#pragma once

#include <queue>

#include "core/control.hpp"

namespace veilset {

struct Candidate {
    int64_t count, worth;
    int32_t code, item;
    // count / worth, compared exactly; what is worth nothing pays infinitely. The code that comes first wins a tie.
    bool operator<(const Candidate& other) const {
        const auto mine = __int128(count) * other.worth, its = __int128(other.count) * worth;
        return mine != its ? mine < its : code > other.code;
    }
};

// choose(candidate) for the best, until it answers false or no count is left. Counts only fall: a candidate that is out
// of date takes its place again, and the others cannot have passed it.
template <class Count, class Choose>
void choose_greedily(std::vector<Candidate> candidates, const Control& control, Count count, Choose choose) {
    std::priority_queue<Candidate> queue({}, std::move(candidates));
    while (!queue.empty()) {
        control.poll();
        Candidate best = queue.top();
        queue.pop();
        const int64_t now = count(best.item);
        if (now == best.count) {
            if (!choose(best)) return;
        } else if (now > 0) {
            best.count = now;
            queue.push(best);
        }
    }
}

}  // namespace veilset
