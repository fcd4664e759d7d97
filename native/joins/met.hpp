// Codes that were met, each with a slot of its own, given back in the order of the codes without sorting them.
#pragma once

#include <bit>

#include "core/control.hpp"

namespace veilset::joins {

// A bit for each code, a bit for each word of these that is not zero, and so on. Meeting and draining take time in
// proportion to the codes met, however many there might be.
class Met {
public:
    Met(Control& control, Index codes) : slots_(codes, -1, control) {
        for (Index words = codes; words > 1 || levels_.empty();) {
            words = std::max<Index>(1, (words + 63) / 64);
            levels_.emplace_back(words, 0, control);
        }
    }

    // The slots are numbered in the order in which their codes were met first.
    Index slot(int32_t code) {
        int32_t& slot = slots_[code];
        if (slot < 0) {
            slot = count_++;
            mark(code);
        }
        return slot;
    }
    Index find(int32_t code) const { return slots_[code]; }  // -1: not met
    Index size() const { return count_; }

    // Calls each(code, slot) in the order of the codes, and forgets them all.
    template <class Each>
    void drain(Each each) {
        drain(Index(levels_.size()) - 1, 0, each);
        count_ = 0;
    }
    void clear() {
        drain([](int32_t, Index) {});
    }

private:
    void mark(Index code) {
        for (auto& level : levels_) {
            uint64_t& word = level[code / 64];
            const bool known = word != 0;
            word |= uint64_t(1) << (code % 64);
            if (known) return;
            code /= 64;
        }
    }
    template <class Each>
    void drain(Index level, Index at, Each& each) {
        uint64_t word = std::exchange(levels_[level][at], 0);
        for (; word != 0; word &= word - 1) {
            const Index below = at * 64 + std::countr_zero(word);
            if (level > 0) drain(level - 1, below, each);
            else each(int32_t(below), Index(std::exchange(slots_[below], -1)));
        }
    }

    Vector<int32_t> slots_;
    List<Vector<uint64_t>> levels_;
    int32_t count_ = 0;
};

}  // namespace veilset::joins
