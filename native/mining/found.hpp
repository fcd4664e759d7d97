// Itemsets that one step of a search has found, in the codes of the vocabulary; and those of all steps as arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "core/arrays.hpp"
#include "core/control.hpp"

namespace veilset::mining {

struct Found {
    Vector<int32_t> items, sizes;
    Vector<int64_t> supports;
    explicit Found(Control& control) : items(control), sizes(control), supports(control) {}
};

// Offsets, items, supports, in the order of the steps, which are emptied on the way.
inline nb::tuple as_arrays(Vector<Found>& found, Control& control) {
    std::vector<int64_t> offsets{0}, supports;
    std::vector<int32_t> items;
    control.single([&] {
        size_t count = 0, entries = 0;
        for (const Found& f : found) {
            count += f.sizes.size();
            entries += f.items.size();
        }
        control.charge(int64_t(count * 16 + entries * 4));
        offsets.reserve(count + 1);
        supports.reserve(count);
        items.reserve(entries);
        for (Found& f : found) {
            control.poll();
            for (int32_t size : f.sizes) offsets.push_back(offsets.back() + size);
            items.insert(items.end(), f.items.begin(), f.items.end());
            supports.insert(supports.end(), f.supports.begin(), f.supports.end());
            f = Found(control);
        }
    });
    return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(items)), to_numpy(std::move(supports)));
}

}  // namespace veilset::mining
