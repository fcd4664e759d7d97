// The search for minimal moles, from the columns (the auditor counts along the rows: it shares only the CSR view with
// this).
//
// First the single items are judged, then the pairs of safe ones, counted along the rows; then, one branch per first
// item x1, the larger itemsets depth first. Branches of P are walked from the last extension to the first, so that all
// subsets of P + {a, b} that hold x1 have been judged before it: the safe ones are in the branch's trie. The one subset
// that lacks x1 belongs to another branch and is counted when it matters. An itemset with a subset that is not safe is
// neither a minimal mole nor extended (thesis Observation 4). Neither is one that is held by the same rows as a subset
// X - x: whatever is true of an itemset around X is true without x, so no minimal mole lies there. Only generators are
// walked.
//
// No branch needs another: they run in any order, and the result is handed out in the order of branches.
#pragma once

#include "mining/mole_pairs.hpp"
#include "mining/trie.hpp"

namespace veilset::mining {

// Judges pairs and walks branches; one for each thread.
class MoleBranches : public MolePairs {
public:
    MoleBranches(Known& known, Marks* marks, Control& control)
        : MolePairs(known, marks, control), position_(rows_.items(), none), supports_(control), breaches_(control) {}

    // The itemsets of three and more whose first item is this one.
    void branch(int32_t a, FoundMoles& found) {
        control_.poll();
        const auto& safe = known_.extensions[a];
        if (safe.size() < 2) return;
        Arena::Scope scope(covers_.arena);
        found_ = &found;
        Trie trie(rows_.items(), safe.size(), control_);
        trie_ = &trie;
        breaches_.assign(known_.breaches[a].begin(), known_.breaches[a].end());
        supports_.clear();
        for (Index i = 0; i < safe.size(); ++i) {
            position_[safe[i].item] = int32_t(i);
            supports_.push_back(safe[i].support);
        }
        itemset_.assign(1, a);
        covered_ = 0;
        lists(rows_.places(a), List<Extension>(safe.begin(), safe.end()));
        for (const Extension& e : safe) position_[e.item] = none;
    }

private:
    // itemset_ is P; the extensions are the later items e, in ascending order, for which P + e is safe.
    void lists(View<Place> places, const List<Extension>& extensions) {
        control_.poll();
        Arena::Scope scope(covers_.arena);
        int64_t entries = 0;
        for (const Extension& e : extensions) entries += e.support;
        List<Extension> sensitive;
        for (Index s = known_.publics(); s < rows_.items(); ++s) sensitive.push_back({int32_t(s), 0});
        if (Covers::bitmaps_pay(extensions.size(), sensitive.size() / 2, places.size(), entries)) {
            Bitmaps table = covers_.as_bitmaps(places, extensions, sensitive, false, false);
            table.tried = std::max_element(extensions.begin(), extensions.end(), [](auto& a, auto& b) {
                              return a.support < b.support;
                          })->support;
            bitmaps(table);
            return;
        }
        const auto delivered = covers_.deliver(places, extensions);
        for (Index i = extensions.size(); i-- > 0;) {
            itemset_.push_back(extensions[i].item);
            const List<Extension> deeper =
                extend_lists(delivered[i], extensions[i].support, View(extensions).subspan(i + 1));
            if (deeper.size() > 1) lists(delivered[i], deeper);
            retract();
        }
    }

    // Judges itemset_ with each of these items, by the rows of itemset_; answers the safe ones.
    List<Extension> extend_lists(View<Place> places, int64_t support, View<Extension> candidates) {
        List<Extension> left, safe;
        List<int64_t> leasts;
        for (const Extension& e : candidates)
            if (const int64_t least = least_of_subsets(e.item, std::min(support, e.support)); least != none) {
                left.push_back({e.item, 0});
                leasts.push_back(least);
            }
        if (left.empty()) return safe;
        Arena::Scope scope(covers_.arena);
        const auto delivered = covers_.deliver(places, left);
        for (Index c = 0; c < left.size(); ++c) {
            for (const Place& place : delivered[c]) left[c].support += rows_.weight(place.row);
            if (judge(left[c].item, left[c].support, leasts[c],
                      [&] { return most_sensitive(delivered[c], left[c].support); }))
                safe.push_back(left[c]);
        }
        return safe;
    }

