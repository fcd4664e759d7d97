// One branch of the auditor of coherence at one level, which audit/coherence.cpp explains: rows are delivered along the
// trie of safe generators, what follows in them is counted, and every itemset met is judged.
//
// An itemset that is held by the same rows as one of its subsets X - x is passed over: it gives away what X - x gives
// away, and so does every itemset around it without x. So it is no minimal mole, nor is any around it, and no margin is
// lost. What is left are generators; if one of its subsets is none, or not safe, an itemset need not be counted.
#pragma once

#include <limits>

#include "audit/carriers.hpp"
#include "audit/table.hpp"
#include "audit/trie.hpp"
#include "audit/work.hpp"

namespace veilset::auditing {

// A range of numbers that the second item of an itemset may have: a part of a branch that is too large as a whole.
struct Seconds {
    int64_t first = 0, end = std::numeric_limits<int64_t>::max();
    bool has(int64_t item) const { return first <= item && item < end; }
};

// Reads the branches of one thread, one after the other.
class BranchReader {
public:
    BranchReader(const Judge& judge, const Rows& rows, const Trie& trie, Work& work, Control& control)
        : judge_(judge), promise_(judge.promise), rows_(rows), paths_(rows.paths()), trie_(trie), work_(work),
          control_(control), carriers_(judge, rows, control), count_(rows.items(), 0, control),
          with_(rows.items(), 0, control), best_(rows.items(), Breach{}, control), touched_(control),
          slot_(rows.items(), none, control), candidates_(control), carriers_begin_(rows.kinds() + 1, none, control),
          carrying_(control), column_of_(rows.kinds() + 1, none, control), table_(control) {}

    // Only itemsets with their second item in this range are looked at from now on.
    void only_seconds(Seconds seconds) { seconds_ = seconds; }

    // Level 1: a single item, by the sensitive things that its holders have.
    void judge_single(int64_t branch, Found& found) {
        begin({}, found);
        const int64_t support = rows_.support(branch);
        carriers_.count(rows_.holders(branch));
        Breach most;
        for (int32_t carried : carriers_.seen()) {
            const int64_t with = carriers_.in_cohort(carried);
            carriers_.keep_larger(carried, with, support, prefix_, int32_t(branch), found.margins);
            if (carried != carriers_.any() && with > most.with) most = {carried, with};
        }
        carriers_.forget();
        judge(int32_t(branch), support, most, false);
    }

    // The itemsets of this size. The safe ones among them are written down, unless this is the last level.
    void judge_larger(int64_t branch, int64_t size, bool last, Found& found) {
        begin({int32_t(branch)}, found);
        size_ = size;
        last_ = last;
        if (size == 2) extend(rows_.holders(branch), rows_.support(branch), {});
        else walk(branch, rows_.support(branch), rows_.holders(branch));
    }

private:
    static constexpr int64_t kept_work = 24;  // what an itemset costs that is kept: memory

    struct Breach {
        int32_t sensitive = none;
        int64_t with = 0;
    };
    // An item that may extend a prefix; no subset of both that lacks one item is held by fewer rows than `least`.
    struct Candidate {
        int32_t item;
        int32_t column;
        int64_t least;
    };

    void begin(List<int32_t> prefix, Found& found) {
        prefix_ = std::move(prefix);
        found_ = &found;
    }

    // Goes down the trie to the prefixes that lack two items, delivering to each child the rows that hold it.
    void walk(int64_t node, int64_t support, View<Position> cohort) {
        control_.poll();
        const Children children = extending(trie_.children(prefix_.size(), node));
        const Index count = children_to_extend(children);
        const bool lacks_two = prefix_.size() + 2 == size_;
        if (lacks_two) {
            without_.clear();
            if (prefix_.size() > 1)
                for (Index i = 0; i < prefix_.size(); ++i) without_.push_back(trie_.node_without(prefix_, i));
            if (table_pays(children, support, cohort)) return count_pairs(children, count, cohort);
        }
        const auto delivered = hand_down(children.items.first(count), cohort);
        for (Index c = 0; c < count; ++c) {
            prefix_.push_back(children.items[c]);
            if (lacks_two) extend(delivered[c], children.supports[c], after(children, c));
            else walk(children.first + c, children.supports[c], delivered[c]);
            prefix_.pop_back();
        }
    }

    Vector<Cohort> hand_down(View<int32_t> items, View<Position> cohort) {
        Vector<Cohort> delivered(items.size(), Cohort(control_), control_);
        for (Index c = 0; c < items.size(); ++c) slot_[items[c]] = int32_t(c);
        int64_t steps = 0;
        for (const Position& at : cohort) {
            control_.poll();
            paths_.for_each_item(at.node, [&](int32_t item, int32_t node) {
                ++steps;
                if (const int32_t slot = slot_[item]; slot != none) deliver(delivered[slot], node, at);
            });
        }
        for (int32_t item : items) slot_[item] = none;
        work_.spend(steps);
        return delivered;
    }

