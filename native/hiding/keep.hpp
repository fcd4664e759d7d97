// What hiding costs the patterns to keep: which of them fall below their support, and what an occurrence is worth to
// them.
//
// Transactions that are equal in all items of hidden patterns and of patterns to keep have the same contested items and
// hold the same patterns. In dense data they are many, so that what a transaction holds is looked up once for all of
// its kind.
#pragma once

#include "hiding/claims.hpp"
#include "mining/slots.hpp"

namespace veilset::hiding {

constexpr int64_t most_weight = int64_t(1) << 20;  // what a pattern that is barely found weighs

class Keep {
public:
    // `spare` tells how many transactions each pattern can lose and still be found; below 0: it is not found anyway.
    Keep(const Csr& data, const Csr& hidden, const ByRarest& patterns, View<int64_t> spare, const Claims& claims,
         int threads, Control& control)
        : data_(data), patterns_(patterns), spare_(spare), weight_(spare.size()), claims_(claims), control_(control),
          kind_(control), example_(control) {
        // One that is barely found weighs most, one that cannot be lost nothing.
        for (Index k = 0; k < weight_.size(); ++k) weight_[k] = spare_[k] < 0 ? 0 : most_weight / (1 + spare_[k]) + 1;
        control.single([&] { find_kinds(hidden); });
        find_patterns(threads);
    }

    // What lost patterns weigh from now on, in times of what they weighed.
    void weigh_lost(View<int64_t> losses, int64_t times) {
        for (Index k = 0; k < weight_.size(); ++k)
            if (is_lost(k, losses)) weight_[k] = std::min(weight_[k] * times, int64_t(1) << 32);
    }

    // For each item, what all patterns with it weigh.
    List<int64_t> item_weights() const {
        List<int64_t> sum(data_.vocabulary, 0);
        for (Index k = 0; k < weight_.size(); ++k)
            for (int32_t i : patterns_.sets().row(k)) sum[i] += weight_[k];
        return sum;
    }

    // For each contested occurrence, what the patterns weigh that its transaction holds with it.
    Vector<int64_t> values() const {
        Vector<int64_t> value(claims_.occurrences(), 0, control_);
        for (Index kind = 0; kind < held_.size(); ++kind) {
            // The transaction that is the example of its kind first, then the others from it.
            const int64_t first = claims_.rows[example_[kind]];
            held_[kind].each([&](int32_t pattern, View<int32_t> slots) {
                for (int32_t slot : slots) value[first + slot] += weight_[pattern];
            });
            control_.poll();
        }
        for (Index row = 0; row < kind_.size(); ++row) {
            const int64_t first = claims_.rows[row], like = claims_.rows[example_[kind_[row]]];
            if (first != like) std::copy_n(value.begin() + like, claims_.rows[row + 1] - first, value.begin() + first);
        }
        return value;
    }

    // For each pattern, how many transactions no longer hold it when only these contested occurrences are kept.
    List<int64_t> losses(View<uint8_t> kept) const {
        List<int64_t> lost(spare_.size(), 0);
        for (Index row = 0; row < kind_.size(); ++row) {
            const auto there = part(kept, claims_.rows, row);
            if (std::ranges::find(there, 0) == there.end()) continue;
            held_[kind_[row]].each([&](int32_t pattern, View<int32_t> slots) {
                lost[pattern] += std::ranges::any_of(slots, [&](int32_t slot) { return !there[slot]; });
            });
            control_.poll();
        }
        return lost;
    }

    int64_t lost(View<int64_t> losses) const {
        int64_t count = 0;
        for (Index k = 0; k < losses.size(); ++k) count += is_lost(k, losses);
        return count;
    }

private:
    bool is_lost(Index k, View<int64_t> losses) const { return spare_[k] >= 0 && losses[k] > spare_[k]; }

    // The patterns that a kind of transactions holds, each with the contested occurrences it needs, counted from the
    // transaction's first.
    struct Held {
        Vector<int32_t> pattern, ends, slots;
        explicit Held(Control& c) : pattern(c), ends(c), slots(c) {}

        template <class Body>
        void each(Body body) const {
            int32_t begin = 0;
            for (Index k = 0; k < pattern.size(); begin = ends[k++])
                body(pattern[k], View(slots).between(begin, ends[k]));
        }
    };

    void find_kinds(const Csr& hidden) {
        List<uint8_t> matters(data_.vocabulary, 0);
        for (const Csr* sets : {&hidden, &patterns_.sets()})
            for (int32_t i : sets->items) matters[i] = 1;
        Distinct kinds(control_);
        List<int32_t> held;
        for (Index row = 0; row + 1 < claims_.rows.size(); ++row) {
            held.clear();
            for (int32_t i : data_.row(claims_.row[claims_.rows[row]]))
                if (matters[i]) held.push_back(i);
            kind_.push_back(kinds.number(held));
            if (kind_.back() == example_.size()) example_.push_back(row);
            control_.poll();
        }
    }

    void find_patterns(int threads) {
        const Index kinds = example_.size();
        control_.charge(kinds * Index(sizeof(Held)));
        held_.assign(kinds, Held(control_));
        struct Worker {
            List<int64_t> last;  // item -> the last row that holds it
            List<int32_t> slot;  // item -> its place among the contested occurrences of this row, or -1
        };
        List<Worker> workers(Control::useful(threads, Control::blocks(kinds, rows_per_block)),
                             {List<int64_t>(data_.vocabulary, -1), List<int32_t>(data_.vocabulary, -1)});
        control_.in_blocks(2, threads, kinds, rows_per_block, [&](Index kind, int worker) {
            auto& [last, slot] = workers[worker];
            Held& held = held_[kind];
            const Index row = example_[kind];
            const int64_t begin = claims_.rows[row], end = claims_.rows[row + 1], r = claims_.row[begin];
            for (int32_t i : data_.row(r)) last[i] = r;
            for (int64_t c = begin; c < end; ++c) slot[claims_.item(c)] = int32_t(c - begin);
            const auto add = [&](int32_t pattern) {
                const Index before = held.slots.size();
                for (int32_t j : patterns_.sets().row(pattern))
                    if (slot[j] >= 0) held.slots.push_back(slot[j]);
                if (held.slots.size() == before) return;
                held.pattern.push_back(pattern);
                held.ends.push_back(int32_t(held.slots.size()));
            };
            for (int32_t i : data_.row(r)) patterns_.held(i, [&](int32_t j) { return last[j] == r; }, add);
            for (int64_t c = begin; c < end; ++c) slot[claims_.item(c)] = -1;
        });
    }

    Csr data_;
    const ByRarest& patterns_;
    View<int64_t> spare_;
    List<int64_t> weight_;
    const Claims& claims_;
    Control& control_;
    Vector<int32_t> kind_;     // row with contested occurrences -> its kind
    Vector<int64_t> example_;  // kind -> the first such row of it
    List<Held> held_;          // kind -> the patterns it holds
};

}  // namespace veilset::hiding
