// How large the auditor's rows are.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/arrays.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

// How many rows hold 0, 1, 2, ... of the items that are not left out; up to the most that a row holds.
nb::object row_sizes(const Array<int64_t>& offsets_, const Array<int32_t>& items_, const Array<uint8_t>& left_out_) {
    auto left_out = span_of(left_out_);
    const Csr data(offsets_, items_, int32_t(left_out.size()));
    std::vector<int64_t> rows;
    auto end = data.offsets.begin();  // of the row before
    in_parts(data.offsets.subspan(1), [&](std::span<const int64_t> part) {
        for (int64_t next : part) {
            const auto row = data.items.subspan(*end, next - *end);
            const size_t size = std::count_if(row.begin(), row.end(), [&](int32_t item) { return !left_out[item]; });
            if (size >= rows.size()) rows.resize(size + 1, 0);
            ++rows[size];
            ++end;
        }
    });
    return nb::cast(to_numpy(std::move(rows)));
}

}  // namespace

void register_audit_row_sizes(nb::module_& m) {
    m.def("row_sizes", &row_sizes, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(),
          nb::arg("left_out").noconvert());
}

}  // namespace veilset
