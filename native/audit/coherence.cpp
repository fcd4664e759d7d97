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
// shrinking the rows with the fewest holders (audit/shrink.hpp). Then there may be more than those that are told. For a
// limited p, distinct rows are asked where itemsets are too many: what holds for any number holds for p.
#include <nanobind/stl/vector.h>

#include "audit/batches.hpp"
#include "audit/branches.hpp"
#include "audit/minimal.hpp"
#include "audit/shrink.hpp"
#include "audit/supersets.hpp"

namespace veilset {
namespace {

using namespace auditing;

class Auditor {
public:
    Auditor(const Csr& data, View<int32_t> kind, int32_t kinds, Promise promise, int64_t limit, int64_t batch_limit,
            int64_t work_limit, int threads, Control& control)
        : data_(data), kind_(kind), promise_(promise), limit_(limit), counting_work_(work_limit), threads_(threads),
          batch_limit_(batch_limit), control_(control), rows_(data, kind, kinds, control),
          batches_(rows_, work_, batch_limit, threads, control), support_(data.vocabulary, 0, control),
          kind_support_(kinds, 0), total_(nothing()), judge_(promise, rows_, total_.worst) {}

    void run() {
        control_.begin(1, 1);
        control_.single([&] { count_supports(); });
        if (!(feasible_ = empty_set_holds())) return;
        first_level();
        if (promise_.p == 0 || promise_.p >= longest_) any_number();
        else so_many();
    }

    nb::dict result() {
        nb::dict out;
        Witnesses witnesses;
        for (const Mole& m : total_.worst.sorted()) witnesses.add(m.items, m.support, m.sensitive, m.with);
        witnesses.put_into(out);
        const Margins& margins = total_.margins;
        auto share = [](const Share& s) { return nb::make_tuple(s.with, s.support, s.sensitive, s.items); };
        out["feasible"] = feasible_;
        out["identity_by_size"] = identity_by_size_;
        out["attribute_by_size"] = attribute_by_size_;
        out["complete"] = complete_;
        out["checked"] = checked_;
        out["sensitive_support"] = to_numpy(std::move(kind_support_));
        out["smallest_support"] = nb::make_tuple(margins.smallest_support, margins.smallest_items);
        out["largest_breach"] = share(margins.breach);
        out["largest_any"] = share(margins.any);
        out["exact"] = nb::make_tuple(exact_.smallest_support, exact_.breach, exact_.any);
        return out;
    }

private:
    static constexpr int64_t most_read = 1'000'000'000;  // items of all rows, for each row that is shrunk
    static constexpr Index most_shrunk = 100;

    Found nothing() {
        return {{promise_, limit_, control_}, {}, 0, 0, 0, Vector<int32_t>(control_), Vector<int64_t>(control_),
                Vector<int32_t>(control_)};
    }
    Vector<Found> nothing_in(int64_t branches) {
        Vector<Found> found(control_);
        found.reserve(branches);
        for (int64_t b = 0; b < branches; ++b) found.push_back(nothing());
        return found;
    }

