// The safe itemsets of one branch: (parent, item) -> node, in one hash table.
#pragma once

#include "mining/rows.hpp"

namespace veilset::mining {

class Trie {
public:
    // Nodes below `roots` are given; the others are numbered from there.
    Trie(Index items, Index roots, Control& control)
        : keys_(64, empty, control), nodes_(64, 0, control), items_(items), next_(int32_t(roots)) {}

    int32_t find(int32_t parent, int32_t item) const {
        const Index slot = slot_of(key(parent, item));
        return keys_[slot] == empty ? none : nodes_[slot];
    }
    int32_t insert(int32_t parent, int32_t item) {
        if (2 * size_ >= keys_.size()) grow();
        if (next_ == INT32_MAX) throw OutOfMemory();
        const Index slot = slot_of(key(parent, item));
        ++size_;
        keys_[slot] = key(parent, item);
        return nodes_[slot] = next_++;
    }

private:
    static constexpr uint64_t empty = ~uint64_t(0);
    uint64_t key(int32_t parent, int32_t item) const { return uint64_t(parent) * uint64_t(items_) + uint64_t(item); }
    Index slot_of(uint64_t key) const {
        Index slot = stir(key) & (keys_.size() - 1);
        while (keys_[slot] != empty && keys_[slot] != key) slot = (slot + 1) & (keys_.size() - 1);
        return slot;
    }
    void grow() {
        Vector<uint64_t> keys(2 * keys_.size(), empty, keys_.get_allocator());
        Vector<int32_t> nodes(2 * keys_.size(), 0, nodes_.get_allocator());
        keys.swap(keys_);
        nodes.swap(nodes_);
        for (Index i = 0; i < keys.size(); ++i)
            if (keys[i] != empty) {
                const Index slot = slot_of(keys[i]);
                keys_[slot] = keys[i];
                nodes_[slot] = nodes[i];
            }
    }

    Vector<uint64_t> keys_;
    Vector<int32_t> nodes_;
    Index items_;
    int32_t next_;
    Index size_ = 0;
};

}  // namespace veilset::mining
