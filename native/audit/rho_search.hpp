// Everything that gives one sensitive item α away, without looking at all subsets of its transactions.
//
// A rule χ → α has the confidence w / (w + n): w is the weight of the *positives* (rows with α) that hold χ, its cover,
// and n that of the other rows that do. χ is grown to the intersection of its cover: that keeps w and can only lower n.
// So only such *closed* χ need to be looked at, and they are met once each by prefix-preserving closure extension (Uno
// et al., LCM).
//
// What keeps this short is a bound from the whole rows. Let n_t be the weight of the rows without α that hold t∖α. A
// row that holds t∖α holds every χ ⊆ t∖α, so n(χ) ≥ n_t for every t in the cover of χ. A rule that reaches the
// confidence a/b has n·a ≤ w·(b − a), hence n_t·a ≤ w·(b − a) for every t in its cover. At a node of the search whose
// cover weighs W, the rows with n_t·a > W·(b − a) are in the cover of no rule that reaches a/b there or below, as w ≤
// W: they are taken out, which lowers W, and so on until nothing changes. Covers are sorted by n_t, so that it is the
// end that is taken out.
//
// Why this finds all, and nothing else. Let χ* be closed and reach a/b. Its cover C* loses no row on the way, so in
// what is left of the rows at any node above it, χ* is still the intersection of its cover, and its w is right. Where
// the intersection χ of what is left holds an item before the one that was added last, and not taken by the nodes
// above, χ* ⊇ χ belongs to another branch, and this one can be left. Conversely, where rows were taken out, W is at
// most the true w of the antecedent found, while n is always counted on all rows: its confidence is at least what was
// found.
#pragma once

#include <array>

#include "audit/rho_masks.hpp"
#include "audit/rho_rows.hpp"
#include "audit/rho_rules.hpp"

namespace veilset::auditing {

// Working memory of one thread, reused from one sensitive item to the next.
class ClosedSearch {
public:
    // is_positive: of each row, whether it holds the sensitive item that is looked at.
    ClosedSearch(const MergedRows& rows, const Vector<uint8_t>& is_positive, Work& work, Control& control)
        : rows_(rows), is_positive_(is_positive), work_(work), control_(control), held_(rows.items(), 0, control),
          local_(rows.items(), none, control), bit_(rows.items(), none, control) {}

    // The first rule that reaches the threshold, or, if `surest`, the surest one; with = 0 if there is none. The
    // positives are sorted. All of one row, and single items, are the caller's: only covers of two rows or more are
    // looked at.
    Rule run(int32_t sensitive, View<Positive> positives, Threshold threshold, bool surest) {
        threshold_ = threshold;
        surest_ = surest;
        found_ = {};
        load(sensitive, positives);
        for (int32_t r = 0; r < int32_t(weight_.size()); ++r) covers_.push_back(r);
        extend({none, 0, covers_.size()});
        return std::move(found_);
    }

    int64_t checked() const { return checked_ + masks_.checked(); }  // antecedents counted, in all runs

private:
    struct Node {
        int32_t item;        // added last
        int64_t begin, end;  // its cover: covers_[begin .. end)
    };

    // The positives with the items that two of them share: any other is in no cover of two rows. These items are
    // numbered anew, from the one that the fewest share.
    void load(int32_t sensitive, View<Positive> positives) {
        for (auto* values : {&item_, &items_, &antecedent_, &covers_}) values->clear();
        for (auto* values : {&offsets_, &without_, &weight_}) values->clear();
        open_.clear();
        for (const Positive& positive : positives)
            for (int32_t item : rows_.row(positive.row))
                if (item != sensitive && ++held_[item] == 2) item_.push_back(item);
        std::ranges::sort(item_, {}, [&](int32_t item) { return std::pair(held_[item], item); });
        for (Index i = 0; i < item_.size(); ++i) local_[item_[i]] = int32_t(i);
        offsets_.push_back(0);
        for (const Positive& positive : positives) {
            for (int32_t item : rows_.row(positive.row)) {
                held_[item] = 0;
                if (local_[item] != none) items_.push_back(local_[item]);
            }
            if (items_.size() == offsets_.back()) continue;
            offsets_.push_back(items_.size());
            without_.push_back(positive.without);
            weight_.push_back(rows_.weight(positive.row));
            open_.push_back(positive.open);
        }
        for (int32_t item : item_) local_[item] = none;
        count_.assign(item_.size(), 0);
        next_.assign(item_.size(), none);
        taken_.assign(item_.size(), 0);
    }

