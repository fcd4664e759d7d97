// What the parts of the auditor of coherence work on, and what they have found together.
#pragma once

#include "audit/batches.hpp"
#include "audit/judge.hpp"

namespace veilset::auditing {

struct Asked {
    const Csr& data;
    View<int32_t> kind;  // of each item: which sensitive thing it is, none if it is public
    int32_t kinds;
    Promise promise;
    Index witnesses;  // so many moles are told
    int64_t batch_limit;
    int threads;
    Control& control;

    Found nothing() const {
        return {{promise, witnesses, control}, {}, 0, 0, 0, Vector<int32_t>(control), Vector<int64_t>(control),
                Vector<int32_t>(control)};
    }
};

struct Tally {
    Found all;                                          // margins and the worst moles
    List<int64_t> identity_by_size, attribute_by_size;  // minimal moles
    int64_t checked = 0;
    bool complete = true;  // all minimal moles were counted
    struct {
        bool smallest_support = true, breach = true, any = true;
    } exact;  // the margins, if the promise holds

    explicit Tally(const Asked& asked) : all(asked.nothing()) {}

    bool no_mole() const {
        auto none_in = [](const List<int64_t>& counts) {
            return std::ranges::all_of(counts, [](auto n) { return !n; });
        };
        return none_in(identity_by_size) && none_in(attribute_by_size);
    }
    // Of a level that was not counted to its end, and had no mole so far.
    void forget_sizes(Index counted) {
        for (auto* by_size : {&identity_by_size, &attribute_by_size}) by_size->resize(counted);
    }
    // A mole that is larger than those of the levels that were counted.
    void add(const Mole& mole) {
        const Index size = mole.items.size(), largest = std::max<Index>(size, identity_by_size.size());
        for (auto* by_size : {&identity_by_size, &attribute_by_size}) by_size->resize(largest, 0);
        all.worst.add(mole.items, mole.support, mole.sensitive, mole.with);
        ++(mole.sensitive == none ? identity_by_size : attribute_by_size)[size - 1];
    }
};

}  // namespace veilset::auditing
