// One branch of the auditor of coherence at one level, which audit/coherence.cpp explains: rows are delivered along the
// trie of safe itemsets, what follows in them is counted, and every itemset met is judged.
#pragma once

#include "audit/findings.hpp"
#include "audit/rows.hpp"
#include "audit/trie.hpp"

namespace veilset::auditing {

// What one branch found at one level.
struct Found {
    WorstMoles worst;
    Margins margins;
    int64_t identity = 0, attribute = 0, safe = 0;
    Vector<int32_t> items;     // safe extensions, in order of their prefixes
    Vector<int32_t> children;  // how many of them each prefix has
};

class Judge {
public:
    // worst: of all levels before.
    Judge(Promise promise_, const Rows& rows, const WorstMoles& worst)
        : promise(promise_), rows_(rows), worst_(worst) {}

    // Whether prefix + item is safe, given the sensitive thing that most of its rows hold; counts and reports it.
    bool safe(View<int32_t> prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
              Found& found) const {
        Margins& margins = found.margins;
        if (!margins.smallest_support || support < margins.smallest_support) {
            margins.smallest_support = support;
            margins.smallest_items = named(prefix, item);
        }
        if (support < promise.k) {
            ++found.identity;
            report(prefix, item, support, none, 0, found);
            return false;
        }
        if (promise.breaks(with, support)) {
            ++found.attribute;
            report(prefix, item, support, sensitive, with, found);
            return false;
        }
        ++found.safe;
        return true;
    }

    List<int32_t> named(View<int32_t> prefix, int32_t item) const {
        List<int32_t> items;
        for (int32_t i : prefix) items.push_back(rows_.item(i));
        items.push_back(rows_.item(item));
        std::sort(items.begin(), items.end());
        return items;
    }

    const Promise promise;

private:
    void report(View<int32_t> prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
                Found& found) const {
        const Index size = prefix.size() + 1;
        if (worst_.wants(support, sensitive, with, size) && found.worst.wants(support, sensitive, with, size))
            found.worst.add(named(prefix, item), support, sensitive, with);
    }

    const Rows& rows_;
    const WorstMoles& worst_;
};

// Reads the branches of one thread, one after the other.
class BranchReader {
public:
    BranchReader(const Judge& judge, const Rows& rows, const Trie& trie, Control& control)
        : judge_(judge), promise_(judge.promise), rows_(rows), trie_(trie), control_(control),
          count_(rows.items(), 0, control), with_(rows.items(), 0, control), best_with_(rows.items(), 0, control),
          best_sensitive_(rows.items(), none, control), touched_(control), slot_(rows.items(), none, control),
          cohort_with_(rows.kinds() + 1, 0, control), carriers_begin_(rows.kinds() + 1, none, control),
          carriers_(control) {}

    // Level 1: a single item, by the sensitive things that its holders have.
    void judge_single(int64_t branch, Found& found) {
        begin({}, found);
        const int64_t support = rows_.support(branch);
        count_carriers(rows_.holders(branch));
        int32_t sensitive = none;
        int64_t with = 0;
        for (int32_t carried : seen_) {
            const int64_t carriers = cohort_with_[carried];
            keep_larger(carried, carriers, support, int32_t(branch));
            if (carried != any() && carriers > with) {
                with = carriers;
                sensitive = carried;
            }
        }
        forget_carriers();
        judge_.safe(prefix_, int32_t(branch), support, sensitive, with, found);
    }

    // The itemsets of this size. Those that are safe are written down, unless this is the last level.
    void judge_larger(int64_t branch, int64_t size, bool last, Found& found) {
        begin({int32_t(branch)}, found);
        size_ = size;
        last_ = last;
        walk(branch, rows_.holders(branch));
    }

private:
    void begin(List<int32_t> prefix, Found& found) {
        prefix_ = std::move(prefix);
        found_ = &found;
    }

    // Goes down the trie to the safe prefixes that lack one item, delivering to each child the rows that hold it.
    void walk(int64_t node, View<Position> cohort) {
        control_.poll();
        if (prefix_.size() == size_ - 1) return extend(cohort);
        const auto children = trie_.children(prefix_.size(), node);
        const int64_t first = trie_.first_child(prefix_.size(), node);
        Vector<Cohort> delivered(children.size(), Cohort(control_), control_);
        for (Index c = 0; c < children.size(); ++c) slot_[children[c]] = int32_t(c);
        for (const Position& at : cohort) {
            control_.poll();
            rows_.for_each_item(at, [&](int32_t item, Position after) {
                const int32_t slot = slot_[item];
                if (slot != none) delivered[slot].push_back(after);
            });
        }
        for (int32_t child : children) slot_[child] = none;
        for (Index c = 0; c < children.size(); ++c) {
            prefix_.push_back(children[c]);
            walk(first + c, delivered[c]);
            prefix_.pop_back();
            Cohort(control_).swap(delivered[c]);
        }
    }

    // Counts every extension of a safe prefix and judges it.
    void extend(View<Position> cohort) {
        touched_.clear();
        for (const Position& at : cohort) {
            control_.poll();
            rows_.for_each_item(at, [&](int32_t item, Position) {
                if (count_[item]++ == 0) touched_.push_back(item);
            });
        }
        std::sort(touched_.begin(), touched_.end());
        drop_unsafe();
        if (rows_.kinds() > 0 && !touched_.empty()) count_sensitive(cohort);

        const int64_t safe = found_->safe;
        for (int32_t item : touched_) {
            if (judge_.safe(prefix_, item, count_[item], best_sensitive_[item], best_with_[item], *found_) && !last_)
                found_->items.push_back(item);
            count_[item] = 0;
            best_with_[item] = 0;
            best_sensitive_[item] = none;
        }
        if (!last_) found_->children.push_back(int32_t(found_->safe - safe));
    }

