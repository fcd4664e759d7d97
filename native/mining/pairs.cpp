// The pairs of items that occur together, counted along the rows of the first one: only pairs that occur cost anything.
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
          met_(rows.items() + 1, control), marks_(words_for(rows.items()), 0, control) {}

    // The pairs whose first item is this one, by their second.
    void count(int32_t first, Found& found) {
        Index met = 0;
        covers_.for_each_row(rows_.places(first), [&](const Place& place, View<int32_t> row) {
            const int32_t weight = rows_.weight(place.row);
            for (int32_t second : row.subspan(place.next)) {
                met_[met] = second;  // without a branch: most guesses would be wrong
                met += counts_[second] == 0;
                counts_[second] += weight;
            }
        });
        Index often = 0;
        for (Index m = 0; m < met; ++m) {
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
    void ascending(Index count, Body body) {
        if (16 * count < marks_.size()) {
            std::sort(met_.begin(), met_.begin() + count);
            for (Index m = 0; m < count; ++m) body(met_[m]);
            return;
        }
        for (Index m = 0; m < count; ++m) set_bit(marks_, met_[m]);
        for_each_bit(marks_, body);
        std::fill(marks_.begin(), marks_.end(), 0);
    }

    const Rows& rows_;
    int64_t min_support_;
    Covers covers_;
    Vector<int32_t> counts_, met_;
    Vector<uint64_t> marks_;
};

nb::tuple pairs(Control& control, View<int64_t> offsets, View<int32_t> items, View<uint8_t> allowed,
                int64_t min_support, int threads) {
    const Csr data(offsets, items, int32_t(allowed.size()));
    const int64_t at_least = std::max<int64_t>(1, min_support);
    const Rows rows =
        control.single([&] { return Rows(data, allowed, none_given, at_least, Rows::Order::vocabulary, control); });
    Vector<Found> found(rows.items(), Found(control), control);
    List<std::unique_ptr<PairCounter>> counters(Control::useful(threads, rows.items()));
    control.begin(1, rows.items());
    control.parallel(int(counters.size()), rows.items(), [&](int64_t first, int worker) {
        auto& counter = counters[worker];
        if (!counter) counter = std::make_unique<PairCounter>(rows, at_least, control);
        counter->count(int32_t(first), found[first]);
    });
    return as_arrays(found, control);
}

}  // namespace

void register_mining_pairs(nb::module_& m) {
    def_kernel(m, "pairs", pairs, "offsets"_a, "items"_a, "allowed"_a, nb::kw_only(), "min_support"_a, "threads"_a);
}

}  // namespace veilset
