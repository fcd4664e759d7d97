// The auditor of (h,k,p)-coherence: its own counting, which shares nothing with mining/ but the CSR view.
//
// Row-driven and level-wise. Level i looks at every public itemset Q of size i that occurs and whose subsets of size
// i - 1 are all safe; the rows that hold a prefix are handed down ("delivered") from item to item, and the items that
// follow the prefix in those rows are counted. Q is
//     an identity mole   if Sup(Q) < k,
//     an attribute mole  if Sup(Q + s) / Sup(Q) > h for a sensitive item s (all fractions compared as integers),
//     safe               otherwise, and then it may be extended.
// All proper subsets of a reported Q are safe, so exactly the *minimal* moles are found (thesis §4.3.1, Definition 9).
// The empty set is level 0: if it breaks the promise, nothing else is looked at (thesis Theorem 3).
//
// Safe itemsets are kept as one trie, level by level; items are numbered from the rarest to the most frequent. Only
// generators are kept (audit/branches.hpp).
//
// For any number of known items, itemsets do not decide but distinct rows (audit/supersets.hpp). Only where one of them
// has too few holders are moles looked for: level by level as far as a number of steps goes, and beyond that by
// shrinking the rows with the fewest holders (audit/larger_moles.hpp). Then there may be more than those that are told.
//
// For a limited p, distinct rows are asked where itemsets are too many: what holds for any number holds for p. If it
// does not hold for any number, counting takes turns with a search for a few items that are enough
// (audit/few_items.hpp).
#include "audit/few_items_search.hpp"
#include "audit/larger_moles.hpp"
#include "audit/levels.hpp"
#include "audit/whole_rows.hpp"

namespace veilset {
namespace {

using namespace auditing;

class Auditor {
public:
    Auditor(const Asked& asked, int64_t work_limit)
        : asked_(asked), promise_(asked.promise), a_moment_(work_limit), control_(asked.control),
          rows_(asked.data, asked.kind, asked.kinds, control_), tally_(asked), spare_(control_),
          support_(asked.data.vocabulary, 0, control_), kind_support_(asked.kinds, 0),
          levels_(asked, rows_, support_, tally_), whole_rows_(asked, rows_, tally_), few_items_(asked, rows_, tally_) {
    }

    // At a limit, it is an answer that the promise is broken.
    void run() {
        try {
            control_.begin(1, 1);
            control_.single([&] { count_supports(); });
            if (!(feasible_ = empty_set_holds())) return;
            levels_.first();
            if (rows_.items() == 0) return;
            if (promise_.p == 0 || promise_.p >= longest_) any_number();
            else so_many();
        } catch (const OverBudget&) {
            if (tally_.no_mole() && spare_.empty()) throw;
            tally_.complete = false;
        }
        if (!tally_.complete) add_larger(spare_, tally_);
    }

    nb::dict result() {
        nb::dict out;
        Witnesses witnesses;
        for (const Mole& m : tally_.all.worst.sorted()) witnesses.add(m.items, m.support, m.sensitive, m.with);
        witnesses.put_into(out);
        const Margins& margins = tally_.all.margins;
        auto share = [](const Share& s) { return nb::make_tuple(s.with, s.support, s.sensitive, s.items); };
        out["feasible"] = feasible_;
        out["identity_by_size"] = tally_.identity_by_size;
        out["attribute_by_size"] = tally_.attribute_by_size;
        out["complete"] = tally_.complete;
        out["checked"] = tally_.checked;
        out["sensitive_support"] = to_numpy(std::move(kind_support_));
        out["smallest_support"] = nb::make_tuple(margins.smallest_support, margins.smallest_items);
        out["largest_breach"] = share(margins.breach);
        out["largest_any"] = share(margins.any);
        out["exact"] = nb::make_tuple(tally_.exact.smallest_support, tally_.exact.breach, tally_.exact.any);
        return out;
    }

private:
    // Level 0 and what level 1 needs of all items.
    void count_supports() {
        const Csr& data = asked_.data;
        List<int64_t> last_row(kind_support_.size(), none);  // in which a sensitive thing was met
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            bool any = false;
            int64_t length = 0;
            for (int32_t item : data.row(r)) {
                ++support_[item];
                const int32_t kind = asked_.kind[item];
                length += kind == none;
                if (kind == none) continue;
                any = true;
                kind_support_[kind] += last_row[kind] != r;
                last_row[kind] = r;
            }
            with_any_ += any;
            longest_ = std::max(longest_, length);
        }
    }