    View<int32_t> row(int32_t r) const { return part(items_, offsets_, r); }

    // Looks at the closed antecedents that a node leads to; true if the search is over.
    bool extend(Node node) {
        control_.poll();
        int64_t weight = 0;
        for (int64_t c = node.begin; c < node.end; ++c) weight += weight_[covers_[c]];
        while (node.end > node.begin && !threshold_.reached(weight, without_[covers_[node.end - 1]]))
            weight -= weight_[covers_[--node.end]];
        if (node.end - node.begin < 2 ||
            std::none_of(&covers_[node.begin], &covers_[node.end], [&](int32_t r) { return open_[r]; }))
            return false;

        const Index antecedent = antecedent_.size(), children = extensions_.size(), covers = covers_.size();
        touched_.clear();
        int64_t steps = 0;
        for (int64_t c = node.begin; c < node.end; ++c) {
            steps += row(covers_[c]).size();
            for (int32_t item : row(covers_[c]))
                if (count_[item]++ == 0) touched_.push_back(item);
        }
        work_.spend(steps);
        const bool ours = close(node), few = ours && collect(node);
        if (ours && !few) deliver(node);
        for (int32_t item : touched_) count_[item] = 0;

        bool over = few ? search_masks(node) : ours && judge(weight);
        for (Index child = children; !over && child < extensions_.size(); ++child)
            over = extend(Node(extensions_[child]));
        for (Index i = antecedent; i < antecedent_.size(); ++i) taken_[antecedent_[i]] = 0;
        antecedent_.resize(antecedent);
        extensions_.resize(children);
        covers_.resize(covers);
        return over;
    }

    // Takes the items that all rows of the cover hold; false if one of them makes this the work of another branch.
    bool close(const Node& node) {
        for (int32_t item : touched_) {
            if (count_[item] < node.end - node.begin || taken_[item]) continue;
            if (item < node.item) return false;
            taken_[item] = 1;
            antecedent_.push_back(item);
        }
        return true;
    }

    // The items that can be added; true if a search by masks can take over here and pays: it reads all rows that hold
    // the antecedent, which is much for a small cover, where the steps below are few.
    bool collect(const Node& node) {
        candidates_.clear();
        for (int32_t item : touched_)
            if (item > node.item && !taken_[item] && count_[item] > 1) candidates_.push_back(item);
        if (candidates_.size() > 64) return false;
        int64_t holders = rows_.transactions();
        for (int32_t item : antecedent_) holders = std::min(holders, rows_.support(item_[item]));
        return holders <= 64 * (node.end - node.begin) * (node.end - node.begin);
    }