    // Keeps the extensions e for which every subset of prefix + e that lacks one item of the prefix is safe too. (An
    // itemset with an unsafe subset is no minimal mole and is not extended.)
    void drop_unsafe() {
        if (prefix_.size() < 2) return;  // single items have been judged: only safe ones are left in the rows
        for (Index left_out = 0; left_out < prefix_.size(); ++left_out) {
            const auto safe = trie_.children_without(prefix_, left_out);
            auto at = safe.begin();
            Index kept = 0;
            for (int32_t item : touched_) {
                at = std::lower_bound(at, safe.end(), item);
                if (at != safe.end() && *at == item) touched_[kept++] = item;
                else count_[item] = 0;
            }
            touched_.resize(kept);
        }
    }

    // "Any of them" is passed along like one more sensitive thing, the last, which no limit applies to.
    int32_t any() const { return rows_.kinds(); }
    Share& largest(int32_t sensitive) const {
        return sensitive == any() ? found_->margins.any : found_->margins.breach;
    }
    void keep_larger(int32_t sensitive, int64_t with, int64_t support, int32_t item) {
        if (Share& met = largest(sensitive); greater(with, support, met.with, met.support))
            met = {with, support, sensitive == any() ? none : sensitive, judge_.named(prefix_, item)};
    }

    // In cohort_with_, how many rows of a cohort hold each sensitive thing.
    void count_carriers(View<Position> cohort) {
        for (const Position& at : cohort) {
            control_.poll();
            for_each_carried(at, [&](int32_t sensitive) {
                if (cohort_with_[sensitive]++ == 0) seen_.push_back(sensitive);
            });
        }
        std::sort(seen_.begin(), seen_.end());
    }
    void forget_carriers() {
        for (int32_t sensitive : seen_) cohort_with_[sensitive] = 0;
        seen_.clear();
    }
    template <class Body>
    void for_each_carried(const Position& at, Body body) const {
        bool something = false;
        rows_.for_each_sensitive(at, [&](int32_t sensitive) {
            something = true;
            body(sensitive);
        });
        if (something) body(any());
    }

    // For each counted extension, the sensitive item that most of its rows hold; and the margins of breach.
    void count_sensitive(View<Position> cohort) {
        count_carriers(cohort);
        int64_t carriers = 0;
        for (int32_t sensitive : seen_)
            if (matters(sensitive)) {
                mattering_.push_back(sensitive);
                carriers_begin_[sensitive] = carriers;
                carriers += cohort_with_[sensitive];
            }
        if (!mattering_.empty()) {
            carriers_.resize(carriers);
            for (const Position& at : cohort) {
                control_.poll();
                for_each_carried(at, [&](int32_t sensitive) {
                    int64_t& next = carriers_begin_[sensitive];
                    if (next != none) carriers_[next++] = at;
                });
            }
        }
        int64_t begin = 0;
        for (int32_t sensitive : mattering_) {
            control_.poll();  // sensitive items times public ones can be many
            const int64_t end = carriers_begin_[sensitive];
            // It may not matter any more, after what the sensitive items before it have met.
            if (matters(sensitive)) count_carried(sensitive, View(carriers_).between(begin, end));
            carriers_begin_[sensitive] = none;
            begin = end;
        }
        forget_carriers();
        mattering_.clear();
    }

    // Sup(Q + s) <= cohort_with_[s] and, where it matters, Sup(Q) >= k: s can be passed over if even that ratio neither
    // breaks the promise nor beats the largest breach met so far.
    bool matters(int32_t sensitive) const {
        const int64_t most = cohort_with_[sensitive];
        const Share& met = largest(sensitive);
        return greater(most, promise_.k, met.with, met.support) ||
               (sensitive != any() && promise_.breaks(most, promise_.k));
    }

    // The same for one sensitive item and the rows that hold it.
    void count_carried(int32_t sensitive, View<Position> carriers) {
        auto for_each_item = [&](auto&& body) {
            for (const Position& at : carriers) {
                control_.poll();
                rows_.for_each_item(at, [&](int32_t item, Position) { body(item); });
            }
        };
        for_each_item([&](int32_t item) { ++with_[item]; });
        for (int32_t item : touched_) {
            const int64_t with = with_[item], support = count_[item];
            if (support < promise_.k) continue;
            keep_larger(sensitive, with, support, item);
            if (sensitive != any() && with > best_with_[item]) {
                best_with_[item] = with;
                best_sensitive_[item] = sensitive;
            }
        }
        for_each_item([&](int32_t item) { with_[item] = 0; });
    }

    const Judge& judge_;
    Promise promise_;
    const Rows& rows_;
    const Trie& trie_;
    Control& control_;
    List<int32_t> prefix_;
    Index size_ = 0;
    bool last_ = false;
    Found* found_ = nullptr;
    Vector<int64_t> count_, with_, best_with_;
    Vector<int32_t> best_sensitive_, touched_, slot_;
    Vector<int64_t> cohort_with_;     // rows of the cohort that hold s
    List<int32_t> seen_;              // sensitive items in the cohort
    List<int32_t> mattering_;         // those worth counting
    Vector<int64_t> carriers_begin_;  // s -> its part of carriers_
    Vector<Position> carriers_;       // rows of the cohort by the sensitive item they hold
};

}  // namespace veilset::auditing
