// A share of the auditor of coherence with any number of known items, for data that no machine holds as a whole.
//
// A share has the rows with an item of its branches, without the rarer ones. All rows that hold what such a row has
// left are there, too. A row that is without rarer ones is asked about in an earlier branch; so that it is not asked
// about twice, it comes with one item of an earlier branch. src/veilset/audit/whole_rows.py puts the answers together
// as audit/coherence.cpp does.
//
// Of a row that too few hold, all that matters of other rows is what they hold of it. So a share can also be all rows,
// with what they hold of one row and the sensitive items.
#include <nanobind/stl/vector.h>

#include "audit/batches.hpp"
#include "audit/minimal.hpp"
#include "audit/shrink.hpp"
#include "audit/supersets.hpp"

namespace veilset {
namespace {

using namespace auditing;

void check(const Csr& data, View<int64_t> weights, View<int32_t> itemset) {
    if (weights.size() != data.rows()) throw std::invalid_argument("not one weight for each row");
    for (int32_t item : itemset)
        if (item < 0 || item >= data.vocabulary) throw std::invalid_argument("an item is not in the vocabulary");
}

// How many rows hold all of each, for the rows of the branches first .. end - 1.
nb::dict whole_rows_share(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                          View<int32_t> order, View<int64_t> supports, int32_t vocabulary, int64_t k, int64_t first,
                          int64_t end, int64_t row_limit, int threads) {
    const Csr data(offsets, items, vocabulary);
    check(data, weights, order);
    if (supports.size() != order.size() || first < 0 || end < first || end > order.size())
        throw std::invalid_argument("these are not branches of the numbering");
    const Promise promise{1, 1, k, 0};
    const Vector<int32_t> nothing(vocabulary, none, control);  // that is sensitive
    Rows rows(data, nothing, 0, control, weights);
    Vector<int64_t> support(vocabulary, 0, control);
    for (Index i = 0; i < order.size(); ++i) support[order[i]] = supports[i];
    rows.number(Vector<int32_t>(order.begin(), order.end(), control), support);
    rows.end_at(end);

    auto nobody = [&] { return RowsFound{{promise, row_limit, control}, 0, 0, {}}; };
    Vector<RowsFound> found(control);
    for (int64_t b = first; b < end; ++b) found.push_back(nobody());
    Work any;
    Batches batches(rows, any, 0, threads, control);
    batches.each(
        stage::whole_rows, first, true, [&] { return SupersetReader(promise, rows, control); },
        [&](int64_t branch, SupersetReader& reader) { reader.read(branch, found[branch - first]); },
        [&](int64_t branch) { found[branch - first] = nobody(); });
    RowsFound all = nobody();
    for (RowsFound& branch : found) all.merge(std::move(branch));

    nb::dict out;
    Witnesses worst;
    for (const Mole& row : all.worst.sorted()) worst.add(row.items, row.support, none, 0);
    worst.put_into(out);
    out["rows"] = all.rows;
    out["smallest_support"] = nb::make_tuple(all.smallest_support, all.smallest);
    return out;
}

// A minimal part of an itemset that less than k hold, with less than k holders, and how many it has.
nb::tuple exposed_part(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                       View<int32_t> itemset, int32_t vocabulary, int64_t k) {
    const Csr data(offsets, items, vocabulary);
    check(data, weights, itemset);
    const Mole part = control.single([&] {
        const Overlaps overlaps(data, itemset, control, weights);
        if (overlaps.support() >= k) throw std::invalid_argument("the itemset has k holders or more");
        return overlaps.identity_mole(k, control);
    });
    return nb::make_tuple(List<int32_t>(part.items.begin(), part.items.end()), part.support);
}

// Minimal moles in an itemset that has one.
nb::dict moles_in(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                  View<int32_t> kind, View<int32_t> itemset, int32_t kinds, int64_t h_num, int64_t h_den, int64_t k) {
    for (int32_t which : kind)
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    const Csr data(offsets, items, int32_t(kind.size()));
    check(data, weights, itemset);
    nb::dict out;
    Witnesses moles;
    control.single([&] {
        MinimalMoles minimal(data, kind, kinds, {h_num, h_den, k, 0}, control, weights);
        for (const Mole& mole : minimal.within(Vector<int32_t>(itemset.begin(), itemset.end(), control)))
            moles.add(mole.items, mole.support, mole.sensitive, mole.with);
    });
    moles.put_into(out);
    return out;
}

}  // namespace

void register_audit_whole_rows_share(nb::module_& m) {
    def_kernel(m, "whole_rows_share", whole_rows_share, "offsets"_a, "items"_a, "weights"_a, "order"_a, "supports"_a,
               nb::kw_only(), "vocabulary"_a, "k"_a, "first"_a, "end"_a, "row_limit"_a, "threads"_a);
    def_kernel(m, "exposed_part", exposed_part, "offsets"_a, "items"_a, "weights"_a, "itemset"_a, nb::kw_only(),
               "vocabulary"_a, "k"_a);
    def_kernel(m, "moles_in", moles_in, "offsets"_a, "items"_a, "weights"_a, "kind"_a, "itemset"_a, nb::kw_only(),
               "kinds"_a, "h_num"_a, "h_den"_a, "k"_a);
}

}  // namespace veilset
