// Moles of two items, counted along the rows; and what the walk for larger ones (mining/moles.hpp) does in the same
// way: counting sensitive items, reporting moles, marking what is in them.
#pragma once

#include "mining/covers.hpp"
#include "mining/known.hpp"

namespace veilset::mining {

class MolePairs {
public:
    // Finds moles, or marks them if there are `marks`.
    MolePairs(Known& known, Marks* marks, Control& control)
        : known_(known), rows_(known.rows), limits_(known.question.limits), control_(control), covers_(rows_, control),
          marks_(marks), counts_(rows_.items(), 0), bits_(words_for(known.publics()), 0),
          with_(rows_.items() - rows_.walked(), 0) {}

    // The pairs whose first item is this one.
    void pairs(int32_t a, FoundMoles& found) {
        control_.poll();
        Arena::Scope scope(covers_.arena);
        found_ = &found;
        const auto places = rows_.places(a);
        Extension* extensions = covers_.arena.take<Extension>(known_.publics() + 1);
        Index count = 0;
        covers_.for_each_row(places, [&](const Place& place, View<int32_t> row) {
            const int32_t weight = rows_.weight(place.row);
            for (Index i = place.next; i < row.size() && row[i] < known_.publics(); ++i) {
                extensions[count].item = row[i];  // without a branch: most guesses would be wrong
                count += counts_[row[i]] == 0;
                counts_[row[i]] += weight;
            }
        });
        const std::span<Extension> met(extensions, count);
        in_order(met);
        for (Extension& e : met) e.support = std::exchange(counts_[e.item], 0);
        List<View<Place>> delivered;
        if (known_.has_sensitive()) delivered = covers_.deliver(places, met);
        auto& safe = known_.extensions[a];
        int32_t expected = a + 1;
        auto absent_until = [&](int32_t end) {
            if (known_.question.absent)
                for (; expected < end; ++expected)
                    report_pair(a, expected, 0, std::max(known_.singles[a], known_.singles[expected]));
            expected = end + 1;
        };
        for (Index m = 0; m < count; ++m) {
            absent_until(met[m].item);
            Breach own;
            if (known_.has_sensitive()) own = most_sensitive(delivered[m], met[m].support);
            const Breach breach = std::max({own, known_.singles[a], known_.singles[met[m].item]});
            if (safe_alone(met[m].support, own)) {
                if (met[m].support == rows_.support(a)) continue;  // ranks: no more rows hold a than the other item
                safe.push_back(met[m]);
                if (known_.has_sensitive()) known_.breaches[a].push_back(breach);
            } else {
                report_pair(a, met[m].item, met[m].support, breach);
                counts_[met[m].item] = 1;
            }
        }
        absent_until(int32_t(known_.publics()));
        if (marks_ && limits_.may_grow(2))
            covers_.for_each_row(places, [&](const Place& place, View<int32_t> row) {
                for (int32_t item : row.subspan(place.next))
                    if (counts_[item]) marks_->rows[place.row] = 1;
            });
        for (const Extension& e : met) counts_[e.item] = 0;
    }

    Breach most_sensitive(View<Place> places, int64_t support) {
        covers_.for_each_row(
            places, [&](const Place& place, View<int32_t> row) { count_sensitive(row, rows_.weight(place.row)); });
        return take_most(support);
    }

    bool safe_alone(int64_t support, const Breach& own) const {
        return !limits_.rare(support) && !limits_.breach(own.with, own.of);
    }

protected:
    void count_sensitive(View<int32_t> row, int32_t weight) {
        for (Index i = row.size(); i-- > 0 && row[i] >= known_.publics();) {
            const int32_t s = row[i] - int32_t(known_.publics());
            if (with_[s] == 0) met_.push_back(s);
            with_[s] += weight;
        }
    }
    // The most frequent of the counted items, which are forgotten.
    Breach take_most(int64_t support) {
        Breach most{0, support, none};
        for (int32_t s : met_) {
            const int32_t item = rows_.code(s + int32_t(known_.publics()));
            most = std::max(most, Breach{std::exchange(with_[s], 0), support, item});
        }
        met_.clear();
        return most;
    }
    Breach most_sensitive(const Bitmaps& table, const uint64_t* cover, int64_t support) const {
        Breach most{0, support, none};
        for (int32_t s = table.tail; s < table.count; ++s) {
            const int64_t with = table.meet(cover, table.columns[s].bits);
            if (with > 0) most = std::max(most, Breach{with, support, rows_.code(table.columns[s].item)});
        }
        return most;
    }

    void report(View<int32_t> itemset, int64_t support, const Breach& breach) {
        if (marks_) {
            for (int32_t item : itemset) marks_->items[item] = 1;
            return;
        }
        rows_.append_codes(itemset, found_->items);
        found_->sizes.push_back(int32_t(itemset.size()));
        found_->supports.push_back(int32_t(support));
        if (known_.has_sensitive()) found_->breaches.push_back(breach);
    }
    // body(row) for the rows that hold an itemset (ascending), until it answers false.
    template <class Body>
    void for_each_holder(View<int32_t> itemset, Body body) const {
        for (const Place& place : rows_.places(itemset[0])) {
            const auto row = rows_.row(place.row).subspan(place.next);
            if (std::includes(row.begin(), row.end(), itemset.begin() + 1, itemset.end()) && !body(place.row)) return;
        }
    }

    Known& known_;
    const Rows& rows_;
    Limits limits_;
    Control& control_;
    Covers covers_;
    Marks* marks_;
    FoundMoles* found_ = nullptr;

private:
    // Sorts by items. Where many were met, a bit for each item costs less than comparing them.
    void in_order(std::span<Extension> met) {
        if (4 * Index(met.size()) < bits_.size()) {
            std::ranges::sort(met, {}, &Extension::item);
            return;
        }
        for (const Extension& e : met) set_bit(bits_, e.item);
        auto next = met.begin();
        for_each_bit(bits_, [&](int32_t item) { (next++)->item = item; });
        std::ranges::fill(bits_, 0);
    }

    void report_pair(int32_t a, int32_t b, int64_t support, const Breach& breach) {
        const int32_t pair[] = {a, b};
        report(pair, support, breach);
    }

    List<int32_t> counts_;
    List<uint64_t> bits_;       // one for each item; zeros in between
    List<int32_t> with_, met_;  // sensitive item -> count; those counted
};

}  // namespace veilset::mining
