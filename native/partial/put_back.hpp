// Puts occurrences back: one item at a time, into the largest set of rows that may have it while all else stays.
//
// With all else fixed, an item may be put back into a set of rows if every small itemset of the item and what these
// rows hold is in k of them. The union of two such sets is one, so there is a largest (partial/thin.hpp). Every row
// that has the item already is in it, so nothing is ever lost; it is done for all items in turn until nothing changes.
//
// With h < 1 (partial/sure.hpp) there need not be a largest set: it is one that may, and again nothing is ever lost.
#pragma once

#include "partial/kept.hpp"
#include "partial/sure.hpp"

namespace veilset::partial {

template <class Rows>  // Thin or Sure
class PutBack {
public:
    using Log = List<int64_t>;  // places
    static constexpr bool asks_the_original = std::is_same_v<Rows, Sure>;

    // p = 0: itemsets of any size. `turns`: the items in the order in which they return.
    PutBack(Kept& kept, View<int32_t> turns, int64_t k, int64_t p, Rows rows, Control& control)
        : kept_(kept), turns_(turns), control_(control), thin_(std::move(rows)), k_(k),
          size_(p > 0 ? p - 1 : std::numeric_limits<int32_t>::max()), turn_(kept.items(), -1, control),
          waits_(turns.size(), 1, control) {
        for (Index t = 0; t < turns.size(); ++t) turn_[turns[t]] = int32_t(t);
    }

    // In passes until nothing changes. `back`: the places of what returned, `last`: an item whose turn comes after the
    // first pass.
    void run(Log& back, int32_t last = -1) {
        for (bool again = true; again;) {
            again = false;
            for (Index t = 0; t < turns_.size(); ++t) {
                if (!waits_[t]) continue;
                again = true;
                if (turns_[t] != last) largest(turns_[t], back);
            }
            last = -1;
        }
    }

    // After rows may have items back that were barred.
    void try_all() { std::ranges::fill(waits_, uint8_t(1)); }

    // Takes an item out of the rows that `goes` tells, and out of those that may not have it then.
    template <class Goes>
    void take_out(int32_t item, Goes goes, Log& lost) {
        const auto holders = kept_.holders(item);
        taken_.clear();
        for (const Holder& holder : holders)
            if (kept_.holds(holder)) {
                if (goes(holder.row)) lose(holder, lost);
                else taken_.push_back(holder);
            }
        if (taken_.empty() || lost.empty()) return;
        thin_.begin(kept_.items());
        for (const Holder& holder : taken_) describe(holder, true);
        if constexpr (asks_the_original)
            for (const Holder& holder : holders)
                if (!kept_.holds(holder)) describe_before(holder), thin_.close_before();
        thin_.run(k_, size_);
        for (Index h = 0; h < taken_.size(); ++h)
            if (!thin_.alive(h)) lose(taken_[h], lost);
    }

    // After what was lost is back and what came back is lost, nothing can return that could not before.
    void undo(const Log& back, const Log& lost) {
        for (int64_t place : back) kept_.lose(place);
        for (int64_t place : lost) kept_.keep(place);
        std::ranges::fill(waits_, uint8_t(0));
    }

    int64_t work() const { return thin_.work(); }

private:
    void largest(int32_t item, Log& back) {
        control_.poll();
        waits_[turn_[item]] = 0;
        const auto holders = kept_.holders(item);
        if (holders.size() < k_ || std::ranges::all_of(holders, [&](const Holder& one) { return kept_.holds(one); }))
            return;
        taken_.clear();
        for (const Holder& holder : holders)
            if (!kept_.barred(holder)) taken_.push_back(holder);
        if (taken_.size() < k_) return;
        thin_.begin(kept_.items());
        for (const Holder& holder : taken_) describe(holder, !kept_.holds(holder));
        if constexpr (asks_the_original)
            for (const Holder& holder : holders)
                if (kept_.barred(holder)) describe_before(holder), thin_.close_before();
        thin_.run(k_, size_);
        for (Index h = 0; h < taken_.size(); ++h) {
            if (!thin_.alive(h) || kept_.holds(taken_[h])) continue;
            kept_.keep(taken_[h].place);
            back.push_back(taken_[h].place);
            changed(taken_[h].row);
        }
        waits_[turn_[item]] = 0;
    }

    void describe(const Holder& holder, bool in_doubt) {
        const auto [begin, end] = kept_.places(holder.row);
        for (int64_t at = begin; at < end; ++at)
            if (at != holder.place && kept_.keeps(at)) thin_.push(kept_.item_at(at));
        if constexpr (asks_the_original) describe_before(holder);
        thin_.close(in_doubt);
    }
    void describe_before(const Holder& holder) {
        const auto [begin, end] = kept_.places(holder.row);
        for (int64_t at = begin; at < end; ++at)
            if (at != holder.place) thin_.push_before(kept_.item_at(at));
        for (int32_t thing : kept_.things(holder.row)) thin_.push_thing(thing);
    }
    void lose(const Holder& holder, Log& lost) {
        kept_.lose(holder.place);
        lost.push_back(holder.place);
        changed(holder.row);
    }
    // All items that the row ever had may return somewhere now: it may have them, or count for others.
    void changed(int64_t row) {
        const auto [begin, end] = kept_.places(row);
        for (int64_t at = begin; at < end; ++at)
            if (const int32_t turn = turn_[kept_.item_at(at)]; turn >= 0) waits_[turn] = 1;
    }

    Kept& kept_;
    View<int32_t> turns_;
    Control& control_;
    Rows thin_;
    int64_t k_, size_;
    Vector<int32_t> turn_;
    Vector<uint8_t> waits_;  // by turn: whether a row of the item has changed since it was last tried
    List<Holder> taken_;
};

}  // namespace veilset::partial