    // Level 0 and what level 1 needs of all items.
    void count_supports() {
        List<int64_t> last_row(kind_support_.size(), none);  // in which a sensitive thing was met
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            bool any = false;
            int64_t length = 0;
            for (int32_t item : data_.row(r)) {
                ++support_[item];
                const int32_t kind = kind_[item];
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
        const int64_t n = data_.rows();
        bool holds = n >= promise_.k;
        for (int32_t s = 0; s < rows_.kinds(); ++s) {
            holds &= !promise_.breaks(kind_support_[s], n);
            if (greater(kind_support_[s], n, total_.margins.breach.with, total_.margins.breach.support))
                total_.margins.breach = {kind_support_[s], n, s, {}};
        }
        if (n > 0) total_.margins.any = {with_any_, n, none, {}};
        return holds;
    }

    // Single items. Their support is known; what those of k holders or more give away is judged from the holders.
    void first_level() {
        Vector<int32_t> items(control_);
        for (int32_t i = 0; i < data_.vocabulary; ++i)
            if (kind_[i] == none && support_[i] > 0) items.push_back(i);
        std::stable_sort(items.begin(), items.end(), [&](int32_t a, int32_t b) { return support_[a] < support_[b]; });
        rows_.number(items, support_);

        Vector<Found> found = nothing_in(rows_.items());
        int64_t first = 0;
        for (; first < rows_.items() && (rows_.support(first) < promise_.k || rows_.kinds() == 0); ++first) {
            ++found[first].checked;
            if (judge_.safe({}, int32_t(first), rows_.support(first), none, 0, found[first]))
                found[first].extended_by(int32_t(first), rows_.support(first));
        }
        look(1, first, false, found,
             [](BranchReader& reader, int64_t branch, Found& into) { reader.judge_single(branch, into); });

        // What all rows hold is no generator: nothing is known that is not known without it.
        Vector<int32_t> kept(control_);
        for (int64_t b = 0; b < rows_.items(); ++b)
            if (!found[b].items.empty() && rows_.support(b) < data_.rows()) kept.push_back(rows_.item(int32_t(b)));
        absorb(found, true);  // level 1 of the trie is the numbering itself
        if (kept.size() < rows_.items()) rows_.number(kept, support_);
    }

    // Level by level; false if that takes more steps. It can be asked again, and goes on with the level that it left.
    bool levels(int64_t steps) {
        work_.left = steps;
        try {
            for (; has_level(level_); ++level_) {
                const bool last = level_ == promise_.p;
                if (!holds_so_far() && work_.left > counting_work_) work_.left = counting_work_;
                Vector<Found> found = nothing_in(rows_.items());
                look(level_, 0, true, found, [&](BranchReader& reader, int64_t branch, Found& into) {
                    reader.judge_larger(branch, level_, last, into);
                });
                absorb(found, last);
            }
        } catch (const OutOfWork&) {
            return false;
        }
        return true;
    }
    bool holds_so_far() const {
        auto none_in = [](const List<int64_t>& counts) {
            return std::ranges::all_of(counts, [](auto n) { return !n; });
        };
        return none_in(identity_by_size_) && none_in(attribute_by_size_);
    }
    bool has_level(int64_t level) const {
        return (promise_.p == 0 || level <= promise_.p) && rows_.items() > 0 && trie_.reaches(level - 1);
    }

    // body(reader, branch, found) for the branches of a level.
    template <class Body>
    void look(int64_t level, int64_t first, bool with_later, Vector<Found>& found, Body body) {
        batches_.each(
            level, first, with_later, [&] { return BranchReader(judge_, rows_, trie_, work_, control_); },
            [&](int64_t branch, BranchReader& reader) {
                // It prunes; an equal value met later does not replace the first.
                found[branch].margins = total_.margins;
                body(reader, branch, found[branch]);
            },
            [&](int64_t branch) { found[branch] = nothing(); });
    }

    void absorb(Vector<Found>& found, bool last) {
        Found all = joined(nothing(), found, !last, control_);
        identity_by_size_.push_back(all.identity);
        attribute_by_size_.push_back(all.attribute);
        checked_ += all.checked;
        total_.margins.merge(all.margins);
        total_.worst.merge(std::move(all.worst));
        if (!last) trie_.add(Level(std::move(all.items), std::move(all.supports), all.children, control_));
    }

    // Moles of up to p items. Where there are none of any size, itemsets need not be counted.
    void so_many() {
        const int64_t a_moment = counting_work_;
        counting_work_ = 5 * a_moment + 2000 * data_.items.size();  // who sets a p wants to know all, within a minute
        const bool may_be_many = rows_.items() > 0 && promise_.p > 2;
        if (may_be_many && rows_.kinds() == 0) {
            const RowsFound rows = look_at_rows(true);
            if (rows.worst.empty()) {
                exact_.smallest_support = name_smallest(rows, promise_.p) || levels(counting_work_);
                return;
            }
        }
        if (may_be_many && rows_.kinds() > 0) {
            if (levels(a_moment)) return;
            if (holds_so_far() && holds_for_any_number()) return;
        }
        complete_ = levels(any_work);
    }

    // False also if that takes longer than counting may: then counting is no worse.
    bool holds_for_any_number() {
        const RowsFound rows = look_at_rows(true);
        if (!rows.worst.empty()) return false;
        const int64_t checked = checked_;
        MergedRows merged(data_, kind_, rows_.kinds(), control_);
        Inferences things(merged, {promise_.h_num, promise_.h_den, true}, batch_limit_, control_);
        things.take_at_most(counting_work_);
        try {
            if (whole_rows_hold(rows, merged, things, promise_.p)) return true;
        } catch (const OutOfWork&) {
            merged.unload();
        }
        checked_ = checked;
        return false;
    }

    // Moles of any size: that there are some is known before they are looked for.
    void any_number() {
        if (rows_.items() == 0) return;
        const int64_t singles = checked_;
        RowsFound rows = look_at_rows(false);
        MergedRows merged(data_, kind_, rows_.kinds(), control_);
        Inferences things(merged, {promise_.h_num, promise_.h_den, true}, batch_limit_, control_);
        if (whole_rows_hold(rows, merged, things, longest_)) return;
        checked_ = singles;  // what follows counts the same itemsets, and more
        if (levels(counting_work_)) return;
        complete_ = false;
        Vector<Vector<int32_t>> exposed = shrink(rows.worst);
        for (const Finding& finding : things.findings()) {
            if (!finding.broken || exposed.size() == 2 * most_shrunk) continue;
            List<int32_t> items = finding.rule.items;
            merged.name(items);
            exposed.emplace_back(items.begin(), items.end(), exposed.get_allocator());
        }
        add_larger_moles(exposed);
    }

    // Whether the promise holds for any number of known items. Then these are the margins, if so many items tell as
    // much.
    bool whole_rows_hold(const RowsFound& rows, MergedRows& merged, Inferences& things, Index most_items) {
        const bool named = name_smallest(rows, most_items);
        if (rows_.kinds() > 0) {
            rows_.unload();
            control_.begin(stage::loading, 1);
            control_.single([&] { merged.count(); });
            for (int32_t thing : ordered_by(rows_.kinds(), [&](int32_t s) { return -kind_support_[s]; }))
                things.ask(merged.thing(thing));
            things.decide(threads_);
            checked_ += things.checked();
        }
        const bool hold = rows.smallest_support >= promise_.k && things.all_hold();
        if (hold && rows_.kinds() > 0) {
            Inferences any(merged, {1, 1, true}, batch_limit_, control_);  // certainty is no limit, either
            any.ask(merged.any());
            any.decide(threads_);
            const bool one = things.find_surest(), some = any.find_surest();
            exact_ = {named, keep_larger(things, merged, most_items, total_.margins.breach) && one,
                      keep_larger(any, merged, most_items, total_.margins.any) && some};
        }
        merged.unload();
        return hold;
    }

    // How many rows hold all of each; perhaps only until one has less than k.
    RowsFound look_at_rows(bool until_exposed) {
        std::atomic<bool> over = false;
        auto nobody = [&] { return RowsFound{{promise_, most_shrunk, control_}, 0, 0, {}}; };
        Vector<RowsFound> found(control_);
        for (int64_t b = 0; b < rows_.items(); ++b) found.push_back(nobody());
        batches_.each(
            stage::whole_rows, 0, true, [&] { return SupersetReader(promise_, rows_, control_); },
            [&](int64_t branch, SupersetReader& reader) {
                if (over) return;
                reader.read(branch, found[branch]);
                over = until_exposed && !found[branch].worst.empty();
            },
            [&](int64_t branch) { found[branch] = nobody(); });

        RowsFound all = nobody();
        for (RowsFound& branch : found) all.merge(std::move(branch));
        if (!over) checked_ += all.rows;  // else it depends on the threads
        return all;
    }

    // The row with the fewest holders has a part with as few, which is the margin; false if it has too many items.
    bool name_smallest(const RowsFound& rows, Index most_items) {
        Margins& margins = total_.margins;
        if (rows.smallest_support >= margins.smallest_support) return true;
        const Mole part = control_.single([&] {
            return Overlaps(data_, rows.smallest, control_).identity_mole(rows.smallest_support + 1, control_);
        });
        if (part.items.size() > most_items) return false;
        margins.smallest_support = rows.smallest_support;
        margins.smallest_items.assign(part.items.begin(), part.items.end());
        return true;
    }

    // False if it has too many items.
    static bool keep_larger(Inferences& inferences, const MergedRows& merged, Index most_items, Share& met) {
        const Finding& most = inferences.surest();
        if (!greater(most.rule.with, most.rule.support(), met.with, met.support)) return true;
        const Rule rule = inferences.surest_in_short();
        if (rule.items.size() > most_items) return false;
        const int32_t sensitive = most.sensitive == merged.any() ? none : most.sensitive - merged.items();
        met = {rule.with, rule.support(), sensitive, rule.items};
        merged.name(met.items);
        return true;
    }

    // Itemsets that expose the rows that the fewest hold.
    Vector<Vector<int32_t>> shrink(WorstMoles& rows) {
        const auto exposed = rows.sorted();
        const Index affordable = most_read / std::max<int64_t>(1, data_.items.size());
        const Index count = std::min(exposed.size(), std::max<Index>(10, affordable));
        Vector<Vector<int32_t>> moles(count, Vector<int32_t>(control_), control_);
        control_.begin(stage::exposed, count);
        control_.parallel(threads_, count, [&](int64_t i, int) {
            moles[i] = Overlaps(data_, exposed[i].items, control_).identity_mole(promise_.k, control_).items;
        });
        return moles;
    }

    // The minimal moles in these itemsets that are larger than those of the levels that were counted.
    void add_larger_moles(Vector<Vector<int32_t>>& exposed) {
        std::ranges::sort(exposed);
        exposed.erase(std::unique(exposed.begin(), exposed.end()), exposed.end());
        Vector<Mole> moles(control_);
        control_.begin(stage::exposed, exposed.size());
        control_.single([&] {
            MinimalMoles minimal(data_, kind_, rows_.kinds(), promise_, control_);
            for (const auto& items : exposed) {
                control_.poll();
                for (Mole& mole : minimal.within(items)) moles.push_back(std::move(mole));
                control_.advance();
            }
        });
        std::ranges::sort(moles, {}, &Mole::items);
        const Index counted = identity_by_size_.size();
        for (Index i = 0; i < moles.size(); ++i) {
            Mole& mole = moles[i];
            const Index size = mole.items.size();
            if (size <= counted || (i > 0 && mole.items == moles[i - 1].items)) continue;
            const Index largest = std::max(size, identity_by_size_.size());
            for (auto* by_size : {&identity_by_size_, &attribute_by_size_}) by_size->resize(largest, 0);
            ++(mole.sensitive == none ? identity_by_size_ : attribute_by_size_)[size - 1];
            total_.worst.add(mole.items, mole.support, mole.sensitive, mole.with);
        }
    }

    const Csr& data_;
    View<int32_t> kind_;
    Promise promise_;
    Index limit_;
    int64_t counting_work_;  // for moles, once it is known that there are some
    int threads_;
    int64_t batch_limit_;
    Control& control_;
    Rows rows_;
    Work work_;
    Batches batches_;
    Vector<int64_t> support_;  // of single items
    List<int64_t> kind_support_;
    int64_t with_any_ = 0, longest_ = 0;  // how many rows have a sensitive thing; public items of a row
    int64_t level_ = 2;                   // the next one
    Trie trie_;
    Found total_;
    Judge judge_;
    bool feasible_ = true;
    bool complete_ = true;  // all minimal moles were counted
    struct {
        bool smallest_support = true, breach = true, any = true;
    } exact_;  // the margins, if the promise holds
    int64_t checked_ = 0;
    List<int64_t> identity_by_size_, attribute_by_size_;
};

nb::dict audit_coherence(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> kind,
                         int32_t kinds, int64_t h_num, int64_t h_den, int64_t k, int64_t p, int64_t witness_limit,
                         int64_t batch_limit, int64_t work_limit, int threads) {
    for (int32_t which : kind)
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    Csr data(offsets, items, int32_t(kind.size()));
    Auditor auditor(data, kind, kinds, {h_num, h_den, k, p}, witness_limit, batch_limit, work_limit, threads, control);
    auditor.run();
    return auditor.result();
}

}  // namespace

void register_audit_coherence(nb::module_& m) {
    def_kernel(m, "coherence", audit_coherence, "offsets"_a, "items"_a, "kind"_a, nb::kw_only(), "kinds"_a, "h_num"_a,
               "h_den"_a, "k"_a, "p"_a, "witness_limit"_a, "batch_limit"_a, "work_limit"_a, "threads"_a);
}

}  // namespace veilset
