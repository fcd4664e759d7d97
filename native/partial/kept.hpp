// Rows of which single occurrences are missing: what partial suppression changes, one item at a time.
//
// Only the items of `order` take part, known by their place in it: from the rarest to the most frequent, so that a walk
// over the items of a row in their order meets the rare ones first. All other items stay as they are.
#pragma once

#include "core/csr.hpp"

namespace veilset::partial {

struct Holder {
    int64_t row, place;  // the row, and where in it the occurrence stands (among those that take part)
};

class Kept {
public:
    // `kind`: of each item of the vocabulary, which sensitive thing it is; -1: none.
    Kept(const Csr& data, View<int32_t> order, View<int32_t> kind, Control& control)
        : offsets_(control), items_(control), origin_(control), kept_(control), barred_(control), holders_(control),
          things_(control) {
        Vector<int32_t> rank(data.vocabulary, -1, control);
        for (Index r = 0; r < order.size(); ++r) {
            if (order[r] < 0 || order[r] >= data.vocabulary || rank[order[r]] >= 0)
                throw std::invalid_argument("each item of the vocabulary once at most, please");
            rank[order[r]] = int32_t(r);
        }
        offsets_.reserve(data.rows() + 1);
        offsets_.push_back(0);
        List<std::pair<int32_t, int64_t>> row;
        List<int32_t> things;
        for (Index r = 0; r < data.rows(); ++r) {
            row.clear();
            things.clear();
            for (int64_t at = data.offsets[r]; at < data.offsets[r + 1]; ++at)
                if (rank[data.items[at]] >= 0) row.emplace_back(rank[data.items[at]], at);
            for (int32_t item : data.row(r))
                if (kind[item] >= 0) things.push_back(kind[item]);
            std::ranges::sort(things);
            const auto [twice, end] = std::ranges::unique(things);
            things_.values.insert(things_.values.end(), things.begin(), twice);
            things_.close();
            std::ranges::sort(row);
            for (const auto& [item, at] : row) items_.push_back(item), origin_.push_back(at);
            offsets_.push_back(items_.size());
        }
        kept_.assign(items_.size(), 0);
        barred_.assign(items_.size(), 0);
        holders_.fill(order.size(), [&](auto put) {
            for (Index r = 0; r < rows(); ++r)
                for (int64_t at = offsets_[r]; at < offsets_[r + 1]; ++at) put(items_[at], Holder{r, at});
        });
    }

    Index rows() const { return offsets_.size() - 1; }
    Index items() const { return holders_.size(); }
    // All rows that had the item in the first place.
    View<Holder> holders(int32_t item) const { return holders_[item]; }
    bool holds(const Holder& holder) const { return kept_[holder.place]; }
    bool keeps(int64_t place) const { return kept_[place]; }
    void keep(int64_t place) { kept_[place] = 1; }
    void lose(int64_t place) { kept_[place] = 0; }
    // Only these occurrences of the data may return from now on; empty: all.
    void open(View<uint8_t> wanted) {
        for (Index at = 0; at < kept_.size(); ++at) barred_[at] = !wanted.empty() && !wanted[origin_[at]];
    }
    bool barred(const Holder& holder) const { return barred_[holder.place] && !kept_[holder.place]; }
    int32_t item_at(int64_t place) const { return items_[place]; }
    std::pair<int64_t, int64_t> places(int64_t row) const { return {offsets_[row], offsets_[row + 1]}; }

    // The sensitive things of a row, in their order.
    View<int32_t> things(int64_t row) const { return things_[row]; }

    // body(item) for all items that the row has now, the rarest first.
    template <class Body>
    void for_each(int64_t row, Body body) const {
        for (int64_t at = offsets_[row]; at < offsets_[row + 1]; ++at)
            if (kept_[at]) body(items_[at]);
    }

    // Which of the occurrences of the data are left, where all others stay.
    void write(uint8_t* kept) const {
        for (Index at = 0; at < kept_.size(); ++at) kept[origin_[at]] = kept_[at];
    }
    int64_t origin(int64_t place) const { return origin_[place]; }

private:
    Vector<int64_t> offsets_;
    Vector<int32_t> items_;
    Vector<int64_t> origin_;  // where in the data it stands
    Vector<uint8_t> kept_, barred_;
    Groups<Holder> holders_;
    Groups<int32_t> things_;
};

}  // namespace veilset::partial
