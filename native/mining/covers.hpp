// The cover of a node of a walk, first as a list of places in the rows, then as bitmaps; and the way from one to the
// other.
#pragma once

#include <bit>

#include "mining/arena.hpp"
#include "mining/bitmaps.hpp"
#include "mining/rows.hpp"

namespace veilset::mining {

struct Extension {
    int32_t item;
    int64_t support;
};

class Covers {
public:
    Covers(const Rows& rows_, Control& control)
        : rows(rows_), arena(control), control_(control), masks_(control), local_(rows_.items(), none) {}

    // The rows lie far apart: those that come soon are fetched ahead.
    template <class Body>
    void for_each_row(View<Place> places, Body body) const {
        constexpr Index ahead = 12;
        for (Index p = 0; p < places.size(); ++p) {
            if (p % 4096 == 0) control_.poll();
            if (p + 2 * ahead < places.size()) rows.fetch_soon(places[p + 2 * ahead]);
            if (p + ahead < places.size()) rows.fetch(places[p + ahead]);
            body(places[p], rows.row(places[p].row));
        }
    }

    // Every pair of extensions costs a pass over its words, or every entry is read once for each entry before it in its
    // row.
    static bool bitmaps_pay(Index tail, Index excluded, int64_t places, int64_t entries) {
        const double passes = double(tail) * double(tail + 2 * excluded), per_pass = 8 + double(places) / 64;
        return passes * per_pass < 16 * double(entries) * (4 + double(entries) / double(places));
    }

    // Hands the rows to all extensions at once; answers the places of each.
    List<View<Place>> deliver(View<Place> places, View<Extension> extensions) {
        const Index count = extensions.size();
        for (Index e = 0; e < count; ++e) local_[extensions[e].item] = int32_t(e);
        auto for_each_entry = [&](auto body) {
            for_each_row(places, [&](const Place& place, View<int32_t> row) {
                for (Index i = place.next; i < row.size(); ++i)
                    if (const int32_t e = local_[row[i]]; e != none) body(e, Place{place.row, int32_t(i) + 1});
            });
        };
        List<Index> end(count + 1, 0);
        for_each_entry([&](Index e, Place) { ++end[e + 1]; });
        for (Index e = 0; e < count; ++e) end[e + 1] += end[e];
        Place* delivered = arena.take<Place>(end[count]);
        List<View<Place>> parts;
        for (Index e = 0; e < count; ++e) parts.emplace_back(delivered + end[e], delivered + end[e + 1]);
        for_each_entry([&](Index e, Place place) { delivered[end[e]++] = place; });
        for (const Extension& e : extensions) local_[e.item] = none;
        return parts;
    }

    // Columns of bitmaps for the tail and the excluded items. These may stand before the place in a row if it is to be
    // taken `whole`. If not, rows that hold only one column are left out: they say nothing about extensions by two.
    Bitmaps as_bitmaps(View<Place> places, View<Extension> tail, View<Extension> excluded, bool whole,
                       bool merge_excluded) {
        return as_bitmaps(tail, excluded, whole, merge_excluded, [&](auto body) {
            for_each_row(places, [&](const Place& place, View<int32_t> row) {
                body(row.subspan(whole ? 0 : place.next), rows.weight(place.row));
            });
        });
    }

    // The same from rows that body(items, weight) is called with.
    template <class ForEachRow>
    Bitmaps as_bitmaps(View<Extension> tail, View<Extension> excluded, bool whole, bool merge_excluded,
                       ForEachRow for_each) {
        Bitmaps table;
        table.tail = int32_t(tail.size());
        table.count = int32_t(tail.size() + excluded.size());
        table.columns = arena.take<Column>(table.count);
        masks_.begin(tail.size(), excluded.size(), merge_excluded);
        Index c = 0;
        for (const auto& part : {tail, excluded})
            for (const Extension& e : part) {
                local_[e.item] = int32_t(masks_.bit_of(c));
                table.columns[c++] = {e.item, e.support, nullptr};
            }
        row_.resize(masks_.width());
        for_each([&](View<int32_t> items, int32_t weight) {
            std::fill(row_.begin(), row_.end(), 0);
            int held = 0;
            for (int32_t item : items)
                if (const int32_t bit = local_[item]; bit != none) {
                    set_bit(row_, bit);
                    ++held;
                }
            if (held > 1 || whole) masks_.add(row_.data(), weight);
        });
        for (int32_t i = 0; i < table.count; ++i) local_[table.columns[i].item] = none;
        masks_.write(table, arena);
        return table;
    }

    // Merges the rows of a table that have become equal, if that makes its bitmaps shorter.
    void condense(Bitmaps& table, bool merge_excluded) {
        masks_.begin(table.tail, table.count - table.tail, merge_excluded);
        const Index width = masks_.width();
        blocks_.resize(64 * width);
        row_.resize(width);
        for (Index word = 0; word < table.words; ++word) {
            uint64_t any = 0;
            for (int32_t c = 0; c < table.tail; ++c) any |= table.columns[c].bits[word];
            if (any == 0) continue;
            for (Index w = 0; w < width; ++w) {
                uint64_t* block = blocks_.data() + 64 * w;
                const auto [column, columns] = masks_.columns_of(w, table.count);
                for (Index c = 0; c < 64; ++c) block[c] = c < columns ? table.columns[column + c].bits[word] : 0;
                transpose(block);
            }
            const int64_t weight = table.shifts ? int64_t(1) << table.shifts[word] : 1;
            for (; any; any &= any - 1) {
                for (Index w = 0; w < width; ++w) row_[w] = blocks_[64 * w + Index(std::countr_zero(any))];
                masks_.add(row_.data(), weight);
            }
        }
        if (4 * masks_.words() <= 3 * table.words) masks_.write(table, arena);
    }

    const Rows& rows;
    Arena arena;

private:
    Control& control_;
    Masks masks_;
    List<int32_t> local_;  // item -> its place among the columns or extensions at hand
    List<uint64_t> blocks_, row_;
};

}  // namespace veilset::mining
