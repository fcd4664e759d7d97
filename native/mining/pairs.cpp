// The pairs of items that occur together, counted along the rows of the first one: only pairs that occur cost anything.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"
#include "mining/covers.hpp"
#include "mining/found.hpp"
#include "mining/rows.hpp"

namespace veilset {
namespace {

using namespace mining;

class PairCounter {
public:
    PairCounter(const Rows& rows, int64_t min_support, Control& control)
        : rows_(rows), min_support_(min_support), covers_(rows, control), counts_(rows.items(), 0, control),
          met_(rows.items() + 1, control), marks_((rows.items() + 63) / 64, 0, control) {}

    // The pairs whose first item is this one, by their second.
    void count(int32_t first, Found& found) {
        size_t met = 0;
        covers_.for_each_row(rows_.places(first), [&](const Place& place, std::span<const int32_t> row) {
            const int32_t weight = rows_.weight(place.row);
            for (int32_t second : row.subspan(place.next)) {
                met_[met] = second;  // without a branch: most guesses would be wrong
                met += counts_[second] == 0;
                counts_[second] += weight;
            }
        });
        size_t often = 0;
        for (size_t m = 0; m < met; ++m) {
            const int32_t second = met_[m];
            met_[often] = second;
            if (counts_[second] >= min_support_) ++often;
            else counts_[second] = 0;
        }
        ascending(often, [&](int32_t second) {
            found.items.push_back(rows_.code(first));
            found.items.push_back(rows_.code(second));
            found.sizes.push_back(2);
            found.supports.push_back(std::exchange(counts_[second], 0));
        });
    }

private:
    // body(item) for the first `count` that were met, in their order: sorted if they are few, else marked and looked
    // up.
    template <class Body>
    void ascending(size_t count, Body body) {
        if (16 * count < marks_.size()) {
            std::sort(met_.begin(), met_.begin() + ptrdiff_t(count));
            for (size_t m = 0; m < count; ++m) body(met_[m]);
            return;
        }
        for (size_t m = 0; m < count; ++m) marks_[size_t(met_[m]) / 64] |= uint64_t(1) << (met_[m] % 64);
        for (size_t w = 0; w < marks_.size(); ++w)
            for (uint64_t left = std::exchange(marks_[w], 0); left; left &= left - 1)
                body(int32_t(64 * w) + __builtin_ctzll(left));
    }

    const Rows& rows_;
    int64_t min_support_;
    Covers covers_;
    Vector<int32_t> counts_, met_;
    Vector<uint64_t> marks_;
};

nb::tuple pairs(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<uint8_t>& allowed,
                int64_t min_support, int threads, int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, int32_t(allowed.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    const int64_t at_least = std::max<int64_t>(1, min_support);
    std::unique_ptr<Rows> rows;
    Vector<Found> found(control);
    control.single([&] {
        rows = std::make_unique<Rows>(data, span_of(allowed), std::span<const int32_t>(), at_least,
                                      Rows::Order::vocabulary, control);
        found.assign(rows->items(), Found(control));
    });
    std::vector<std::unique_ptr<PairCounter>> counters(Control::useful(threads, int64_t(rows->items())));
    control.begin(1, int64_t(rows->items()));
    control.parallel(int(counters.size()), int64_t(rows->items()), [&](int64_t first, int worker) {
        auto& counter = counters[worker];
        if (!counter) counter = std::make_unique<PairCounter>(*rows, at_least, control);
        counter->count(int32_t(first), found[first]);
    });
    return as_arrays(found, control);
}

}  // namespace

void register_mining_pairs(nb::module_& m) {
    m.def("pairs", &pairs, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("allowed").noconvert(),
          nb::kw_only(), nb::arg("min_support"), nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"),
          nb::arg("progress").none());
}

}  // namespace veilset
