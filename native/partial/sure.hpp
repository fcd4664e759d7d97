// The rows of one item, with what else they hold and the sensitive things of their people: takes rows away until every
// small itemset is in k rows, and gives no sensitive thing away with more than h certainty.
//
// What is given away is looked at twice. In the rows that are left: where it is too much, rows in doubt that have the
// thing go, as many as it takes. And, unless the promise is to hold for the release only, in the original: an itemset
// that gives something away there loses all of its rows in doubt, whatever the others are.
//
// Rows that had the item before never have to go, since without the rows in doubt all is well.
#pragma once

#include <deque>

#include "core/random.hpp"
#include "partial/thin.hpp"

namespace veilset::partial {

// h as a fraction; whether it is to hold in the original as well.
struct Certainty {
    int64_t num, den;
    bool truthful;
    bool too_much(int64_t with, int64_t of) const { return __int128(with) * den > __int128(num) * of; }
};

class Sure : public Thin {
public:
    Sure(Certainty h, int32_t kinds, Control& control)
        : Thin(control), h_(h), before_offsets_(1, 0, control), before_(control), thing_offsets_(1, 0, control),
          things_(control), count_(kinds, 0) {}

    void begin(Index vocabulary) {
        Thin::begin(vocabulary);
        before_offsets_.assign(1, 0);
        before_.clear();
        thing_offsets_.assign(1, 0);
        things_.clear();
    }
    // An item that the row had in the original, and a sensitive thing.
    void push_before(int32_t item) { before_.push_back(item); }
    void push_thing(int32_t thing) { things_.push_back(thing); }
    void close(bool in_doubt) {
        Thin::close(in_doubt);
        before_offsets_.push_back(before_.size());
        thing_offsets_.push_back(things_.size());
    }
    // A row of the original that does not take part any more.
    void close_before() {
        before_offsets_.push_back(before_.size());
        thing_offsets_.push_back(things_.size());
    }

    void run(int64_t k, int64_t size) {
        start(k, size);
        for (int32_t& item : before_) {
            const auto at = std::ranges::lower_bound(names_, item);
            item = at != names_.end() && *at == item ? int32_t(at - names_.begin()) : -1;
        }
        in_doubt_.assign(alive_.size(), 0);
        for (int32_t r : doubt_) in_doubt_[r] = 1;
        prune_all();
        for (List<int32_t> suspects = still_in_doubt(); !suspects.empty() && left_ > 0;) {
            gone_.clear();
            look(suspects);
            suspects = gone_;
            if (!suspects.empty() && left_ > 0) prune(List<int32_t>(suspects), &suspects);
            if (left_ < k_) clear();
        }
    }

private:
    struct Depth {
        List<int32_t> number, items;
        List<int64_t> now_begin, wanted_begin, before_begin;
        List<Position> now, wanted, before;
    };

    View<int32_t> things(Index r) const { return part(things_, thing_offsets_, r); }

    void look(const List<int32_t>& suspects) {
        List<Position> now, wanted, before;
        for (Index r = 0; r < alive_.size(); ++r)
            if (alive_[r]) now.push_back({int32_t(r), offsets_[r]});
        for (int32_t r : suspects) wanted.push_back({r, offsets_[r]});
        for (Index r = 0; r + 1 < before_offsets_.size(); ++r) before.push_back({int32_t(r), before_offsets_[r]});
        walk(View(now), View(wanted), View(before), 0);
    }

    // One itemset: the rows that hold it now, those of them (or of those that went) that make it worth a look, and
    // those that held it in the original.
    void walk(View<Position> now, View<Position> wanted, View<Position> before, int64_t depth) {
        control_.poll();
        work_ += 8 * now.size() + 4 * before.size();
        int64_t most = settle(now);
        if (h_.truthful) {
            bool tells = false;
            most = std::max(most, told(
                                      before, [](const Position&) { return true; },
                                      [&](int64_t with) { tells |= h_.too_much(with, before.size()); }));
            if (tells) {
                for (const Position& at : now)
                    if (alive_[at.row] && in_doubt_[at.row]) take_away(at.row);
                return;
            }
        }
        // A larger itemset that is in k rows gives nothing away that fewer than h k of these have.
        if (depth < size_ && h_.too_much(most, k_)) deeper(now, wanted, before, depth);
    }

