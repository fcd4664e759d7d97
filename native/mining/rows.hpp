// The transactions as the miners walk them: only the items that matter, rarest first; equal rows merged, with weights.
#pragma once

#include <array>

#include "core/csr.hpp"
#include "mining/slots.hpp"
#include "mining/words.hpp"

namespace veilset::mining {

constexpr int32_t none = -1;
constexpr View<int32_t> none_given;

// A row and the place in it where the items after the current one begin.
struct Place {
    int32_t row;
    int32_t next;
};

// Items are ranks from here on: 0 is the rarest, ties go to the item that comes first in the vocabulary (or all are in
// its order, for those who ask). Items that are only looked at (sensitive ones, when moles are mined) come after all
// others, in the order of the vocabulary.
class Rows {
public:
    enum class Order { rarest_first, vocabulary };

    // Of the rows that hold all of `given` (the cohort), the other allowed items that at least min_support of them
    // hold.
    Rows(const Csr& data, View<uint8_t> allowed, View<int32_t> given, int64_t min_support, Order order,
         Control& control, View<uint8_t> looked_at = {})
        : rows_(control), items_(control), first_(control), places_(control), control_(control) {
        if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
        List<int64_t> support(data.vocabulary, 0);
        for_each_row(data, given, [&](View<int32_t> row) {
            ++cohort_;
            for (int32_t item : row) ++support[item];
        });
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (allowed[i] && support[i] >= min_support && std::find(given.begin(), given.end(), i) == given.end())
                codes_.push_back(i);
        if (order == Order::rarest_first)
            std::ranges::stable_sort(codes_, {}, [&](int32_t code) { return support[code]; });
        walked_ = codes_.size();
        for (Index i = 0; i < looked_at.size(); ++i)
            if (looked_at[i] && support[i] > 0) codes_.push_back(int32_t(i));
        List<int32_t> rank(data.vocabulary, none);
        for (Index i = 0; i < codes_.size(); ++i) {
            rank[codes_[i]] = int32_t(i);
            supports_.push_back(support[codes_[i]]);
        }
        if (codes_.size() <= 64) merge<1>(data, given, rank);
        else if (codes_.size() <= 128) merge<2>(data, given, rank);
        else append(data, given, rank);
        index();
    }

    // A share of data that no machine holds as a whole: rows with weights, of so many in all, and the walked items with
    // their supports there, from the rarest on. A branch is as it is in the whole data if its rows are here, with the
    // items that come after its own, and with those before it if the walk excludes.
    Rows(const Csr& data, View<int64_t> weights, View<int32_t> order, View<int64_t> supports, int64_t rows,
         Control& control)
        : codes_(order.begin(), order.end()), supports_(supports.begin(), supports.end()), rows_(control),
          items_(control), first_(control), places_(control), control_(control), cohort_(rows), walked_(order.size()) {
        List<int32_t> rank(data.vocabulary, none);
        for (Index i = 0; i < codes_.size(); ++i) rank[codes_[i]] = int32_t(i);
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            const Index begin = items_.size();
            for (int32_t item : data.row(r))
                if (const int32_t i = rank[item]; i != none) items_.push_back(i);
            rows_.push_back({begin, int32_t(items_.size() - begin), int32_t(weights[r])});
        }
        index();
    }

    Index items() const { return codes_.size(); }
    Index walked() const { return walked_; }  // items that are not only looked at
    // Of those, the items that some row lacks. The others come after them: free from the start, no branch of a walk.
    Index branches() const {
        return std::find(supports_.begin(), supports_.begin() + walked_, cohort_) - supports_.begin();
    }
    int64_t rows() const { return cohort_; }  // of the cohort, before merging
    int32_t distinct() const { return int32_t(rows_.size()); }
    int32_t code(int32_t item) const { return codes_[item]; }
    // Appends the codes of these items, in the order of the vocabulary.
    template <class Codes>
    void append_codes(View<int32_t> items, Codes& codes) const {
        const Index first = codes.size();
        for (int32_t item : items) codes.push_back(code(item));
        std::sort(codes.begin() + first, codes.end());
    }
    int64_t support(int32_t item) const { return supports_[item]; }
    int32_t weight(int32_t row) const { return rows_[row].weight; }
    View<int32_t> row(int32_t r) const { return View(items_).subspan(rows_[r].begin, rows_[r].size); }
    void fetch_soon(Place place) const { __builtin_prefetch(&rows_[place.row]); }
    void fetch(Place place) const { __builtin_prefetch(items_.data() + rows_[place.row].begin + place.next); }
    View<Place> places(int32_t item) const { return part(places_, first_, item); }
    int32_t longest() const { return longest_; }

private:
    // With few items a row is a mask, and merging costs one look into a hash table.
    template <size_t Words>
    void merge(const Csr& data, View<int32_t> given, const List<int32_t>& rank) {
        using Mask = std::array<uint64_t, Words>;
        Vector<Mask> masks(control_);
        Slots numbers(control_);
        for_each_row(data, given, [&](View<int32_t> held) {
            Mask mask{};
            for (int32_t item : held)
                if (const int32_t i = rank[item]; i != none) set_bit(mask, i);
            if (mask == Mask{}) return;
            uint64_t hash = 0;
            for (uint64_t word : mask) hash = stir(hash ^ word);
            const int32_t at = numbers.find_or_add(hash, [&](int32_t other) { return masks[other] == mask; });
            if (at == masks.size()) {
                masks.push_back(mask);
                rows_.push_back({0, 0, 0});
            }
            ++rows_[at].weight;
        });
        for (Index r = 0; r < masks.size(); ++r) {
            rows_[r].begin = items_.size();
            for_each_bit(masks[r], [&](int32_t item) { items_.push_back(item); });
            rows_[r].size = int32_t(items_.size() - rows_[r].begin);
        }
    }