    bool empty_set_holds() {
        const int64_t n = asked_.data.rows();
        Margins& margins = tally_.all.margins;
        bool holds = n >= promise_.k;
        for (int32_t s = 0; s < asked_.kinds; ++s) {
            holds &= !promise_.breaks(kind_support_[s], n);
            if (greater(kind_support_[s], n, margins.breach.with, margins.breach.support))
                margins.breach = {kind_support_[s], n, s, {}};
        }
        if (n > 0) margins.any = {with_any_, n, none, {}};
        return holds;
    }

    // Moles of any size: that there are some is known before they are looked for.
    void any_number() {
        const int64_t singles = tally_.checked;
        whole_rows_.look(false);
        if (tally_.no_mole() && !whole_rows_.exposed().empty())
            spare_ = moles_of(asked_, shrunk(asked_, whole_rows_.exposed().sorted().first(1)));
        if (whole_rows_.hold(longest_, kind_support_)) return;
        if (tally_.no_mole() && spare_.empty()) spare_ = moles_of(asked_, whole_rows_.giving_away(1));
        tally_.checked = singles;  // what follows counts the same itemsets, and more
        tally_.complete = levels_.count(a_moment_, a_moment_);
        if (tally_.complete) return;
        Vector<Vector<int32_t>> exposed = shrunk(asked_, whole_rows_.exposed().sorted());
        for (auto& items : whole_rows_.giving_away(2 * most_shrunk - exposed.size())) exposed.push_back(items);
        spare_ = moles_of(asked_, std::move(exposed));
    }

    // Moles of up to p items. Counting itemsets level by level, and a search for one that is one, take turns with more
    // and more steps: either may be short where the other has no end.
    void so_many() {
        const int64_t counting = 5 * a_moment_ + 2000 * asked_.data.items.size();  // within a minute
        if (promise_.p <= 2) {
            tally_.complete = levels_.count(any_work, counting);
            return;
        }
        if (asked_.kinds == 0) {
            whole_rows_.look(true);
            if (whole_rows_.exposed().empty()) {
                tally_.exact.smallest_support = whole_rows_.name_smallest(promise_.p);
                return few_items_.find_margins(a_moment_);
            }
        }
        bool enough_memory = true;
        auto counted = [&](int64_t steps) {
            try {
                return enough_memory && levels_.count(steps, counting);
            } catch (const OutOfMemory&) {
                enough_memory = false;  // for the itemsets of a level; the search keeps none
                return false;
            }
        };
        if (tally_.no_mole() && counted(a_moment_)) return;
        bool first = true;
        for (int64_t steps = 100 + a_moment_ / rows_.items(); tally_.no_mole() && !few_items_.decide(steps);
             steps *= 4) {
            if (first && asked_.kinds > 0 && whole_rows_.hold_within(counting, promise_.p, kind_support_))
                return few_items_.find_margins(a_moment_);
            first = false;
            if (counted(few_items_.steps())) return;
        }
        if (!tally_.no_mole()) {
            tally_.complete = counted(counting);
            return;
        }
        tally_.checked += few_items_.checked();
        if (auto found = few_items_.found(); found.empty()) {
            tally_.exact = {false, asked_.kinds == 0, asked_.kinds == 0};
            few_items_.find_margins(std::max(a_moment_, few_items_.steps()));
        } else {
            spare_ = moles_of(asked_, std::move(found));
            tally_.complete = counted(counting);
        }
    }

    const Asked& asked_;
    Promise promise_;
    int64_t a_moment_;  // steps
    Control& control_;
    Rows rows_;
    Tally tally_;
    Vector<Mole> spare_;       // minimal moles that were not counted
    Vector<int64_t> support_;  // of single items
    List<int64_t> kind_support_;
    int64_t with_any_ = 0, longest_ = 0;  // how many rows have a sensitive thing; public items of a row
    bool feasible_ = true;
    Levels levels_;
    WholeRows whole_rows_;
    FewItemsSearch few_items_;
};

nb::dict audit_coherence(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> kind,
                         int32_t kinds, int64_t h_num, int64_t h_den, int64_t k, int64_t p, int64_t witness_limit,
                         int64_t batch_limit, int64_t work_limit, int threads) {
    for (int32_t which : kind)
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    Csr data(offsets, items, int32_t(kind.size()));
    const Asked asked{data, kind, kinds, {h_num, h_den, k, p}, witness_limit, batch_limit, threads, control};
    Auditor auditor(asked, work_limit);
    auditor.run();
    return auditor.result();
}

}  // namespace

void register_audit_coherence(nb::module_& m) {
    def_kernel(m, "coherence", audit_coherence, "offsets"_a, "items"_a, "kind"_a, nb::kw_only(), "kinds"_a, "h_num"_a,
               "h_den"_a, "k"_a, "p"_a, "witness_limit"_a, "batch_limit"_a, "work_limit"_a, "threads"_a);
}

}  // namespace veilset
