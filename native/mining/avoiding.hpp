// Counting only the itemsets that contain none of some given ones.
//
// For each given itemset a walk keeps the number of its items that the current node lacks, and these xored together:
// once a single one is lacking, that is its number, and the item is forbidden to the node and to all below it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/control.hpp"
#include "mining/rows.hpp"

namespace veilset::mining {

// The given itemsets as codes, without the items that every counted itemset holds.
class Avoided {
public:
    Avoided(std::span<const int64_t> offsets, std::span<const int32_t> codes, std::span<const int32_t> held,
            Control& control)
        : ends_(1, 0, control), codes_(control) {
        for (size_t s = 0; s + 1 < offsets.size(); ++s) {
            if (s % 4096 == 0) control.poll();
            for (int32_t code : codes.subspan(offsets[s], offsets[s + 1] - offsets[s]))
                if (std::find(held.begin(), held.end(), code) == held.end()) codes_.push_back(code);
            ends_.push_back(int64_t(codes_.size()));
        }
    }

    size_t size() const { return ends_.size() - 1; }
    std::span<const int32_t> itemset(size_t s) const {
        return {codes_.data() + ends_[s], codes_.data() + ends_[s + 1]};
    }
    // Whether one of them is in every counted itemset: then there are none to count.
    bool everything() const {
        for (size_t s = 0; s < size(); ++s)
            if (itemset(s).empty()) return true;
        return false;
    }
    // Takes away the items that are to be avoided by themselves.
    void narrow(std::vector<uint8_t>& allowed) const {
        for (size_t s = 0; s < size(); ++s)
            if (const auto codes = itemset(s); codes.size() == 1 && size_t(codes[0]) < allowed.size())
                allowed[codes[0]] = 0;
    }

private:
    Vector<int64_t> ends_;
    Vector<int32_t> codes_;
};

// The same itemsets by the items of the rows; those with an item that no row holds are nowhere to be met.
class AvoidedRanks {
public:
    AvoidedRanks(const Avoided& avoided, const Rows& rows, size_t vocabulary, Control& control)
        : sizes(control), xored(control), first_(rows.items() + 1, 0, control), sets_(control) {
        std::vector<int32_t> rank(vocabulary + 1, none);
        for (size_t i = 0; i < rows.items(); ++i) rank[rows.code(int32_t(i))] = int32_t(i);
        auto rank_of = [&](int32_t code) { return rank[std::min(size_t(code), vocabulary)]; };
        Vector<size_t> met(control);
        for (size_t s = 0; s < avoided.size(); ++s) {
            if (s % 4096 == 0) control.poll();
            const auto codes = avoided.itemset(s);
            if (std::any_of(codes.begin(), codes.end(), [&](int32_t code) { return rank_of(code) == none; })) continue;
            met.push_back(s);
            sizes.push_back(int32_t(codes.size()));
            xored.push_back(0);
            for (int32_t code : codes) {
                xored.back() ^= rank_of(code);
                ++first_[rank_of(code) + 1];
            }
        }
        for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        sets_.resize(first_.back());
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (size_t s = 0; s < met.size(); ++s)
            for (int32_t code : avoided.itemset(met[s])) sets_[next[rank_of(code)]++] = int32_t(s);
    }

    // The itemsets with this item.
    std::span<const int32_t> with(int32_t item) const {
        return {sets_.data() + first_[item], sets_.data() + first_[item + 1]};
    }

    Vector<int32_t> sizes, xored;

private:
    Vector<int64_t> first_;
    Vector<int32_t> sets_;
};

// What one walk knows of them at its current node.
class Avoiding {
public:
    Avoiding(const AvoidedRanks& avoided, size_t items)
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
    std::vector<int32_t> times_;  // item -> how many of the itemsets lack only it
};

}  // namespace veilset::mining
