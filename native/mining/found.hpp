// Itemsets that one step of a search has found, in the codes of the vocabulary; and those of all steps as arrays.
#pragma once

#include "core/arrays.hpp"
#include "core/control.hpp"

namespace veilset::mining {

// One of the lists of each part, all in one, with the parts' own given back.
template <class Part, class T>
List<T> joined(Vector<Part>& parts, Vector<T> Part::* list, Control& control) {
    Index size = 0;
    for (const Part& part : parts) size += (part.*list).size();
    control.charge(size * int64_t(sizeof(T)));
    List<T> all;
    all.reserve(size);
    for (Part& part : parts) {
        control.poll();
        all.insert(all.end(), (part.*list).begin(), (part.*list).end());
        Vector<T>(control).swap(part.*list);
    }
    return all;
}

template <class Part>
List<int64_t> offsets_of(Vector<Part>& parts, Vector<int32_t> Part::* sizes, Control& control) {
    const List<int32_t> all = joined(parts, sizes, control);
    control.charge((all.size() + 1) * int64_t(sizeof(int64_t)));
    List<int64_t> offsets{0};
    offsets.reserve(all.size() + 1);
    for (int32_t size : all) offsets.push_back(offsets.back() + size);
    control.refund(all.size() * int64_t(sizeof(int32_t)));
    return offsets;
}

struct Found {
    Vector<int32_t> items, sizes;
    Vector<int64_t> supports;
    explicit Found(Control& control) : items(control), sizes(control), supports(control) {}
};

// Offsets, items, supports, in the order of the steps, which are emptied on the way.
inline nb::tuple as_arrays(Vector<Found>& found, Control& control) {
    List<int64_t> offsets, supports;
    List<int32_t> items;
    control.single([&] {
        offsets = offsets_of(found, &Found::sizes, control);
        items = joined(found, &Found::items, control);
        supports = joined(found, &Found::supports, control);
    });
    return to_tuple(offsets, items, supports);
}

}  // namespace veilset::mining
