// The depth-first walk over frequent itemsets that all kinds of mining share.
//
// A node is an itemset P with its cover, the items that may still extend it (the tail) and, for kinds that ask, the
// items that extend it but were taken earlier on the way (the excluded). An item held by every row of the cover is
// free: it may join any itemset below without changing a support (a perfect extension), and is set aside instead of
// walked.
//
// Near the root the cover is a list of places in the rows (sparse data never leaves it for long); once bitmaps over
// the rows of the branch are the cheaper way to count, the walk goes on with those.
#pragma once

#include "mining/covers.hpp"

namespace veilset::mining {

// What a Mode has:
// - excludes: whether nodes know their excluded items; a node with one that is free is skipped.
// - looks_ahead: whether to try P with its whole tail before walking it.
// - merges_excluded: whether rows that differ in excluded items only may be merged.
// - avoids: whether nodes may not contain certain itemsets.
// - enter(P, free, support, maximal) at every node. Maximal (if it looks ahead): nothing extends it. False: do not walk
//   its tail.
// - leave() after the node and all below it.
// - whole(P, free, tail, support): P with its whole tail is frequent, and no excluded item extends it.
// And one that avoids:
// - concerns(item): whether one of these itemsets holds the item, which is then walked even where it would be free.
// - forbids(item): whether P with the item would contain one.
// - extend(item), retract(item): P has gained this item; has lost it again.
template <class Mode>
class Walk {
public:
    Walk(const Rows& rows, int64_t min_support, Control& control, Mode& mode)
        : rows_(rows), min_support_(min_support), control_(control), mode_(mode), covers_(rows, control),
          arena_(covers_.arena), counts_(rows.items(), 0), copies_(control), inside_(rows.items(), 0) {}

    // The steps of a walk: first the empty itemset, with the items that every row holds; then a branch for each other
    // item.
    static int64_t steps(const Rows& rows) { return 1 + int64_t(Mode::avoids ? rows.items() : rows.branches()); }
    void step(int64_t number) {
        if (number == 0) root();
        else branch(int32_t(number - 1));
    }

private:
    void root() {
        itemset_.clear();
        free_.clear();
        if (rows_.rows() < min_support_) return;
        free_from_the_start();
        mode_.enter(itemset_, free_, rows_.rows(), rows_.branches() == 0);
        mode_.leave();
        forget_free(0);
    }

    void free_from_the_start() {
        for (Index item = rows_.branches(); item < rows_.items(); ++item)
            if (may_be_free(int32_t(item))) set_free(int32_t(item));
    }

    // All itemsets whose first item, in the order of ranks, is this one.
    void branch(int32_t item) {
        itemset_.clear();
        free_.clear();
        if constexpr (Mode::avoids) {
            if (item >= rows_.branches() && may_be_free(item)) return;
            free_from_the_start();  // they may be of a lower rank than an item that every row holds and that is walked
        }
        extend(item);
        lists(rows_.places(item), rows_.support(item), item);
        retract();
        forget_free(0);
    }

    void extend(int32_t item) {
        itemset_.push_back(item);
        inside_[item] = 1;
        if constexpr (Mode::avoids) mode_.extend(item);
    }
    void retract() {
        if constexpr (Mode::avoids) mode_.retract(itemset_.back());
        inside_[itemset_.back()] = 0;
        itemset_.pop_back();
    }

    bool may_be_free(int32_t item) const {
        if constexpr (Mode::avoids) return !mode_.concerns(item);
        else return true;
    }
    bool forbidden(int32_t item) const {
        if constexpr (Mode::avoids) return mode_.forbids(item);
        else return false;
    }
    void set_free(int32_t item) {
        free_.push_back(item);
        inside_[item] = 1;
    }

