// Soft searches with several seeds: where occurrences should return.
#include "partial/soft.hpp"

namespace veilset {
namespace {

using namespace partial;

// For each seed, which occurrences should be kept. `may`: the items that take part; 2: it stays everywhere. The sets
// are the itemsets of two to `size` of these items that k rows hold. `work` bounds each search; empty: it is too
// little.
nb::list soft_search(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                     View<uint8_t> may, View<int64_t> worth, View<int64_t> set_offsets, View<int32_t> set_items,
                     View<uint64_t> seeds, int64_t k, int64_t size, int64_t work, int threads) {
    const Csr data(offsets, items, vocabulary), sets(set_offsets, set_items, vocabulary);
    if (may.size() != vocabulary || worth.size() != vocabulary)
        throw std::invalid_argument("a mark and a weight for each item, please");
    if (k < 1 || size < 1 || work < 0) throw std::invalid_argument("k, size and work, please");
    if (data.rows() > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("too many rows");
    control.charge(seeds.size() * items.size());
    List<List<uint8_t>> found(seeds.size(), List<uint8_t>(items.size(), 1));
    control.begin(2, seeds.size() * Soft::steps);
    control.parallel(threads, seeds.size(), [&](Index s, int) {
        if (!Soft(data, may, worth, sets, k, size, seeds[s], control).run(work, found[s].data())) found[s].clear();
    });
    nb::list answer;
    for (List<uint8_t>& one : found) answer.append(to_numpy(std::move(one)));
    return answer;
}

}  // namespace

void register_partial_soft(nb::module_& m) {
    def_kernel(m, "soft_search", soft_search, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(), "may"_a, "worth"_a,
               "set_offsets"_a, "set_items"_a, "seeds"_a, "k"_a, "size"_a, "work"_a, "threads"_a);
}

}  // namespace veilset
