// The product of a transaction database with a sanitization matrix (Lee, Chang, Chen 2004, §2.2.1), on sparse data.
//
// D'_tj can be 1 only where D_tj is, and S has a diagonal of ones, so that item j can go from transaction t only if
// column j holds a -1. All other occurrences stay without a look; nothing is ever as large as rows times items.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 1024;

enum State : uint8_t { gone = 0, stays = 1, restored_by_chance = 2 };

// The columns of S without its diagonal: column j holds values[first[j] .. first[j + 1]) for the items in `items`.
struct Columns {
    std::span<const int64_t> first;
    std::span<const int32_t> items;
    std::span<const int8_t> values;
    std::vector<uint8_t> has_victim;  // whether a column holds a -1

    Columns(const Array<int64_t>& offsets, const Array<int32_t>& rows, const Array<int8_t>& entries,
            int32_t vocabulary) {
        const Csr checked(offsets, rows, vocabulary);
        first = checked.offsets, items = checked.items, values = span_of(entries);
        if (checked.rows() != vocabulary) throw std::invalid_argument("one column for each item, please");
        if (values.size() != items.size()) throw std::invalid_argument("one value for each entry, please");
        has_victim.resize(vocabulary, 0);
        for (size_t j = 0; j < size_t(vocabulary); ++j)
            for (int64_t at = first[j]; at < first[j + 1]; ++at) {
                if (at > first[j] && items[at] <= items[at - 1])
                    throw std::invalid_argument("the entries of a column are not in order");
                if (values[at] < 0) has_victim[j] = 1;
            }
    }

    // The sum over the row's items k of S_kj, diagonal included, and whether one of them is -1. The row holds j.
    std::pair<int64_t, bool> sum(int32_t j, std::span<const int32_t> row) const {
        const size_t begin = first[j], size = size_t(first[j + 1]) - begin;
        const std::span<const int32_t> column = items.subspan(begin, size);
        int64_t total = 1;
        bool hit = false;
        const auto meet = [&](size_t at) {
            total += values[begin + at];
            hit |= values[begin + at] < 0;
        };
        if (row.size() < size) {
            auto from = column.begin();
            for (int32_t k : row)
                if ((from = std::lower_bound(from, column.end(), k)) == column.end()) break;
                else if (*from == k && k != j) meet(from - column.begin());
        } else {
            auto from = row.begin();
            for (size_t at = 0; at < size; ++at)
                if ((from = std::lower_bound(from, row.end(), column[at])) == row.end()) break;
                else if (*from == column[at] && column[at] != j) meet(at);
        }
        return {total, hit};
    }
};

// For each occurrence whether it is gone, stays, or stays only if it is restored by chance: the product keeps it, but a
// -1 met it (HPCME, §3.3).
Output<uint8_t> sanitize(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary,
                         const Array<int64_t>& column_offsets, const Array<int32_t>& column_items,
                         const Array<int8_t>& column_values, int threads, int64_t memory_limit, double time_limit,
                         nb::object progress) {
    const Csr data(offsets, items, vocabulary);
    const Columns columns(column_offsets, column_items, column_values, vocabulary);
    Control control(memory_limit, time_limit, std::move(progress));
    control.charge(int64_t(data.items.size()));
    std::vector<uint8_t> state(data.items.size(), stays);
    const int64_t blocks = (data.rows() + rows_per_block - 1) / rows_per_block;
    control.begin(1, blocks);
    control.parallel(threads, blocks, [&](int64_t block, int) {
        for (int64_t r = block * rows_per_block; r < std::min(data.rows(), (block + 1) * rows_per_block); ++r) {
            const std::span<const int32_t> row = data.row(r);
            uint8_t* at = state.data() + data.offsets[r];
            for (int32_t j : row) {
                if (columns.has_victim[j]) {
                    const auto [total, hit] = columns.sum(j, row);
                    *at = total < 1 ? gone : hit ? restored_by_chance : stays;
                }
                ++at;
            }
            control.poll();
        }
    });
    return to_numpy(std::move(state));
}

// Which occurrences are kept when what needs chance is restored with these odds, in units of 2^-53.
Output<uint8_t> restored(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary,
                         const Array<uint8_t>& states, uint64_t odds, uint64_t seed) {
    const Csr data(offsets, items, vocabulary);
    const auto state = span_of(states);
    if (state.size() != data.items.size()) throw std::invalid_argument("one state for each occurrence, please");
    std::vector<uint8_t> kept(state.begin(), state.end());
    for (int64_t r = 0; r < data.rows(); ++r)
        for (size_t at = data.offsets[r]; at < size_t(data.offsets[r + 1]); ++at)
            if (kept[at] == restored_by_chance) kept[at] = Chances(seed, r).of(data.items[at]) < odds;
            else if (kept[at] > restored_by_chance) throw std::invalid_argument("no such state");
    return to_numpy(std::move(kept));
}

}  // namespace

void register_hiding_product(nb::module_& m) {
    m.def("sanitize", &sanitize, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("vocabulary"),
          nb::arg("column_offsets").noconvert(), nb::arg("column_items").noconvert(),
          nb::arg("column_values").noconvert(), nb::kw_only(), nb::arg("threads"), nb::arg("memory_limit"),
          nb::arg("time_limit"), nb::arg("progress").none());
    m.def("restored", &restored, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("vocabulary"),
          nb::arg("states").noconvert(), nb::kw_only(), nb::arg("odds"), nb::arg("seed"));
}

}  // namespace veilset
