// The safe itemsets that the auditor has found, as a trie of levels: level i holds those of i + 2 items. The nodes of
// single items are their numbers.
#pragma once

#include "core/control.hpp"

namespace veilset::auditing {

struct Level {
    Vector<int64_t> begin;  // children of node j of the level above: items[begin[j] .. begin[j + 1])
    Vector<int32_t> items;
};

class Trie {
public:
    void add(Level level) { levels_.push_back(std::move(level)); }

    // Whether itemsets of this size were found; single items always are.
    bool reaches(Index size) const { return size < 2 || !levels_[size - 2].items.empty(); }

    // The first child of a node of an itemset of this size; its number in the trie and those of its siblings follow.
    int64_t first_child(Index size, int64_t node) const { return levels_[size - 1].begin[node]; }
    // The items by which a node of an itemset of this size can be extended, ascending.
    View<int32_t> children(Index size, int64_t node) const {
        const Level& level = levels_[size - 1];
        return part(level.items, level.begin, node);
    }
    // The same for a safe itemset from which one item is left out.
    View<int32_t> children_without(const List<int32_t>& itemset, Index left_out) const {
        int64_t node = itemset[left_out == 0 ? 1 : 0];
        Index size = 1;
        for (Index i = left_out == 0 ? 2 : 1; i < itemset.size(); ++i) {
            if (i == left_out) continue;
            auto siblings = children(size, node);
            node = first_child(size++, node) +
                   (std::lower_bound(siblings.begin(), siblings.end(), itemset[i]) - siblings.begin());
        }
        return children(size, node);
    }

private:
    List<Level> levels_;
};

}  // namespace veilset::auditing
