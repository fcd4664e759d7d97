// Takes an item out of all rows, or of those that hold another one, puts the others back first, then the item: what
// comes of it stays if it is worth more.
//
// What is left in between still keeps the promise, and so does every result. The work, not the clock, says when to
// stop.
#pragma once

#include "partial/put_back.hpp"

namespace veilset::partial {

template <class Rows>
class Exchange {
public:
    // worth: of one occurrence, by item.
    Exchange(Kept& kept, PutBack<Rows>& put_back, View<int64_t> worth, Control& control)
        : kept_(kept), put_back_(put_back), worth_(worth), control_(control), with_(kept.items(), 0) {}

    // Each item in turn, until a round gains nothing or the work is done.
    void run(View<int32_t> turns, int64_t work) {
        most_ = put_back_.work() + work;
        do {
            while (round(turns, false)) {
            }
        } while (round(turns, true));
    }

private:
    bool over() const { return put_back_.work() > most_; }

    bool round(View<int32_t> turns, bool pairs) {
        bool gained = false;
        for (int32_t item : turns) {
            if (over()) return false;
            if (!pairs) {
                gained |= without(item, [](int64_t) { return true; });
                continue;
            }
            for (int32_t other : met(item)) {
                if (over()) return false;
                gained |= without(item, [&](int64_t row) {
                    const auto [begin, end] = kept_.places(row);
                    for (int64_t at = begin; at < end; ++at)
                        if (kept_.item_at(at) == other) return kept_.keeps(at);
                    return false;
                });
            }
        }
        return gained;
    }

    // The items that share a row with this one now, those that do most often first.
    List<int32_t> met(int32_t item) {
        std::ranges::fill(with_, 0);
        for (const Holder& holder : kept_.holders(item))
            if (kept_.holds(holder)) kept_.for_each(holder.row, [&](int32_t other) { ++with_[other]; });
        with_[item] = 0;
        List<int32_t> others;
        for (int32_t other = 0; other < with_.size(); ++other)
            if (with_[other] > 0) others.push_back(other);
        std::ranges::stable_sort(others, [&](int32_t a, int32_t b) { return with_[a] > with_[b]; });
        return others;
    }

    template <class Goes>
    bool without(int32_t item, Goes goes) {
        control_.poll();
        lost_.clear();
        back_.clear();
        put_back_.take_out(item, goes, lost_);
        if (lost_.empty()) return false;
        put_back_.run(back_, item);
        int64_t gain = 0;
        for (int64_t place : back_) gain += worth_[kept_.item_at(place)];
        for (int64_t place : lost_) gain -= worth_[kept_.item_at(place)];
        if (gain > 0) return true;
        put_back_.undo(back_, lost_);
        return false;
    }

    Kept& kept_;
    PutBack<Rows>& put_back_;
    View<int64_t> worth_;
    Control& control_;
    List<int64_t> with_;
    PutBack<Rows>::Log lost_, back_;
    int64_t most_ = 0;
};

}  // namespace veilset::partial
