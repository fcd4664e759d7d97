// The rows that hold α (the positives), without it: what an antecedent can be made of.
#pragma once

#include <tuple>

#include "rules/rows.hpp"

namespace veilset::rules {

// What an antecedent must hold: an item (`base`), or one of those below `required` (0: need not).
struct Wanted {
    int32_t base = none;
    int32_t required = 0;
};

// Items are renumbered: first the required ones, then the rarest first. Equal positives are merged.
class Positives {
public:
    explicit Positives(const Rows& rows) : rows_(rows), count_(rows.items(), 0), local_(rows.items(), none) {}

    Index size() const { return weights_.size(); }
    View<int32_t> items(Index p) const { return part(items_, offsets_, p); }
    int64_t weight(Index p) const { return weights_[p]; }
    int64_t weight() const { return std::accumulate(weights_.begin(), weights_.end(), int64_t(0)); }
    int32_t code(int32_t item) const { return codes_[item]; }  // its number in the rows
    int32_t required() const { return required_; }             // how many of the items are

    // Those with these items, of which only the living count. Answers how many items were read.
    Index load(int32_t alpha, Wanted wanted, View<uint8_t> alive) {
        codes_.clear();
        sources_.clear();
        List<int32_t> found, flat;  // rows, and their items one after the other
        List<int64_t> begin{0};
        for (int32_t r : rows_.holders(alpha)) {
            const auto row = rows_.row(r);
            if (wanted.base != none && !std::ranges::binary_search(row, wanted.base)) continue;
            if (wanted.required && row.front() >= wanted.required) continue;
            for (int32_t item : row)
                if (item != alpha && alive[item]) {
                    if (count_[item]++ == 0) codes_.push_back(item);
                    flat.push_back(item);
                }
            found.push_back(r);
            begin.push_back(flat.size());
        }
        number(wanted.required);
        for (int32_t& item : flat) item = local_[item];
        for (int32_t item : codes_) local_[item] = none;
        for (Index f = 0; f < found.size(); ++f) std::sort(flat.begin() + begin[f], flat.begin() + begin[f + 1]);
        merge(found, flat, begin);
        return flat.size();
    }

    // Puts them in this order.
    void sort(View<int32_t> order) {
        place_.resize(size());
        List<int64_t> offsets(1, 0), weights;
        List<int32_t> all;
        all.reserve(items_.size());
        for (Index i = 0; i < order.size(); ++i) {
            const auto its = items(order[i]);
            place_[order[i]] = int32_t(i);
            all.insert(all.end(), its.begin(), its.end());
            offsets.push_back(all.size());
            weights.push_back(weight(order[i]));
        }
        items_.swap(all);
        offsets_.swap(offsets);
        weights_.swap(weights);
    }

    // body(row, positive) for the rows that they were made of.
    template <class Body>
    void for_each_source(Body body) const {
        for (const auto& [row, positive] : sources_) body(row, place_.empty() ? positive : place_[positive]);
    }

    // After a stop in the middle.
    void forget() {
        std::ranges::fill(count_, 0);
        std::ranges::fill(local_, none);
    }

private:
    void number(int32_t required) {
        std::ranges::sort(codes_, {}, [&](int32_t item) { return std::tuple(item >= required, count_[item], item); });
        required_ = int32_t(std::ranges::count_if(codes_, [&](int32_t item) { return item < required; }));
        for (Index i = 0; i < codes_.size(); ++i) {
            local_[codes_[i]] = int32_t(i);
            count_[codes_[i]] = 0;
        }
    }

    void merge(View<int32_t> found, View<int32_t> flat, View<int64_t> begin) {
        const auto items_of = [&](int32_t f) { return part(flat, begin, f); };
        List<int32_t> order(found.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, [&](int32_t a, int32_t b) {
            return std::ranges::lexicographical_compare(items_of(a), items_of(b));
        });
        offsets_.assign(1, 0);
        items_.clear();
        weights_.clear();
        place_.clear();
        for (Index i = 0; i < order.size(); ++i) {
            const auto its = items_of(order[i]);
            if (i == 0 || !std::ranges::equal(its, items_of(order[i - 1]))) {
                items_.insert(items_.end(), its.begin(), its.end());
                offsets_.push_back(items_.size());
                weights_.push_back(0);
            }
            weights_.back() += rows_.weight(found[order[i]]);
            sources_.push_back({found[order[i]], int32_t(size()) - 1});
        }
    }

    const Rows& rows_;
    List<int32_t> count_, local_;  // item -> how many positives hold it, its number; zeros and none between uses
    List<int32_t> codes_;
    int32_t required_ = 0;
    List<int64_t> offsets_, weights_;
    List<int32_t> items_;
    List<std::pair<int32_t, int32_t>> sources_;  // row -> its positive, by number before sorting
    List<int32_t> place_;                        // that number -> number after sorting; empty before
};

}  // namespace veilset::rules
