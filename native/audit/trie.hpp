// The safe itemsets that the auditor has found, as a trie of levels: level i holds those of i + 2 items. The nodes of
// single items are their numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

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
    bool reaches(size_t size) const { return size < 2 || !levels_[size - 2].items.empty(); }

    // The first child of a node of an itemset of this size; its number in the trie and those of its siblings follow.
    int64_t first_child(size_t size, int64_t node) const { return levels_[size - 1].begin[node]; }
    // The items by which a node of an itemset of this size can be extended, ascending.
    std::span<const int32_t> children(size_t size, int64_t node) const {
        const Level& level = levels_[size - 1];
        return std::span(level.items).subspan(level.begin[node], level.begin[node + 1] - level.begin[node]);
    }
    // The same for a safe itemset from which one item is left out.
    std::span<const int32_t> children_without(const std::vector<int32_t>& itemset, size_t left_out) const {
        int64_t node = itemset[left_out == 0 ? 1 : 0];
        size_t size = 1;
        for (size_t i = left_out == 0 ? 2 : 1; i < itemset.size(); ++i) {
            if (i == left_out) continue;
            auto siblings = children(size, node);
            node = first_child(size++, node) +
                   (std::lower_bound(siblings.begin(), siblings.end(), itemset[i]) - siblings.begin());
        }
        return children(size, node);
    }

private:
    std::vector<Level> levels_;
};

}  // namespace veilset::auditing