    static Children after(const Children& children, Index c) {
        return {children.first + c + 1, children.items.subspan(c + 1), children.supports.subspan(c + 1)};
    }

    // The children from the first one that may be the second item; so many of them may be.
    Children extending(const Children& children) const {
        if (prefix_.size() > 1) return children;
        const auto before = std::ranges::lower_bound(children.items, seconds_.first) - children.items.begin();
        return after(children, before - 1);
    }
    Index children_to_extend(const Children& children) const {
        if (prefix_.size() > 1) return children.items.size();
        return std::ranges::lower_bound(children.items, seconds_.end) - children.items.begin();
    }

    // Counts every extension of a prefix, the last item of which has these later siblings, and judges those of which
    // all subsets are safe generators.
    void extend(View<Position> cohort, int64_t support, const Children& siblings) {
        if (prefix_.size() > 1 && siblings.items.empty()) return close(found_->items.size());
        touched_.clear();
        int64_t steps = 0;
        for (const Position& at : cohort) {
            control_.poll();
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) {
                ++steps;
                if (count_[item] == 0) touched_.push_back(item);
                count_[item] += at.weight;
            });
        }
        work_.spend(steps);
        std::sort(touched_.begin(), touched_.end());
        candidates_.clear();
        for (int32_t item : touched_)
            if (prefix_.size() > 1 || seconds_.has(item)) candidates_.push_back({item, none, support});
        if (prefix_.size() > 1) {
            keep_those_in(siblings);
            keep_if_subsets_are_there(prefix_.back());
        }
        if (rows_.kinds() > 0 && !candidates_.empty()) count_sensitive(cohort);
        const Index before = found_->items.size();
        const bool breaches = rows_.kinds() > 0;
        for (const Candidate& candidate : candidates_)
            judge(candidate.item, count_[candidate.item],
                  breaches ? std::exchange(best_[candidate.item], {}) : Breach{},
                  count_[candidate.item] == candidate.least);
        for (int32_t item : touched_) count_[item] = 0;
        close(before);
    }

    // The extensions of a prefix, which were so many before it, are complete.
    void close(Index before) {
        const Index children = found_->items.size() - before;
        if (!last_) found_->children.push_back(int32_t(children));
        work_.spend(kept_work * children);
    }

    // Of the candidates that extend prefix_ + item, prefix_ having been left when without_ was made.
    void keep_if_subsets_are_there(int32_t item) {
        if (without_.empty()) return keep_those_in(trie_.children(1, item));
        const Index size = size_ - 2;
        for (int64_t node : without_) {
            if (candidates_.empty()) return;
            const Children siblings = trie_.children(size - 1, node);
            const Index place = std::ranges::lower_bound(siblings.items, item) - siblings.items.begin();
            keep_those_in(trie_.children(size, siblings.first + place));
        }
    }
    void keep_those_in(const Children& siblings) {
        auto at = siblings.items.begin();
        Index kept = 0;
        for (const Candidate& candidate : candidates_) {
            at = std::lower_bound(at, siblings.items.end(), candidate.item);
            if (at == siblings.items.end() || *at != candidate.item) continue;
            const int64_t support = siblings.supports[at - siblings.items.begin()];
            candidates_[kept++] = {candidate.item, candidate.column, std::min(candidate.least, support)};
        }
        candidates_.resize(kept);
    }

    // An itemset met, prefix_ + item: is it the start of others?
    void judge(int32_t item, int64_t support, const Breach& most, bool no_generator) {
        ++found_->checked;
        if (no_generator) return;
        if (judge_.safe(prefix_, item, support, most.sensitive, most.with, *found_) && !last_)
            found_->extended_by(item, support);
    }

    // Whether all pairs of children are counted faster by bits than by reading the rows of each child: a row has as
    // many children as the average, and is read as often.
    static bool table_pays(const Children& children, int64_t support, View<Position> cohort) {
        const Index count = children.items.size();
        if (count < 2 || cohort.size() < 4) return false;
        const int64_t held = std::accumulate(children.supports.begin(), children.supports.end(), int64_t(0));
        const double length = double(held) / double(support);
        const auto positions = double(cohort.size());
        return double(count) * double(count) * (positions / 64 + 4) < 3 * positions * length * (length + 2);
    }

    // All pairs of children, of which so many are the first of a pair, counted in a table.
    void count_pairs(const Children& children, Index firsts, View<Position> cohort) {
        const Index count = children.items.size();
        for (Index c = 0; c < count; ++c) slot_[children.items[c]] = int32_t(c);
        things_.clear();
        if (rows_.kinds() > 0) {
            carriers_.count(cohort);
            for (int32_t s : carriers_.seen()) {
                if (!carriers_.matters(s, carriers_.in_cohort(s), found_->margins)) continue;
                column_of_[s] = int32_t(count + things_.size());
                things_.push_back(s);
            }
            carriers_.forget();
        }
        const Index columns = count + things_.size();
        int64_t steps = 0;
        table_.make(cohort, columns, [&](const Position& at, auto put) {
            control_.poll();
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) {
                ++steps;
                if (slot_[item] != none) put(slot_[item]);
            });
            if (things_.empty()) return;
            carriers_.for_each(at, [&](int32_t s) {
                if (column_of_[s] != none) put(column_of_[s]);
            });
        });
        for (int32_t item : children.items) slot_[item] = none;
        for (int32_t s : things_) column_of_[s] = none;
        for (Index a = 0; a < firsts; ++a) {
            control_.poll();
            candidates_.clear();
            for (Index b = a + 1; b < count; ++b)
                candidates_.push_back(
                    {children.items[b], int32_t(b), std::min(children.supports[a], children.supports[b])});
            keep_if_subsets_are_there(children.items[a]);
            prefix_.push_back(children.items[a]);
            const Index before = found_->items.size();
            for (const Candidate& candidate : candidates_) {
                const int64_t support = table_.of_both(a, candidate.column);
                if (support == 0) continue;
                Breach most;
                if (!things_.empty() && support != candidate.least && support >= promise_.k)
                    most = most_given_away(a, candidate, columns, support);
                judge(candidate.item, support, most, support == candidate.least);
            }
            steps += count + candidates_.size() * (1 + things_.size()) * (1 + table_.words() / 4);
            close(before);
            prefix_.pop_back();
        }
        work_.spend(steps);
    }

    Breach most_given_away(Index a, const Candidate& candidate, Index last, int64_t support) {
        table_.keep_both(a, candidate.column, last);
        Breach most;
        for (Index t = 0; t < things_.size(); ++t) {
            const int32_t s = things_[t];
            const int64_t with = table_.of_both(last, last - things_.size() + t);
            carriers_.keep_larger(s, with, support, prefix_, candidate.item, found_->margins);
            if (s != carriers_.any() && with > most.with) most = {s, with};
        }
        return most;
    }

    // For each counted extension, the sensitive thing that most of its rows hold; and the margins of breach.
    void count_sensitive(View<Position> cohort) {
        carriers_.count(cohort);
        int64_t positions = 0;
        things_.clear();
        for (int32_t s : carriers_.seen())
            if (carriers_.matters(s, carriers_.in_cohort(s), found_->margins)) {
                things_.push_back(s);
                carriers_begin_[s] = 0;
            }
        if (!things_.empty()) {
            for (const Position& at : cohort)
                carriers_.for_each(at, [&](int32_t s) {
                    if (carriers_begin_[s] != none) ++carriers_begin_[s];
                });
            for (int32_t s : things_) positions += std::exchange(carriers_begin_[s], positions);
            carrying_.resize(positions);
            for (const Position& at : cohort) {
                control_.poll();
                carriers_.for_each(at, [&](int32_t s) {
                    if (carriers_begin_[s] != none) carrying_[carriers_begin_[s]++] = at;
                });
            }
        }
        int64_t begin = 0;
        for (int32_t s : things_) {
            control_.poll();  // sensitive items times public ones can be many
            const int64_t end = std::exchange(carriers_begin_[s], none);
            // It may not matter any more, after what the sensitive things before it have met.
            if (carriers_.matters(s, carriers_.in_cohort(s), found_->margins))
                count_carried(s, View(carrying_).between(begin, end));
            begin = end;
        }
        carriers_.forget();
    }

    // The same for one sensitive thing and the rows that hold it.
    void count_carried(int32_t sensitive, View<Position> carrying) {
        int64_t steps = 0;
        for (const Position& at : carrying) {
            control_.poll();
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) {
                ++steps;
                with_[item] += at.weight;
            });
        }
        work_.spend(steps);
        for (const Candidate& candidate : candidates_) {
            const int32_t item = candidate.item;
            const int64_t with = with_[item], support = count_[item];
            if (support < promise_.k) continue;
            carriers_.keep_larger(sensitive, with, support, prefix_, item, found_->margins);
            if (sensitive != carriers_.any() && with > best_[item].with) best_[item] = {sensitive, with};
        }
        for (const Position& at : carrying)
            paths_.for_each_item(at.node, [&](int32_t item, int32_t) { with_[item] = 0; });
    }

    const Judge& judge_;
    Promise promise_;
    const Rows& rows_;
    const Paths& paths_;
    const Trie& trie_;
    Work& work_;
    Control& control_;
    Carriers carriers_;
    List<int32_t> prefix_;
    Seconds seconds_;
    Index size_ = 0;
    bool last_ = false;
    Found* found_ = nullptr;
    List<int64_t> without_;  // the nodes of the prefix that lacks two items, without each of its own
    Vector<int64_t> count_, with_;
    Vector<Breach> best_;
    Vector<int32_t> touched_, slot_;
    Vector<Candidate> candidates_;
    List<int32_t> things_;            // sensitive things worth counting
    Vector<int64_t> carriers_begin_;  // s -> its part of carrying_
    Vector<Position> carrying_;       // positions of the cohort by the sensitive thing they hold
    Vector<int32_t> column_of_;       // s -> its column of the table
    Table table_;
};

}  // namespace veilset::auditing
