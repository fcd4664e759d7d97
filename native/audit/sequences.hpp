// Sequences of numbers that an auditor has met, each under a key, and what it tallies of them.
#pragma once

#include "core/control.hpp"

namespace veilset::auditing {

// Numbered in the order they were added. A hash says where to look; the sequences themselves decide.
template <class Number, class Tally>
class Sequences {
public:
    struct Entry {
        int32_t key, length;
        Index first;  // of its numbers
        uint64_t hash;
        Tally tally{};
    };

    explicit Sequences(Control& control) : slots_(1 << 8, none, control), entries_(control), numbers_(control) {}

    Entry& add(int32_t key, View<Number> sequence) {
        const uint64_t mixed = hash(key, sequence);
        const Index slot = place(mixed, key, sequence);
        if (slots_[slot] != none) return entries_[slots_[slot]];
        slots_[slot] = entries_.size();
        entries_.push_back({key, int32_t(sequence.size()), numbers_.size(), mixed});
        numbers_.insert(numbers_.end(), sequence.begin(), sequence.end());
        if (2 * entries_.size() > slots_.size()) grow();
        return entries_.back();
    }
    const Entry* find(int32_t key, View<Number> sequence) const {
        const int64_t number = slots_[place(hash(key, sequence), key, sequence)];
        return number == none ? nullptr : &entries_[number];
    }
    View<Number> of(const Entry& entry) const { return View(numbers_).subspan(entry.first, entry.length); }
    View<Entry> all() const { return entries_; }

    // In another order: after that nothing can be added.
    template <class Before>
    View<Entry> sorted(Before before) {
        std::ranges::sort(entries_, before);
        return entries_;
    }
    void clear() {
        for (Index number = 0; number < entries_.size(); ++number) {
            Index slot = Index(entries_[number].hash) & (slots_.size() - 1);
            while (slots_[slot] != number) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = none;
        }
        entries_.clear();
        numbers_.clear();
    }

private:
    static constexpr int64_t none = -1;

    static uint64_t hash(int32_t key, View<Number> sequence) {
        uint64_t mixed = uint64_t(key) + 1;
        for (Number number : sequence) {
            mixed = (mixed ^ uint64_t(number)) * 0x9E3779B97F4A7C15u;
            mixed ^= mixed >> 29;
        }
        mixed *= 0xBF58476D1CE4E5B9u;
        return mixed ^ mixed >> 32;
    }
    // Where it stands, or where there is room for it.
    Index place(uint64_t mixed, int32_t key, View<Number> sequence) const {
        const Index last = slots_.size() - 1;
        Index slot = Index(mixed) & last;
        for (; slots_[slot] != none; slot = (slot + 1) & last) {
            const Entry& entry = entries_[slots_[slot]];
            if (entry.hash == mixed && entry.key == key && std::ranges::equal(of(entry), sequence)) break;
        }
        return slot;
    }
    void grow() {
        Vector<int64_t> slots(2 * slots_.size(), none, slots_.get_allocator());
        for (Index number = 0; number < entries_.size(); ++number) {
            Index slot = Index(entries_[number].hash) & (slots.size() - 1);
            while (slots[slot] != none) slot = (slot + 1) & (slots.size() - 1);
            slots[slot] = number;
        }
        slots_ = std::move(slots);
    }

    Vector<int64_t> slots_;
    Vector<Entry> entries_;
    Vector<Number> numbers_;
};

}  // namespace veilset::auditing