    void bitmaps(const Bitmaps& table) {
        for (int32_t i = table.tail - 1; i-- > 0;) {
            control_.poll();
            Arena::Scope scope(covers_.arena);
            const Column& column = table.columns[i];
            itemset_.push_back(column.item);
            Bitmaps child{table.words, table.shifts, covers_.arena.take<Column>(table.count - i - 1), 0,
                          0,           table.tried};
            uint64_t* bits = covers_.arena.take<uint64_t>(Index(table.tail - i) * table.words);
            for (int32_t j = i + 1; j < table.tail; ++j) {
                const int64_t least =
                    least_of_subsets(table.columns[j].item, std::min(column.support, table.columns[j].support));
                if (least == none) continue;
                const int64_t support = table.meet(column.bits, table.columns[j].bits, bits);
                if (!judge(table.columns[j].item, support, least, [&] { return most_sensitive(table, bits, support); }))
                    continue;
                child.columns[child.tail++] = {table.columns[j].item, support, bits};
                bits += table.words;
            }
            child.count = child.tail;
            for (int32_t s = table.tail; s < table.count; ++s) child.columns[child.count++] = table.columns[s];
            if (child.tail > 1) {
                if (child.words >= 16 && child.tail >= 8 && 2 * column.support <= child.tried) {
                    child.tried = column.support;
                    covers_.condense(child, false);
                }
                bitmaps(child);
            }
            retract();
        }
    }

    void retract() {
        itemset_.pop_back();
        covered_ = std::min(covered_, itemset_.size());
    }

    // Is itemset_ + item to be extended? Its subsets that hold x1 are safe, and at least `least` rows hold each. If it
    // is not safe, it is a minimal mole, unless the subset that lacks x1 is not safe.
    template <class MostSensitive>
    bool judge(int32_t item, int64_t support, int64_t least, MostSensitive most) {
        control_.poll();
        if (support == least || (support == 0 && !known_.question.absent)) return false;
        Breach own;
        if (known_.has_sensitive() && support > 0) own = most();
        const bool safe = safe_alone(support, own);
        if (safe && !limits_.may_grow(itemset_.size() + 1)) return false;
        Breach other;  // what the subset without x1 tells
        if (itemset_.size() == 2) {
            if (known_.has_sensitive()) other = known_.breaches[itemset_[1]][pair_at(itemset_[1], item)];
        } else if (!safe || known_.has_sensitive()) {
            const int64_t rest = support_without_first(item, other);
            if (!safe_alone(rest, other)) return false;
        }
        Breach breach;
        if (known_.has_sensitive()) breach = std::max({own, other, breach_without_one(item)});
        if (!safe) {
            scratch_ = itemset_;
            scratch_.push_back(item);
            report(scratch_, support, breach);
            if (marks_ && limits_.may_grow(scratch_.size()))
                for_each_holder(scratch_, [&](int32_t row) { return marks_->rows[row] = 1; });
            return false;
        }
        const int32_t node = trie_->insert(node_of(itemset_.size(), none), item);
        supports_.resize(std::max(supports_.size(), Index(node) + 1));
        supports_[node] = support;
        if (known_.has_sensitive()) {
            breaches_.resize(std::max(breaches_.size(), Index(node) + 1));
            breaches_[node] = breach;
        }
        return true;
    }

