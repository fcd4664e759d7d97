// All minimal moles within a few items: every part of them is counted.
#pragma once

#include "audit/findings.hpp"
#include "core/csr.hpp"

namespace veilset::auditing {

constexpr Index most_parted = 12;  // items: 4,096 parts

// items: up to so many codes of the vocabulary, ascending; kind: which sensitive thing an item is; weights: for how
// many transactions each row stands; empty: one each.
inline Vector<Mole> moles_within(View<int32_t> items, const Csr& data, View<int32_t> kind, const Promise& promise,
                                 Control& control, View<int64_t> weights = {}) {
    struct Carried {
        int32_t thing, part;
        int64_t weight;
    };
    const Index parts = Index(1) << items.size();
    Vector<int32_t> place(data.vocabulary, none, control);
    for (Index i = 0; i < items.size(); ++i) place[items[i]] = int32_t(i);

    // Rows by what they hold of the items, and by each sensitive thing besides.
    Vector<int64_t> held(parts, 0, control);
    Vector<Carried> carried(control);
    List<int32_t> things;
    for (int64_t r = 0; r < data.rows(); ++r) {
        if (r % 4096 == 0) control.poll();
        int32_t part = 0;
        things.clear();
        for (int32_t item : data.row(r)) {
            if (place[item] != none) part |= 1 << place[item];
            if (kind[item] != none) things.push_back(kind[item]);
        }
        const int64_t weight = weights.empty() ? 1 : weights[r];
        held[part] += weight;
        if (part == 0) continue;
        std::ranges::sort(things);
        things.erase(std::unique(things.begin(), things.end()), things.end());
        for (int32_t thing : things) carried.push_back({thing, part, weight});
    }

    // From those with exactly a part to those that hold it.
    auto add_larger = [&](Vector<int64_t>& count) {
        for (Index item = 0; item < items.size(); ++item)
            for (Index part = 0; part < parts; ++part)
                if (!(part >> item & 1)) count[part] += count[part | Index(1) << item];
    };
    add_larger(held);
    Vector<int64_t> most(parts, 0, control), with(parts, 0, control);
    Vector<int32_t> sensitive(parts, none, control);
    std::ranges::sort(carried, {}, &Carried::thing);
    for (Index begin = 0, end = 0; begin < carried.size(); begin = end) {
        control.poll();
        const int32_t thing = carried[begin].thing;
        with.assign(parts, 0);
        for (; end < carried.size() && carried[end].thing == thing; ++end)
            with[carried[end].part] += carried[end].weight;
        add_larger(with);
        for (Index part = 1; part < parts; ++part)
            if (with[part] > most[part]) {
                most[part] = with[part];
                sensitive[part] = thing;
            }
    }

    Vector<Mole> moles(control);
    Vector<uint8_t> has_mole(parts, 0, control);
    for (Index part = 1; part < parts; ++part) {
        for (Index item = 0; item < items.size(); ++item)
            if (part >> item & 1) has_mole[part] |= has_mole[part & ~(Index(1) << item)];
        if (has_mole[part] || held[part] == 0) continue;
        const bool identity = held[part] < promise.k;
        if (!identity && !promise.breaks(most[part], held[part])) continue;
        has_mole[part] = 1;
        Mole mole{Vector<int32_t>(control), held[part], identity ? none : sensitive[part], identity ? 0 : most[part]};
        for (Index item = 0; item < items.size(); ++item)
            if (part >> item & 1) mole.items.push_back(items[item]);
        moles.push_back(std::move(mole));
    }
    return moles;
}

}  // namespace veilset::auditing
