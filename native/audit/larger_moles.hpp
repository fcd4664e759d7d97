// Minimal moles of more items than were counted, out of itemsets that are known to have some.
#pragma once

#include "audit/minimal.hpp"
#include "audit/shrink.hpp"
#include "audit/stages.hpp"
#include "audit/tally.hpp"

namespace veilset::auditing {

// How many itemsets are looked at, if all rows are read for each of them: 10 in any case.
inline Index affordable(const Asked& asked) {
    constexpr int64_t most_read = 1'000'000'000;  // items
    return std::max<Index>(10, most_read / std::max<int64_t>(1, asked.data.items.size()));
}

// Parts of rows that less than k hold, each with as few.
inline Vector<Vector<int32_t>> shrunk(const Asked& asked, View<Mole> rows) {
    Control& control = asked.control;
    const Index count = std::min(rows.size(), affordable(asked));
    Vector<Vector<int32_t>> parts(count, Vector<int32_t>(control), control);
    control.begin(stage::exposed, count);
    control.parallel(asked.threads, count, [&](int64_t i, int) {
        parts[i] = Overlaps(asked.data, rows[i].items, control).identity_mole(asked.promise.k, control).items;
    });
    return parts;
}

// The minimal moles in itemsets that have one, ascending.
inline Vector<Mole> moles_of(const Asked& asked, Vector<Vector<int32_t>> exposed) {
    Control& control = asked.control;
    std::ranges::sort(exposed);
    exposed.erase(std::unique(exposed.begin(), exposed.end()), exposed.end());
    Vector<Mole> moles(control);
    control.begin(stage::exposed, exposed.size());
    control.single([&] {
        MinimalMoles minimal(asked.data, asked.kind, asked.kinds, asked.promise, control);
        for (const auto& items : exposed) {
            control.poll();
            for (Mole& mole : minimal.within(items)) moles.push_back(std::move(mole));
            control.advance();
        }
    });
    std::ranges::sort(moles, {}, &Mole::items);
    const auto same = [](const Mole& a, const Mole& b) { return a.items == b.items; };
    moles.erase(std::unique(moles.begin(), moles.end(), same), moles.end());
    return moles;
}

// Those that are larger than the moles of the levels that were counted.
inline void add_larger(const Vector<Mole>& moles, Tally& tally) {
    const Index counted = tally.identity_by_size.size();
    for (const Mole& mole : moles)
        if (mole.items.size() > counted) tally.add(mole);
}

}  // namespace veilset::auditing