    // The least support of the subsets of itemset_ + item that lack one item but not x1; none if one of these is not
    // safe. The two that lack an item of the last two are: `least` is theirs. Of three items, the pair without x1 is
    // asked as well.
    int64_t least_of_subsets(int32_t item, int64_t least) const {
        if (itemset_.size() == 2) {
            const int32_t at = pair_at(itemset_[1], item);
            return at == none ? none : std::min(least, known_.extensions[itemset_[1]][at].support);
        }
        for (Index left_out = 1; left_out + 1 < itemset_.size(); ++left_out) {
            const int32_t node = node_with(left_out, item);
            if (node == none) return none;
            least = std::min(least, supports_[node]);
        }
        return least;
    }
    // The trie's node of itemset_ without one of its items (or none of them).
    int32_t node_of(Index size, int32_t left_out) const {
        int32_t node = none;
        for (Index i = 1; i < size; ++i) {
            if (int32_t(i) == left_out) continue;
            node = node == none ? position_[itemset_[i]] : trie_->find(node, itemset_[i]);
            if (node == none) return none;
        }
        return node;
    }
    int32_t node_with(Index left_out, int32_t item) const {
        const int32_t node = node_of(itemset_.size(), int32_t(left_out));
        if (node == none) return itemset_.size() == 2 ? position_[item] : none;
        return trie_->find(node, item);
    }
    // The place of b among the safe extensions of a.
    int32_t pair_at(int32_t a, int32_t b) const {
        const auto& safe = known_.extensions[a];
        const auto at = std::lower_bound(safe.begin(), safe.end(), b,
                                         [](const Extension& e, int32_t item) { return e.item < item; });
        return at != safe.end() && at->item == b ? int32_t(at - safe.begin()) : none;
    }

    // The largest breach probability of itemset_ and of itemset_ + item without one of its other items but x1.
    Breach breach_without_one(int32_t item) const {
        Breach most = breaches_[node_of(itemset_.size(), none)];
        for (Index left_out = 1; left_out < itemset_.size(); ++left_out)
            most = std::max(most, breaches_[node_with(left_out, item)]);
        return most;
    }

    // The support of itemset_ + item without x1 and what it tells. Without sensitive items, k rows are enough.
    int64_t support_without_first(int32_t item, Breach& most) {
        if (known_.columns) {
            const Bitmaps& all = *known_.columns;
            const uint64_t* cover = cover_without_first();
            const uint64_t* column = all.columns[item].bits;
            if (!known_.has_sensitive()) return all.meet(cover, column);
            Arena::Scope scope(covers_.arena);
            uint64_t* both = covers_.arena.take<uint64_t>(all.words);
            const int64_t support = all.meet(cover, column, both);
            most = {0, std::max<int64_t>(support, 1), none};
            for (Index s = known_.publics(); s < rows_.items(); ++s)
                if (const int64_t with = all.meet(both, all.columns[s].bits))
                    most = std::max(most, Breach{with, support, rows_.code(int32_t(s))});
            return support;
        }
        subset_.assign(itemset_.begin() + 1, itemset_.end());
        subset_.push_back(item);
        int64_t support = 0;
        for_each_holder(subset_, [&](int32_t row) {
            support += rows_.weight(row);
            if (known_.has_sensitive()) count_sensitive(rows_.row(row), rows_.weight(row));
            return known_.has_sensitive() || limits_.rare(support);
        });
        if (known_.has_sensitive()) most = take_most(std::max<int64_t>(support, 1));
        return support;
    }

    // The cover of itemset_ without x1 over all rows; that of each shorter prefix is kept for the next time.
    const uint64_t* cover_without_first() {
        const Bitmaps& all = *known_.columns;
        prefixes_.resize(std::max(prefixes_.size(), itemset_.size()));
        for (covered_ = std::max<Index>(covered_, 1); covered_ < itemset_.size(); ++covered_) {
            List<uint64_t>& cover = prefixes_[covered_];
            cover.resize(all.words);
            const uint64_t* column = all.columns[itemset_[covered_]].bits;
            if (covered_ == 1) std::copy(column, column + all.words, cover.begin());
            else all.meet(prefixes_[covered_ - 1].data(), column, cover.data());
        }
        return prefixes_[itemset_.size() - 1].data();
    }

    List<int32_t> position_;    // item -> its node in the trie, as an extension of x1
    Vector<int64_t> supports_;  // node -> support
    Vector<Breach> breaches_;   // node -> breach probability
    List<int32_t> itemset_, scratch_, subset_;
    List<List<uint64_t>> prefixes_;  // i -> the cover of itemset_[1..i], for i < covered_
    Index covered_ = 0;
    Trie* trie_ = nullptr;
};

}  // namespace veilset::mining
