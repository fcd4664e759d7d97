// The MOLE-tree and the greedy suppression on it (thesis §4.3.2, Definition 11, Figure 15).
// Moles share their first items; nodes are numbered as a walk meets them, so that a subtree is a range of numbers.
#include "core/csr.hpp"
#include "mining/greedy.hpp"

namespace veilset {
namespace {

constexpr int32_t none = -1;

class MoleTree {
public:
    MoleTree(const Csr& moles, Control& control)
        : moles_with_(moles.vocabulary, 0), head_of_link_(moles.vocabulary, none), control_(control), nodes_(control) {
        for (int32_t item : moles.items) ++moles_with_[item];
        build(moles);
    }

    // MM(v): the number of minimal moles that contain an item.
    int64_t moles_with(int32_t item) const { return moles_with_[item]; }

    // Lines 7-9 of Figure 15.
    void suppress(int32_t item) {
        for (int32_t n = head_of_link_[item]; n != none; n = nodes_[n].link) {
            const Node node = nodes_[n];
            if (node.moles == 0) continue;
            for (int32_t above = node.parent; above != none; above = nodes_[above].parent) {
                nodes_[above].moles -= node.moles;
                moles_with_[nodes_[above].item] -= node.moles;
            }
            for (int32_t below = n; below < node.end;) {
                Node& gone = nodes_[below];
                moles_with_[gone.item] -= gone.moles;
                below = gone.moles ? below + 1 : gone.end;  // below a node that is gone everything is gone
                gone.moles = 0;
            }
        }
    }

private:
    struct Node {
        int32_t item, moles;  // label and mole-num
        int32_t parent, end;  // the node above; the first number behind the subtree
        int32_t link;         // the next node of the same item
    };
    struct Mole {
        int32_t first, second, number;  // the ranks of its first two items; none: it has no second
    };

    void build(const Csr& moles) {
        // Items in many moles come first: their moles share most.
        const Index vocabulary = moles.vocabulary;
        const List<int32_t> by_rank = ordered_by(vocabulary, [&](int32_t item) { return -moles_with(item); });
        List<int32_t> rank(vocabulary);
        for (Index r = 0; r < vocabulary; ++r) rank[by_rank[r]] = int32_t(r);
        Vector<int32_t> ranks(moles.items.size(), control_);
        std::transform(moles.items.begin(), moles.items.end(), ranks.begin(), [&](int32_t item) { return rank[item]; });

        List<int32_t> open;  // the nodes of the path that was inserted last
        List<int32_t> last_on_link(vocabulary, none);
        auto close = [&](Index depth) {
            for (; open.size() > depth; open.pop_back()) nodes_[open.back()].end = int32_t(nodes_.size());
        };
        auto insert = [&](View<int32_t> path) {
            Index shared = 0;
            while (shared < open.size() && shared < path.size() && nodes_[open[shared]].item == by_rank[path[shared]])
                ++shared;
            close(shared);
            for (Index depth = shared; depth < path.size(); ++depth) {
                const int32_t number = int32_t(nodes_.size()), item = by_rank[path[depth]];
                nodes_.push_back({item, 0, open.empty() ? none : open.back(), number, none});
                int32_t& last = last_on_link[item];
                (last == none ? head_of_link_[item] : nodes_[last].link) = number;
                last = number;
                open.push_back(number);
            }
            for (int32_t number : open) ++nodes_[number].moles;
        };
        for (const Mole& mole : in_order(moles, ranks)) {
            control_.poll();
            if (moles.row(mole.number).size() > 2) insert(path(moles, ranks, mole.number));
            else insert(View(&mole.first, mole.second == none ? 1 : 2));  // the two stand side by side
        }
        close(0);
    }

    static std::span<int32_t> path(const Csr& moles, Vector<int32_t>& ranks, int32_t mole) {
        return {ranks.data() + moles.offsets[mole], ranks.data() + moles.offsets[mole + 1]};
    }

    // The moles as paths, sorted. Most are pairs: by the second item, then by the first, and what agrees in both by the
    // rest.
    Vector<Mole> in_order(const Csr& moles, Vector<int32_t>& ranks) {
        Vector<Mole> sorted(moles.rows(), control_), other(moles.rows(), control_);
        for (int32_t m = 0; m < int32_t(moles.rows()); ++m) {
            const auto items = path(moles, ranks, m);
            if (items.empty()) throw std::invalid_argument("a mole without items");
            std::sort(items.begin(), items.end());
            sorted[m] = {items[0], items.size() > 1 ? items[1] : none, m};
        }
        for (int32_t Mole::* key : {&Mole::second, &Mole::first}) {
            control_.poll();
            List<int32_t> place(moles.vocabulary + 2, 0);
            group(place, other, [&](auto put) {
                for (const Mole& mole : sorted) put(mole.*key + 1, mole);
            });
            sorted.swap(other);
        }
        auto same_start = [](const Mole& a, const Mole& b) { return a.first == b.first && a.second == b.second; };
        for (Index from = 0, to; from < sorted.size(); from = to) {
            for (to = from + 1; to < sorted.size() && same_start(sorted[from], sorted[to]);) ++to;
            if (to - from == 1) continue;
            control_.poll();
            std::sort(sorted.begin() + int64_t(from), sorted.begin() + int64_t(to), [&](const Mole& a, const Mole& b) {
                const auto left = path(moles, ranks, a.number), right = path(moles, ranks, b.number);
                return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
            });
        }
        return sorted;
    }

    List<int64_t> moles_with_;    // the Score table: MM(v), and
    List<int32_t> head_of_link_;  // the first node of an item
    Control& control_;
    Vector<Node> nodes_;
};

// The items to suppress, in the order in which they are chosen.
Output<int32_t> suppress_by_tree(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weight,
                                 View<uint8_t> keep) {
    const Csr moles(offsets, items, int32_t(weight.size()));
    if (keep.size() != weight.size()) throw std::invalid_argument("one mark for each item, please");
    if (moles.rows() >= Index(1) << 30 || moles.items.size() >= Index(1) << 31) throw OutOfMemory();
    List<int32_t> chosen;
    control.single([&] {
        control.begin(0, moles.rows());
        MoleTree tree(moles, control);
        List<Candidate> candidates;
        for (int32_t item = 0; item < moles.vocabulary; ++item)  // by MM(v) / IL(v)
            if (tree.moles_with(item) > 0 && !keep[item])
                candidates.push_back({tree.moles_with(item), weight[item], item, item});
        const auto count = [&](int32_t item) { return tree.moles_with(item); };
        choose_greedily(std::move(candidates), control, count, [&](const Candidate& best) {
            chosen.push_back(best.item);
            tree.suppress(best.item);
            return true;
        });
    });
    return to_numpy(std::move(chosen));
}

}  // namespace

void register_mining_mole_tree(nb::module_& m) {
    def_kernel(m, "suppress_by_tree", suppress_by_tree, "offsets"_a, "items"_a, "weight"_a, "keep"_a, nb::kw_only());
}

}  // namespace veilset
