// The itemsets that the auditor goes on with, safe generators, as a trie of levels: level i holds those of i + 2 items.
// The nodes of single items are their numbers.
#pragma once

#include "core/control.hpp"

namespace veilset::auditing {

struct Level {
    Vector<int64_t> begin;  // children of node j of the level above: items[begin[j] .. begin[j + 1])
    Vector<int32_t> items;
    Vector<int64_t> supports;

    // counts: how many children each node of the level above has.
    Level(Vector<int32_t> items_, Vector<int64_t> supports_, View<int32_t> counts, Control& control)
        : begin(control), items(std::move(items_)), supports(std::move(supports_)) {
        begin.reserve(counts.size() + 1);
        begin.push_back(0);
        for (int32_t count : counts) begin.push_back(begin.back() + count);
    }
};

// The items by which an itemset can be extended, ascending, and the support of each extension.
struct Children {
    int64_t first;  // its number in the trie; those of its siblings follow
    View<int32_t> items;
    View<int64_t> supports;
};

class Trie {
public:
    void add(Level level) { levels_.push_back(std::move(level)); }

    // Whether itemsets of this size were found; single items always are.
    bool reaches(Index size) const { return size < 2 || !levels_[size - 2].items.empty(); }

    // Of a node of an itemset of this size.
    Children children(Index size, int64_t node) const {
        const Level& level = levels_[size - 1];
        return {level.begin[node], part(level.items, level.begin, node), part(level.supports, level.begin, node)};
    }
    // The node of an itemset from which one item is left out. It is there, if there is the itemset.
    int64_t node_without(const List<int32_t>& itemset, Index left_out) const {
        int64_t node = itemset[left_out == 0 ? 1 : 0];
        Index size = 1;
        for (Index i = left_out == 0 ? 2 : 1; i < itemset.size(); ++i) {
            if (i == left_out) continue;
            const Children siblings = children(size++, node);
            node = siblings.first + (std::ranges::lower_bound(siblings.items, itemset[i]) - siblings.items.begin());
        }
        return node;
    }

private:
    List<Level> levels_;
};

}  // namespace veilset::auditing