    // A node whose cover is a list of places; `last` is its item of the highest rank that is not free.
    void lists(View<Place> places, int64_t support, int32_t last) {
        control_.poll();
        Arena::Scope scope(arena_);
        const Index free_before = free_.size();
        List<Extension> tail, excluded;
        int64_t entries = 0;
        if (!count(places, support, last, tail, excluded, entries)) return;
        if (mode_.enter(itemset_, free_, support, tail.empty() && excluded.empty()) && !tail.empty()) {
            if (!Mode::excludes && tail.size() == 1) {
                leaf(tail.front());
            } else if (Covers::bitmaps_pay(tail.size(), excluded.size(), places.size(), entries)) {
                std::sort(tail.begin(), tail.end(), rarer<Extension>);
                Bitmaps table = Mode::excludes ? covers_.as_bitmaps(places, tail, excluded, true, Mode::merges_excluded)
                                               : from_copies(tail);
                table.tried = support;
                bitmaps(table);
            } else {
                std::ranges::sort(tail, {}, &Extension::item);
                const auto delivered = covers_.deliver(places, tail);
                for (Index t = 0; t < tail.size(); ++t) {
                    extend(tail[t].item);
                    lists(delivered[t], tail[t].support, tail[t].item);
                    retract();
                }
            }
        }
        mode_.leave();
        forget_free(free_before);
    }

    // Sorts the items of these rows into tail, excluded and free ones. False if an excluded item is in every row.
    bool count(View<Place> places, int64_t support, int32_t last, List<Extension>& tail, List<Extension>& excluded,
               int64_t& entries) {
        Arena::Scope scope(arena_);
        int32_t* met = arena_.take<int32_t>(rows_.items() + 1);
        Index met_count = 0;
        copies_.clear();
        covers_.for_each_row(places, [&](const Place& place, View<int32_t> row) {
            const int32_t weight = rows_.weight(place.row);
            auto add = [&](int32_t item) {
                met[met_count] = item;  // without a branch: most guesses would be wrong
                met_count += counts_[item] == 0;
                counts_[item] += weight;
            };
            for (Index i = place.next; i < row.size(); ++i) add(row[i]);
            if constexpr (!Mode::excludes) {
                copies_.push_back(weight);
                copies_.push_back(int32_t(row.size()) - place.next);
                copies_.insert(copies_.end(), row.begin() + place.next, row.end());
            }
            if constexpr (Mode::excludes)
                for (Index i = 0; i + 1 < place.next; ++i) add(row[i]);
            entries += row.size() - place.next;
        });
        bool covered = false;
        const Index free_before = free_.size();
        for (Index m = 0; m < met_count; ++m) {
            const int32_t item = met[m];
            const int64_t with = std::exchange(counts_[item], 0);
            if (with < min_support_ || inside_[item] || forbidden(item)) continue;
            if (item < last) {
                covered |= with == support;
                excluded.push_back({item, with});
            } else if (with == support && may_be_free(item)) {
                free_.push_back(item);
            } else {
                tail.push_back({item, with});
            }
        }
        if (covered) {
            free_.resize(free_before);
            return false;
        }
        for (Index f = free_before; f < free_.size(); ++f) inside_[free_[f]] = 1;
        return true;
    }

    // Bitmaps from what the last count has read: the rows themselves lie far apart.
    Bitmaps from_copies(View<Extension> tail) {
        return covers_.as_bitmaps(tail, {}, false, false, [&](auto body) {
            for (Index at = 0; at < copies_.size();) {
                const int32_t weight = copies_[at];
                const Index size = copies_[at + 1];
                body(View<int32_t>(copies_.data() + at + 2, size), weight);
                at += 2 + size;
            }
        });
    }

    void forget_free(Index before) {
        for (; free_.size() > before; free_.pop_back()) inside_[free_.back()] = 0;
    }

    // The only extension of a node: nothing extends it.
    void leaf(const Extension& only) {
        extend(only.item);
        mode_.enter(itemset_, free_, only.support, true);
        mode_.leave();
        retract();
    }

    // The rarest first: they have few rows, and the others then have few items left to try.
    template <class T>
    static bool rarer(const T& a, const T& b) {
        return a.support != b.support ? a.support < b.support : a.item < b.item;
    }

