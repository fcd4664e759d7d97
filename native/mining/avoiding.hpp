// Counting only the itemsets that contain none of some given ones.
//
// For each given itemset a walk keeps the number of its items that the current node lacks, and these xored together:
// once a single one is lacking, that is its number, and the item is forbidden to the node and to all below it.
#pragma once

#include "mining/rows.hpp"

namespace veilset::mining {

// The given itemsets as codes, without the items that every counted itemset holds.
class Avoided {
public:
    Avoided(View<int64_t> offsets, View<int32_t> codes, View<int32_t> held, Control& control) : codes_(control) {
        for (Index s = 0; s + 1 < offsets.size(); ++s) {
            if (s % 4096 == 0) control.poll();
            for (int32_t code : part(codes, offsets, s))
                if (std::find(held.begin(), held.end(), code) == held.end()) codes_.values.push_back(code);
            codes_.close();
        }
    }

    Index size() const { return codes_.size(); }
    View<int32_t> itemset(Index s) const { return codes_[s]; }
    // Whether one of them is in every counted itemset: then there are none to count.
    bool everything() const {
        for (Index s = 0; s < size(); ++s)
            if (itemset(s).empty()) return true;
        return false;
    }
    // Takes away the items that are to be avoided by themselves.
    void narrow(List<uint8_t>& allowed) const {
        for (Index s = 0; s < size(); ++s)
            if (const auto codes = itemset(s); codes.size() == 1 && uint32_t(codes[0]) < allowed.size())
                allowed[codes[0]] = 0;
    }

private:
    Groups<int32_t> codes_;
};

// The same itemsets by the items of the rows; those with an item that no row holds are nowhere to be met.
class AvoidedRanks {
public:
    AvoidedRanks(const Avoided& avoided, const Rows& rows, Index vocabulary, Control& control)
        : sizes(control), xored(control), sets_(control) {
        List<int32_t> rank(vocabulary + 1, none);
        for (Index i = 0; i < rows.items(); ++i) rank[rows.code(int32_t(i))] = int32_t(i);
        const auto rank_of = [&](int32_t code) { return rank[std::min<Index>(uint32_t(code), vocabulary)]; };
        Vector<Index> met(control);
        for (Index s = 0; s < avoided.size(); ++s) {
            if (s % 4096 == 0) control.poll();
            const auto codes = avoided.itemset(s);
            if (std::ranges::any_of(codes, [&](int32_t code) { return rank_of(code) == none; })) continue;
            met.push_back(s);
            sizes.push_back(int32_t(codes.size()));
            xored.push_back(0);
            for (int32_t code : codes) xored.back() ^= rank_of(code);
        }
        sets_.fill(rows.items(), [&](auto put) {
            for (Index s = 0; s < met.size(); ++s)
                for (int32_t code : avoided.itemset(met[s])) put(rank_of(code), int32_t(s));
        });
    }

    // The itemsets with this item.
    View<int32_t> with(int32_t item) const { return sets_[item]; }

    Vector<int32_t> sizes, xored;

private:
    Groups<int32_t> sets_;  // by item
};

// What one walk knows of them at its current node.
class Avoiding {
public:
    Avoiding(const AvoidedRanks& avoided, Index items)
        : avoided_(avoided), lacking_(avoided.sizes), xored_(avoided.xored), times_(items, 0) {}

    bool concerns(int32_t item) const { return !avoided_.with(item).empty(); }
    bool forbids(int32_t item) const { return times_[item] > 0; }
    void extend(int32_t item) {
        for (int32_t s : avoided_.with(item)) {
            xored_[s] ^= item;
            if (--lacking_[s] == 1) ++times_[xored_[s]];
        }
    }
    void retract(int32_t item) {
        for (int32_t s : avoided_.with(item)) {
            if (lacking_[s]++ == 1) --times_[xored_[s]];
            xored_[s] ^= item;
        }
    }

private:
    const AvoidedRanks& avoided_;
    Vector<int32_t> lacking_, xored_;
    List<int32_t> times_;  // item -> how many of the itemsets lack only it
};

}  // namespace veilset::mining
