// How large the auditor's rows are.
#include "core/csr.hpp"

namespace veilset {
namespace {

// How many rows hold 0, 1, 2, ... of the items that are not left out; up to the most that a row holds.
Output<int64_t> row_sizes(View<int64_t> offsets, View<int32_t> items, View<uint8_t> left_out) {
    const Csr data(offsets, items, int32_t(left_out.size()));
    List<int64_t> rows;
    for (Index r = 0; r < data.rows(); ++r) {
        if (r % (1 << 24) == 0) look_for_signals();
        const Index size = std::ranges::count_if(data.row(r), [&](int32_t item) { return !left_out[item]; });
        if (size >= rows.size()) rows.resize(size + 1, 0);
        ++rows[size];
    }
    return to_numpy(std::move(rows));
}

}  // namespace

void register_audit_row_sizes(nb::module_& m) { m.def("row_sizes", &row_sizes, "offsets"_a, "items"_a, "left_out"_a); }

}  // namespace veilset