    // Walks the tail of a node whose cover is in bitmaps.
    void bitmaps(const Bitmaps& table) {
        if constexpr (Mode::looks_ahead)
            if (whole_tail(table)) return;
        for (int32_t i = 0; i < table.tail; ++i) {
            control_.poll();
            const Column& column = table.columns[i];
            if (Mode::excludes && any_excluded(table, i, [&](const Column& other) {
                    return holds(other.bits, column.bits, table.words);
                }))
                continue;
            Arena::Scope scope(arena_);
            const Index free_before = free_.size();
            extend(column.item);
            Bitmaps child = meet(table, i);
            const bool maximal =
                Mode::looks_ahead && child.tail == 0 && !any_excluded(table, i, [&](const Column& other) {
                    return table.meet(other.bits, column.bits) >= min_support_;
                });
            if (mode_.enter(itemset_, free_, column.support, maximal) && child.tail > 0) {
                if constexpr (Mode::excludes) exclude(table, i, child);
                std::sort(child.columns, child.columns + child.tail, rarer<Column>);
                if (child.tail >= 8 && child.words >= 16 && 2 * column.support <= child.tried) condense(child, column);
                bitmaps(child);
            }
            mode_.leave();
            forget_free(free_before);
            retract();
        }
    }

    // Whether the test holds for a column that the itemsets with column i must do without.
    template <class Test>
    static bool any_excluded(const Bitmaps& table, int32_t i, Test test) {
        return std::any_of(table.columns, table.columns + i, test) ||
               std::any_of(table.columns + table.tail, table.columns + table.count, test);
    }

    // The extensions of column i among the columns after it.
    Bitmaps meet(const Bitmaps& table, int32_t i) {
        const Column& with = table.columns[i];
        Bitmaps child{table.words, table.shifts, nullptr, 0, 0, table.tried};
        child.columns = arena_.take<Column>(table.count);
        uint64_t* bits = arena_.take<uint64_t>(Index(table.tail - i - 1) * table.words);
        for (int32_t j = i + 1; j < table.tail; ++j) {
            if (forbidden(table.columns[j].item)) continue;
            const int64_t support = table.meet(with.bits, table.columns[j].bits, bits);
            if (support < min_support_) continue;
            if (support == with.support && may_be_free(table.columns[j].item)) {
                set_free(table.columns[j].item);
                continue;
            }
            child.columns[child.tail++] = {table.columns[j].item, support, bits};
            bits += table.words;
        }
        child.count = child.tail;
        return child;
    }

    static void exclude(const Bitmaps& table, int32_t i, Bitmaps& child) {
        for (int32_t j = table.tail; j < table.count; ++j) child.columns[child.count++] = table.columns[j];
        for (int32_t j = 0; j < i; ++j) child.columns[child.count++] = table.columns[j];
    }

    static bool holds(const uint64_t* outer, const uint64_t* inner, Index words) {
        for (Index w = 0; w < words; w += 8) {
            uint64_t missing = 0;
            for (Index i = w; i < w + 8; ++i) missing |= inner[i] & ~outer[i];
            if (missing) return false;
        }
        return true;
    }

    // Forgets excluded items that extend nothing here any more, and merges the rows that have become equal.
    void condense(Bitmaps& table, const Column& cover) {
        table.tried = cover.support;
        Column* end = std::remove_if(table.columns + table.tail, table.columns + table.count, [&](const Column& other) {
            return table.meet(other.bits, cover.bits) < min_support_;
        });
        table.count = int32_t(end - table.columns);
        covers_.condense(table, Mode::merges_excluded);
    }

    // If P with its whole tail is frequent, no other itemset below is maximal.
    bool whole_tail(const Bitmaps& table) {
        if (table.tail < 2) return false;
        Arena::Scope scope(arena_);
        uint64_t* all = arena_.take<uint64_t>(table.words);
        const uint64_t* sofar = table.columns[0].bits;
        int64_t support = table.columns[0].support;
        for (int32_t j = 1; j < table.tail && support >= min_support_; ++j) {
            support = table.meet(sofar, table.columns[j].bits, all);
            sofar = all;
        }
        if (support < min_support_) return false;
        for (int32_t j = table.tail; j < table.count; ++j)
            if (table.meet(sofar, table.columns[j].bits) >= min_support_) return true;
        mode_.whole(itemset_, free_, View<Column>(table.columns, table.tail), support);
        return true;
    }

    const Rows& rows_;
    int64_t min_support_;
    Control& control_;
    Mode& mode_;
    Covers covers_;
    Arena& arena_;
    List<int32_t> counts_;
    Vector<int32_t> copies_;  // of the rows of the last node: weight, number of items, items
    List<uint8_t> inside_;    // item -> whether it is in the itemset or free
    List<int32_t> itemset_, free_;
};

}  // namespace veilset::mining
