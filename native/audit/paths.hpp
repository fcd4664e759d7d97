// Rows that end alike are read once: a tree of paths, from the most frequent item down to the rarest.
//
// A row is the path from its rarest item up to the root, so that the items after one of its items are the nodes above
// it. All rows that hold an item and the same items after it meet in one node, which therefore stands for the *distinct
// projected rows* of a branch, with their number as its weight. Rows with different sensitive things never share a
// node.
#pragma once

#include <bit>
#include <limits>

#include "audit/findings.hpp"
#include "core/csr.hpp"

namespace veilset::auditing {

// So many rows that hold a prefix: the node of its last item, and the set of sensitive things they hold.
struct Position {
    int32_t node;
    int32_t set;
    int64_t weight;
};
using Cohort = Vector<Position>;

// Adds rows to a cohort. Those that go on alike come one after the other, as the nodes below a node do.
inline void deliver(Cohort& cohort, int32_t node, const Position& from) {
    if (!cohort.empty() && cohort.back().node == node) cohort.back().weight += from.weight;
    else cohort.push_back({node, from.set, from.weight});
}

inline int64_t weight_of(View<Position> cohort) {
    int64_t sum = 0;
    for (const Position& at : cohort) sum += at.weight;
    return sum;
}

class Paths {
public:
    explicit Paths(Control& control) : control_(control) {}

    int32_t item(int32_t node) const { return item_[node]; }
    // none: it was the last item.
    int32_t above(int32_t node) const { return link_[node] >= 0 ? node - 1 : ~link_[node] - 1; }
    bool is_row(int32_t node) const { return is_row_[node]; }  // whether some row begins here, with all its items
    View<Position> holders(Index item) const { return holders_[item]; }

    // body(item, node) for the items that follow.
    template <class Body>
    void for_each_item(int32_t node, Body body) const {
        for (;;) {
            if (const int32_t first = link_[node]; first >= 0)
                while (node > first) {
                    --node;
                    body(item_[node], node);
                }
            node = above(node);
            if (node == none) return;
            body(item_[node], node);
        }
    }

    void clear() {
        for (auto* values : {&item_, &link_}) Vector<int32_t>(control_).swap(*values);
        Vector<uint8_t>(control_).swap(is_row_);
        holders_ = Groups<Position>(control_);
    }

    // What so many rows with so many items may take while the tree is made.
    static int64_t bytes(int64_t rows, int64_t items, int64_t indexed) {
        return rows * int64_t(sizeof(Key)) + items * int64_t(sizeof(uint8_t) + 3 * sizeof(int32_t) + sizeof(int64_t)) +
               indexed * int64_t(sizeof(Position));
    }

    // The rows as ascending items, the sensitive set of each, whether items were left out at its front, and its weight
    // (empty: one each); an index of the nodes of the items first .. last - 1.
    void make(const Groups<int32_t>& rows, View<int32_t> sets, View<uint8_t> cut, View<int64_t> weights, int32_t first,
              int32_t last) {
        const auto order = sorted(rows, sets, last);
        Index nodes = 0;
        for (Index r = 0; r < order.size(); ++r) {
            const auto row = rows[order[r].row];
            nodes += row.size() - (r == 0 ? 0 : common(rows, sets, order[r - 1].row, order[r].row));
        }
        constexpr Index most = std::numeric_limits<int32_t>::max();
        if (std::max(nodes, order.size()) > most) throw std::invalid_argument("a batch has too many items");
        for (auto* values : {&item_, &link_}) values->reserve(nodes);
        is_row_.reserve(nodes);
        Vector<int32_t> set(control_);
        Vector<int64_t> weight(control_);
        set.reserve(nodes);
        weight.reserve(nodes);
        List<int32_t> path;  // the nodes of the row before, from the root on
        for (Index r = 0; r < order.size(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            const auto row = rows[order[r].row];
            path.resize(r == 0 ? 0 : common(rows, sets, order[r - 1].row, order[r].row));
            const auto chain = int32_t(item_.size());
            for (Index at = row.size() - path.size(); at-- > 0;) {
                const auto node = int32_t(item_.size());
                item_.push_back(row[at]);
                link_.push_back(node > chain ? chain : ~((path.empty() ? none : path.back()) + 1));
                set.push_back(sets[order[r].row]);
                weight.push_back(0);
                is_row_.push_back(0);
                path.push_back(node);
            }
            if (path.empty()) continue;
            weight[path.back()] += weights.empty() ? 1 : weights[order[r].row];
            if (!cut[order[r].row]) is_row_[path.back()] = 1;
        }
        for (Index node = nodes; node-- > 0;)
            if (above(int32_t(node)) != none) weight[above(int32_t(node))] += weight[node];
        holders_.fill(last, [&](auto put) {
            for (Index node = 0; node < nodes; ++node) {
                if (node % polled_rows == 0) control_.poll();
                if (item_[node] >= first && item_[node] < last)
                    put(item_[node], Position{int32_t(node), set[node], weight[node]});
            }
        });
    }

private:
    static constexpr int64_t polled_rows = 4096;

    struct Key {
        uint64_t begin;  // the last items of the row, as far as they fit
        int32_t set;
        int32_t row;
    };

    // Rows of a set lie side by side, and in it those that end alike.
    Vector<Key> sorted(const Groups<int32_t>& rows, View<int32_t> sets, int32_t items) const {
        int64_t most = items;
        for (Index r = 0; r < rows.size(); ++r)
            if (!rows[r].empty()) most = std::max<int64_t>(most, rows[r].back());
        const int bits = 64 - std::countl_zero(uint64_t(most) + 1);
        Vector<Key> keys(control_);
        keys.reserve(rows.size());
        for (Index r = 0; r < rows.size(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            Key key{0, sets[r], int32_t(r)};
            const auto row = rows[r];
            Index at = row.size();
            for (int left = 64; left >= bits; left -= bits)
                key.begin = key.begin << bits | (at > 0 ? uint64_t(row[--at]) + 1 : 0);
            keys.push_back(key);
        }
        std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
            if (a.set != b.set) return a.set < b.set;
            if (a.begin != b.begin) return a.begin < b.begin;
            const auto one = rows[a.row], other = rows[b.row];
            return std::lexicographical_compare(one.rbegin(), one.rend(), other.rbegin(), other.rend());
        });
        return keys;
    }

    static Index common(const Groups<int32_t>& rows, View<int32_t> sets, Index a, Index b) {
        if (sets[a] != sets[b]) return 0;
        const auto one = rows[a], other = rows[b];
        return std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend()).first - one.rbegin();
    }

    Control& control_;
    // A node comes after the one above it, and most come next: what a row has of its own is a chain of nodes, which is
    // read without looking up where each leads. The link of a node is the first of its chain; that of the first, ~(the
    // node above + 1).
    Vector<int32_t> item_{control_}, link_{control_};
    Vector<uint8_t> is_row_{control_};
    Groups<Position> holders_{control_};  // by item, in the order of the tree
};

}  // namespace veilset::auditing