    // Takes away rows in doubt until the rest of these rows gives nothing away; the most that have one thing then.
    int64_t settle(View<Position> now) {
        const auto alive = [&](const Position& at) { return alive_[at.row] != 0; };
        while (true) {
            const int64_t held = std::ranges::count_if(now, alive);
            int64_t worst = -1, over = 0;
            const int64_t most = told(now, alive, [&](int64_t with) {
                if (h_.too_much(with, held) && with > over) over = with, worst = last_;
            });
            if (worst < 0) return most;
            // With r of them gone, (with - r) / (held - r) <= h.
            const int64_t surplus = over * h_.den - h_.num * held;
            const int64_t rows = (surplus + h_.den - h_.num - 1) / (h_.den - h_.num);
            List<std::pair<uint64_t, int32_t>> candidates;
            for (const Position& at : now)
                if (alive(at) && in_doubt_[at.row] && std::ranges::binary_search(things(at.row), int32_t(worst)))
                    candidates.emplace_back(mix(uint64_t(at.row) + random_step), at.row);
            if (candidates.empty()) return most;
            std::ranges::sort(candidates);
            for (Index c = 0; c < std::min<Index>(rows, candidates.size()); ++c) take_away(candidates[c].second);
        }
    }

    // each(rows with it) for every sensitive thing that these rows have; the most of these numbers.
    template <class Counts, class Each>
    int64_t told(View<Position> rows, Counts counts, Each each) {
        met_.clear();
        for (const Position& at : rows)
            if (counts(at))
                for (int32_t thing : things(at.row))
                    if (count_[thing]++ == 0) met_.push_back(thing);
        int64_t most = 0;
        for (int32_t thing : met_) {
            most = std::max(most, count_[thing]);
            last_ = thing;
            each(count_[thing]);
        }
        for (int32_t thing : met_) count_[thing] = 0;
        return most;
    }

    void deeper(View<Position> now, View<Position> wanted, View<Position> before, int64_t depth) {
        while (Index(depths_.size()) <= depth) depths_.emplace_back();
        depths_[depth].number.resize(names_.size(), -1);
        depths_[depth].items.clear();
        {
            Depth& at = depths_[depth];
            std::ranges::fill(at.number, -1);
            for (const Position& one : wanted)
                for (int64_t i = one.next; i < offsets_[one.row + 1]; ++i)
                    if (at.number[items_[i]] < 0) at.number[items_[i]] = 0, at.items.push_back(items_[i]);
            std::ranges::sort(at.items);
            for (Index n = 0; n < at.items.size(); ++n) at.number[at.items[n]] = int32_t(n);
            place(at, now, items_, offsets_, true, at.now_begin, at.now);
            place(at, wanted, items_, offsets_, false, at.wanted_begin, at.wanted);
            place(at, before, before_, before_offsets_, false, at.before_begin, at.before);
        }
        const Index items = depths_[depth].items.size();
        for (Index n = 0; n < items; ++n) {
            const Depth& at = depths_[depth];
            const View<Position> with = part(at.now, at.now_begin, n);
            if (std::ranges::none_of(with, [&](const Position& one) { return alive_[one.row] != 0; })) continue;
            walk(with, part(at.wanted, at.wanted_begin, n), part(at.before, at.before_begin, n), depth + 1);
        }
    }

    void place(const Depth& at, View<Position> rows, const Vector<int32_t>& items, const Vector<int64_t>& offsets,
               bool only_alive, List<int64_t>& begin, List<Position>& positions) {
        begin.assign(at.items.size() + 1, 0);
        positions.clear();
        group(begin, positions, [&](auto put) {
            for (const Position& one : rows) {
                if (only_alive && !alive_[one.row]) continue;
                for (int64_t i = one.next; i < offsets[one.row + 1]; ++i)
                    if (items[i] >= 0 && at.number[items[i]] >= 0) put(at.number[items[i]], Position{one.row, i + 1});
            }
        });
    }

    Certainty h_;
    Vector<int64_t> before_offsets_;
    Vector<int32_t> before_;
    Vector<int64_t> thing_offsets_;
    Vector<int32_t> things_;
    List<int64_t> count_;
    List<int32_t> met_;
    int32_t last_ = -1;
    List<uint8_t> in_doubt_;
    std::deque<Depth> depths_;
};

}  // namespace veilset::partial