    // With many items, equal rows are looked for as long as they turn up. The items are still in the order of the
    // vocabulary.
    void append(const Csr& data, View<int32_t> given, const List<int32_t>& rank) {
        Slots numbers(control_);
        bool merging = true;
        int64_t entries = 0;
        for (int64_t support : supports_) entries += support;
        items_.reserve(entries);  // growing step by step would touch twice the memory
        rows_.reserve(cohort_);
        int64_t seen = 0;
        for_each_row(data, given, [&](View<int32_t> held) {
            const Index begin = items_.size();
            for (int32_t item : held)
                if (const int32_t i = rank[item]; i != none) items_.push_back(i);
            if (items_.size() == begin) return;
            ++seen;
            if (merging) {
                const View<int32_t> added = View(items_).subspan(begin);
                const int32_t at = numbers.find_or_add(
                    hash_of(added), [&](int32_t other) { return std::ranges::equal(row(other), added); });
                if (at < distinct()) {
                    ++rows_[at].weight;
                    items_.resize(begin);
                    return;
                }
                merging = seen < 8192 || 20 * Index(distinct()) < 19 * seen;
            }
            rows_.push_back({begin, int32_t(items_.size() - begin), 1});
        });
    }

    template <class Body>
    void for_each_row(const Csr& data, View<int32_t> given, Body body) const {
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            const auto row = data.row(r);
            if (std::includes(row.begin(), row.end(), given.begin(), given.end())) body(row);
        }
    }

    // Sorts all rows and finds the places of every item.
    void index() {
        first_.assign(codes_.size() + 1, 0);
        for (int32_t item : items_) ++first_[item + 1];
        for (Index i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        places_.resize(items_.size());
        for (const Row& row : rows_) longest_ = std::max(longest_, row.size);
        List<int64_t> next(first_.begin(), first_.end() - 1);
        if (items_.size() > 1 << 22) {
            for (int32_t r = 0; r < distinct(); ++r) {
                if (r % 4096 == 0) control_.poll();
                int32_t* items = items_.data() + rows_[r].begin;
                std::sort(items, items + rows_[r].size);
                for (int32_t i = 0; i < rows_[r].size; ++i) places_[next[items[i]]++] = {r, i + 1};
            }
            return;
        }
        // As long as the rows fit the cache it is quicker to hand out the items in the order of ranks.
        for (int32_t r = 0; r < distinct(); ++r)
            for (int32_t item : row(r)) places_[next[item]++].row = r;
        Vector<int32_t> filled(distinct(), 0, control_);
        for (Index item = 0; item < codes_.size(); ++item)
            for (int64_t at = first_[item]; at < first_[item + 1]; ++at) {
                Place& place = places_[at];
                int32_t& size = filled[place.row];
                items_[rows_[place.row].begin + size] = int32_t(item);
                place.next = ++size;
            }
    }

    // Together, since a walk jumps from row to row and pays for every line of the cache.
    struct Row {
        int64_t begin;
        int32_t size, weight;
    };
    List<int32_t> codes_;
    List<int64_t> supports_;
    Vector<Row> rows_;
    Vector<int32_t> items_;
    Vector<int64_t> first_;  // item -> its part of places_
    Vector<Place> places_;
    Control& control_;
    int64_t cohort_ = 0;
    Index walked_ = 0;
    int32_t longest_ = 0;
};

}  // namespace veilset::mining
