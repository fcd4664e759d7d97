// The product of a transaction database with a sanitization matrix (Lee, Chang, Chen 2004, §2.2.1), on sparse data.
//
// D'_tj can be 1 only where D_tj is, and S has a diagonal of ones, so that item j can go from transaction t only if
// column j holds a -1. All other occurrences stay without a look; nothing is ever as large as rows times items.
#include "core/random.hpp"
#include "hiding/claims.hpp"

namespace veilset {
namespace {

enum State : uint8_t { gone = 0, stays = 1, restored_by_chance = 2 };

// The columns of S without its diagonal: column j holds values[first[j] .. first[j + 1]) for the items in `items`.
struct Columns {
    View<int64_t> first;
    View<int32_t> items;
    View<int8_t> values;
    List<uint8_t> has_victim;  // whether a column holds a -1

    Columns(View<int64_t> offsets, View<int32_t> rows, View<int8_t> entries, int32_t vocabulary) {
        const Csr checked(offsets, rows, vocabulary);
        first = checked.offsets, items = checked.items, values = entries;
        if (checked.rows() != vocabulary) throw std::invalid_argument("one column for each item, please");
        if (values.size() != items.size()) throw std::invalid_argument("one value for each entry, please");
        has_victim.resize(vocabulary, 0);
        for (Index j = 0; j < vocabulary; ++j)
            for (int64_t at = first[j]; at < first[j + 1]; ++at) {
                if (at > first[j] && items[at] <= items[at - 1])
                    throw std::invalid_argument("the entries of a column are not in order");
                if (values[at] < 0) has_victim[j] = 1;
            }
    }

    // The sum over the row's items k of S_kj, diagonal included, and whether one of them is -1. The row holds j.
    std::pair<int64_t, bool> sum(int32_t j, View<int32_t> row) const {
        const View<int32_t> column = part(items, first, j);
        int64_t total = 1;
        bool hit = false;
        const auto meet = [&](Index at) {
            const int8_t value = values[first[j] + at];
            total += value;
            hit |= value < 0;
        };
        if (row.size() < column.size()) {
            auto from = column.begin();
            for (int32_t k : row)
                if ((from = std::lower_bound(from, column.end(), k)) == column.end()) break;
                else if (*from == k && k != j) meet(from - column.begin());
        } else {
            auto from = row.begin();
            for (Index at = 0; at < column.size(); ++at)
                if ((from = std::lower_bound(from, row.end(), column[at])) == row.end()) break;
                else if (*from == column[at] && column[at] != j) meet(at);
        }
        return {total, hit};
    }
};

// For each occurrence whether it is gone, stays, or stays only if it is restored by chance: the product keeps it, but a
// -1 met it (HPCME, §3.3).
Output<uint8_t> sanitize(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                         View<int64_t> column_offsets, View<int32_t> column_items, View<int8_t> column_values,
                         int threads) {
    const Csr data(offsets, items, vocabulary);
    const Columns columns(column_offsets, column_items, column_values, vocabulary);
    control.charge(data.items.size());
    List<uint8_t> state(data.items.size(), stays);
    control.in_blocks(1, threads, data.rows(), hiding::rows_per_block, [&](Index r, int) {
        const View<int32_t> row = data.row(r);
        uint8_t* at = state.data() + data.offsets[r];
        for (int32_t j : row) {
            if (columns.has_victim[j]) {
                const auto [total, hit] = columns.sum(j, row);
                *at = total < 1 ? gone : hit ? restored_by_chance : stays;
            }
            ++at;
        }
    });
    return to_numpy(std::move(state));
}

// Which occurrences are kept when what needs chance is restored with these odds, in units of 2^-53. `copy` tells for
// each row which of the rows that are equal to it this one is: chance does not depend on their order.
Output<uint8_t> restored(View<int64_t> offsets, View<int32_t> items, int32_t vocabulary, View<uint8_t> state,
                         View<int64_t> copy, uint64_t odds, uint64_t seed) {
    const Csr data(offsets, items, vocabulary);
    if (state.size() != data.items.size()) throw std::invalid_argument("one state for each occurrence, please");
    if (copy.size() != data.rows()) throw std::invalid_argument("one copy for each row, please");
    List<uint8_t> kept(state.begin(), state.end());
    for (int64_t r = 0; r < data.rows(); ++r) {
        const Chances chances(seed, data.row(r), copy[r]);
        for (Index at = data.offsets[r]; at < data.offsets[r + 1]; ++at)
            if (kept[at] == restored_by_chance) kept[at] = chances.of(data.items[at]) < odds;
            else if (kept[at] > restored_by_chance) throw std::invalid_argument("no such state");
    }
    return to_numpy(std::move(kept));
}

}  // namespace

void register_hiding_product(nb::module_& m) {
    def_kernel(m, "sanitize", sanitize, "offsets"_a, "items"_a, "vocabulary"_a, "column_offsets"_a, "column_items"_a,
               "column_values"_a, nb::kw_only(), "threads"_a);
    m.def("restored", &restored, "offsets"_a, "items"_a, "vocabulary"_a, "states"_a, "copies"_a, nb::kw_only(),
          "odds"_a, "seed"_a);
}

}  // namespace veilset