    bool search_masks(const Node& node) {
        for (Index bit = 0; bit < candidates_.size(); ++bit) {
            next_[candidates_[bit]] = bit;
            bit_[item_[candidates_[bit]]] = int32_t(bit);
        }
        MaskRows positives(control_), others(control_);
        for (int64_t c = node.begin; c < node.end; ++c) {
            MaskRow mask{0, weight_[covers_[c]]};
            for (int32_t item : row(covers_[c]))
                if (next_[item] != none) mask.items |= uint64_t(1) << next_[item];
            positives.push_back(mask);
        }
        name_antecedent();
        int64_t bare = itemset_.empty() ? rows_.elsewhere() : 0;  // rows that hold none of the items
        auto add = [&](int32_t r) {
            if (is_positive_[r]) return true;
            MaskRow mask{0, rows_.weight(r)};
            for (int32_t item : rows_.row(r))
                if (bit_[item] != none) mask.items |= uint64_t(1) << bit_[item];
            if (mask.items == 0) bare += mask.weight;
            else if (MaskRow& same = recent_[mask.items * 0x9E3779B97F4A7C15U >> 56]; same.items == mask.items)
                same.weight += mask.weight;
            else others.push_back(std::exchange(same, mask));
            return true;
        };
        if (!itemset_.empty()) rows_.for_each_holder(itemset_, add);
        else
            for (int32_t r = 0; r < rows_.rows(); ++r) add(r);
        for (MaskRow& same : recent_) others.push_back(std::exchange(same, {0, 0}));
        if (bare > 0) others.push_back({0, bare});
        for (int32_t item : candidates_) next_[item] = bit_[item_[item]] = none;

        const auto found = masks_.run(std::move(positives), std::move(others), threshold_, surest_);
        if (found.with == 0) return false;
        for (Index bit = 0; bit < candidates_.size(); ++bit)
            if (found.items >> bit & 1) itemset_.push_back(item_[candidates_[bit]]);
        std::sort(itemset_.begin(), itemset_.end());
        return record(found.with, found.without);
    }

    // Hands the rows of the cover to the items that can be added, which keeps them sorted.
    void deliver(const Node& node) {
        for (int32_t item : candidates_) {
            const int64_t begin = covers_.size();
            next_[item] = begin;
            covers_.resize(begin + count_[item]);
            extensions_.push_back({item, begin, covers_.size()});
        }
        for (int64_t c = node.begin; c < node.end; ++c) {
            const int32_t r = covers_[c];
            for (int32_t item : row(r))
                if (next_[item] != none) covers_[next_[item]++] = r;
        }
        for (int32_t item : candidates_) next_[item] = none;
    }

    // Counts the rows without the sensitive item that hold the antecedent, as long as they leave it sure enough.
    bool judge(int64_t with) {
        if (antecedent_.size() < 2) return false;
        name_antecedent();
        ++checked_;
        work_.spend(rows_.support(itemset_.front()));
        int64_t without = 0;
        rows_.for_each_holder(itemset_, [&](int32_t r) {
            if (!is_positive_[r]) without += rows_.weight(r);
            return threshold_.reached(with, without);
        });
        if (!threshold_.reached(with, without)) return false;
        return record(with, without);
    }

    bool record(int64_t with, int64_t without) {
        found_ = {with, without, itemset_};
        threshold_ = {with, with + without, true};
        return !surest_;
    }

    void name_antecedent() {
        itemset_.clear();
        for (int32_t item : antecedent_) itemset_.push_back(item_[item]);
        std::sort(itemset_.begin(), itemset_.end());
    }

    const MergedRows& rows_;
    const Vector<uint8_t>& is_positive_;
    Work& work_;
    Control& control_;
    Threshold threshold_{};
    bool surest_ = false;
    Rule found_;
    List<int32_t> itemset_;
    int64_t checked_ = 0;
    Vector<int32_t> held_, local_, bit_;  // by number: how many positives hold it, its local number, its bit
    Vector<int32_t> item_{control_};      // local number -> number; below, items are local and rows those loaded
    Vector<int64_t> offsets_{control_}, without_{control_}, weight_{control_}, count_{control_}, next_{control_};
    Vector<int32_t> items_{control_}, touched_{control_}, antecedent_{control_}, candidates_{control_};
    Vector<uint8_t> open_{control_}, taken_{control_};
    Vector<int32_t> covers_{control_};  // of the nodes from the root to this one, and of their extensions
    Vector<Node> extensions_{control_};
    std::array<MaskRow, 256> recent_{};  // the rows read last: many are equal as masks
    MaskSearch masks_{work_, control_};
};

}  // namespace veilset::auditing
