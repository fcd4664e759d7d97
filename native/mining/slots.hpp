// Numbers for keys that come again: 0, 1, 2, ... in the order of their first appearance.
//
// The keys themselves lie with the caller. A hash only says where to look; whether two keys are equal the caller tells.
#pragma once

#include "core/control.hpp"

namespace veilset {

// A quick step of a hash whose upper half ends up well mixed.
inline uint64_t stir(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

inline uint64_t hash_of(View<int32_t> items, uint64_t hash = 0) {
    for (int32_t item : items) hash = stir(hash + uint64_t(item) + 1);
    return hash;
}

class Slots {
public:
    explicit Slots(Control& control) : slots_(control), tags_(control) { clear(); }

    int32_t size() const { return int32_t(tags_.size()); }
    void clear() {
        slots_.assign(64, free);
        tags_.clear();
    }

    // The number of the key with this hash: that for which same(number) holds, else the next one, which it gets.
    template <class Same>
    int32_t find_or_add(uint64_t hash, Same same) {
        const auto tag = uint32_t(hash >> 32);
        Index at = first(tag);
        for (; slots_[at] != free; at = after(at))
            if (tags_[slots_[at]] == tag && same(slots_[at])) return slots_[at];
        const int32_t number = slots_[at] = size();
        tags_.push_back(tag);
        if (2 * tags_.size() > slots_.size()) grow();
        return number;
    }

private:
    static constexpr int32_t free = -1;
    Index first(uint32_t tag) const { return tag & (slots_.size() - 1); }
    Index after(Index at) const { return (at + 1) & (slots_.size() - 1); }

    void grow() {
        slots_.assign(2 * slots_.size(), free);
        for (int32_t number = 0; number < size(); ++number) {
            Index at = first(tags_[number]);
            while (slots_[at] != free) at = after(at);
            slots_[at] = number;
        }
    }

    Vector<int32_t> slots_;
    Vector<uint32_t> tags_;  // number -> the upper half of its key's hash
};

// Sequences of items that are kept once, and numbered in the same way.
class Distinct {
public:
    explicit Distinct(Control& control) : sequences_(control), numbers_(control) {}

    int32_t size() const { return int32_t(sequences_.size()); }
    View<int32_t> operator[](Index number) const { return sequences_[number]; }

    int32_t number(View<int32_t> items) {
        const int32_t number = numbers_.find_or_add(
            hash_of(items, items.size()), [&](int32_t known) { return std::ranges::equal(sequences_[known], items); });
        if (number == size()) {
            sequences_.values.insert(sequences_.values.end(), items.begin(), items.end());
            sequences_.close();
        }
        return number;
    }

private:
    Groups<int32_t> sequences_;
    Slots numbers_;
};

}  // namespace veilset
