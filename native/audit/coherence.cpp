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
// Safe itemsets are kept as one trie, level by level; items are numbered from the rarest to the most frequent.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "audit/findings.hpp"
#include "audit/rows.hpp"
#include "audit/trie.hpp"
#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

using namespace auditing;

// What one first-level branch found at the current level.
struct Found {
    WorstMoles worst;
    Margins margins;
    int64_t identity = 0, attribute = 0, safe = 0;
    Vector<int32_t> items;     // safe extensions, in order of their prefixes
    Vector<int32_t> children;  // how many of them each prefix has
};

class Auditor {
public:
    Auditor(const Csr& data, View<int32_t> kind, int32_t kinds, Promise promise, int64_t limit, int64_t batch_limit,
            Control& control)
        : data_(data), kind_(kind), promise_(promise), limit_(limit), batch_limit_(batch_limit), control_(control),
          rows_(data, kind, kinds, control), support_(data.vocabulary, 0, control), kind_support_(kinds, 0),
          total_(nothing()) {}

    void run(int threads) {
        control_.begin(1, 1);
        control_.single([&] { count_supports(); });
        if (!(feasible_ = empty_set_holds())) return;
        first_level(threads);
        for (int64_t level = 2;
             (promise_.p == 0 || level <= promise_.p) && rows_.items() > 0 && trie_.reaches(level - 1); ++level) {
            const bool last = level == promise_.p;
            Vector<Found> found = nothing_in(rows_.items());
            in_batches(level, 0, threads, found, [&](int64_t branch, Found& mine, Scratch& scratch) {
                List<int32_t> prefix{int32_t(branch)};
                walk(prefix, branch, rows_.holders(branch), level, last, mine, scratch);
            });
            absorb(found, last);
        }
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
        out["checked"] = checked_;
        out["sensitive_support"] = to_numpy(std::move(kind_support_));
        out["smallest_support"] = nb::make_tuple(margins.smallest_support, margins.smallest_items);
        out["largest_breach"] = share(margins.breach);
        out["largest_any"] = share(margins.any);
        return out;
    }

private:
    // Working memory of one thread, reused from node to node.
    struct Scratch {
        Vector<int64_t> count, with, best_with;
        Vector<int32_t> best_sensitive, touched, slot;
        Vector<int64_t> cohort_with;     // rows of the cohort that hold s
        List<int32_t> seen;              // sensitive items in the cohort
        List<int32_t> mattering;         // those worth counting
        Vector<int64_t> carriers_begin;  // s -> its part of carriers
        Vector<Position> carriers;       // rows of the cohort by the sensitive item they hold
        Scratch(Index items, Index sensitive, Control& control)
            : count(items, 0, control), with(items, 0, control), best_with(items, 0, control),
              best_sensitive(items, none, control), touched(control), slot(items, none, control),
              cohort_with(sensitive + 1, 0, control), carriers_begin(sensitive + 1, none, control), carriers(control) {}
    };

    Found nothing() {
        return {{promise_, limit_, control_}, {}, 0, 0, 0, Vector<int32_t>(control_), Vector<int32_t>(control_)};
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
            for (int32_t item : data_.row(r)) {
                ++support_[item];
                const int32_t kind = kind_[item];
                if (kind == none) continue;
                any = true;
                kind_support_[kind] += last_row[kind] != r;
                last_row[kind] = r;
            }
            with_any_ += any;
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
    void first_level(int threads) {
        Vector<int32_t> items(control_);
        for (int32_t i = 0; i < data_.vocabulary; ++i)
            if (kind_[i] == none && support_[i] > 0) items.push_back(i);
        std::stable_sort(items.begin(), items.end(), [&](int32_t a, int32_t b) { return support_[a] < support_[b]; });
        rows_.number(items, support_);

        Vector<Found> found = nothing_in(rows_.items());
        const List<int32_t> nothing_known;
        auto judge_alone = [&](int64_t b) { judge(nothing_known, int32_t(b), rows_.support(b), none, 0, found[b]); };
        int64_t first = 0;
        for (; first < rows_.items() && (rows_.support(first) < promise_.k || rows_.kinds() == 0); ++first)
            judge_alone(first);
        in_batches(1, first, threads, found,
                   [&](int64_t branch, Found& mine, Scratch& scratch) { judge_holders(branch, mine, scratch); });

        Vector<int32_t> safe(control_);
        for (int64_t b = 0; b < rows_.items(); ++b)
            if (found[b].safe) safe.push_back(rows_.item(int32_t(b)));
        absorb(found, true);  // level 1 of the trie is the numbering itself
        if (safe.size() < rows_.items()) rows_.number(safe, support_);
    }

    // body(branch, what it finds, scratch) for the branches from `first` on, batch after batch. What a branch finds
    // does not depend on its batch.
    template <class Body>
    void in_batches(int64_t level, int64_t first, int threads, Vector<Found>& found, Body body) {
        const int64_t branches = rows_.items();
        while (first < branches) {
            try {
                control_.begin(level, branches, first);
                if (!rows_.all_from(first)) control_.single([&] { load(first, level > 1); });
                const int64_t count = rows_.last() - first;
                List<Scratch> scratch;
                for (int t = 0; t < Control::useful(threads, count); ++t)
                    scratch.emplace_back(rows_.items(), rows_.kinds(), control_);
                control_.begin(level, branches, first);
                control_.parallel(threads, count, [&](int64_t index, int worker) {
                    Found& mine = found[first + index];
                    mine.margins = total_.margins;  // prunes; an equal value met later does not replace the first
                    body(first + index, mine, scratch[worker]);
                });
                first = rows_.last();
            } catch (const OutOfMemory&) {
                if (!smaller_batches_help(first)) throw;
                batch_limit_ = std::max<int64_t>(1, rows_.bytes() / 2);
                for (int64_t b = first; b < rows_.last(); ++b) found[b] = nothing();
                rows_.unload();
            }
        }
    }

    // A quarter of the memory is left to the walk and to what it finds: a guess, corrected by smaller batches.
    void load(int64_t first, bool with_later) {
        rows_.unload();
        const int64_t room = control_.left() / 4 * 3;
        rows_.load(first, batch_limit_ > 0 ? std::min(batch_limit_, room) : room, with_later);
    }

    // Not if it is what was found that fills the memory.
    bool smaller_batches_help(int64_t first) const {
        return rows_.last() - first > 1 && rows_.bytes() > control_.limit() / 16;
    }

    // Goes down the trie to the safe prefixes of size level - 1, delivering to each child the rows that hold it.
    void walk(List<int32_t>& prefix, int64_t node, View<Position> cohort, int64_t level, bool last, Found& found,
              Scratch& scratch) {
        control_.poll();
        if (prefix.size() == level - 1) return extend(prefix, cohort, last, found, scratch);
        const auto children = trie_.children(prefix.size(), node);
        const int64_t first = trie_.first_child(prefix.size(), node);
        Vector<Cohort> delivered(children.size(), Cohort(control_), control_);
        for (Index c = 0; c < children.size(); ++c) scratch.slot[children[c]] = int32_t(c);
        for (const Position& at : cohort) {
            control_.poll();
            rows_.for_each_item(at, [&](int32_t item, Position after) {
                const int32_t slot = scratch.slot[item];
                if (slot != none) delivered[slot].push_back(after);
            });
        }
        for (int32_t child : children) scratch.slot[child] = none;
        for (Index c = 0; c < children.size(); ++c) {
            prefix.push_back(children[c]);
            walk(prefix, first + c, delivered[c], level, last, found, scratch);
            prefix.pop_back();
            Cohort(control_).swap(delivered[c]);
        }
    }

    // Counts every extension of a safe prefix and judges it.
    void extend(List<int32_t>& prefix, View<Position> cohort, bool last, Found& found, Scratch& s) {
        s.touched.clear();
        for (const Position& at : cohort) {
            control_.poll();
            rows_.for_each_item(at, [&](int32_t item, Position) {
                if (s.count[item]++ == 0) s.touched.push_back(item);
            });
        }
        std::sort(s.touched.begin(), s.touched.end());
        drop_unsafe(prefix, s);
        if (rows_.kinds() > 0 && !s.touched.empty()) count_sensitive(prefix, cohort, found, s);

        const int64_t safe = found.safe;
        for (int32_t item : s.touched) {
            if (judge(prefix, item, s.count[item], s.best_sensitive[item], s.best_with[item], found) && !last)
                found.items.push_back(item);
            s.count[item] = 0;
            s.best_with[item] = 0;
            s.best_sensitive[item] = none;
        }
        if (!last) found.children.push_back(int32_t(found.safe - safe));
    }

    // Whether prefix + item is safe, given the sensitive thing that most of its rows hold; counts and reports it.
    bool judge(const List<int32_t>& prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
               Found& found) const {
        Margins& margins = found.margins;
        if (!margins.smallest_support || support < margins.smallest_support) {
            margins.smallest_support = support;
            margins.smallest_items = named(prefix, item);
        }
        if (support < promise_.k) {
            ++found.identity;
            report(prefix, item, support, none, 0, found);
            return false;
        }
        if (promise_.breaks(with, support)) {
            ++found.attribute;
            report(prefix, item, support, sensitive, with, found);
            return false;
        }
        ++found.safe;
        return true;
    }

    // Level 1: a single item, by the sensitive things that its holders have.
    void judge_holders(int64_t branch, Found& found, Scratch& s) {
        const List<int32_t> nothing_known;
        const auto holders = rows_.holders(branch);
        const int64_t support = rows_.support(branch);
        count_carriers(holders, s);
        int32_t sensitive = none;
        int64_t with = 0;
        for (int32_t carried : s.seen) {
            const bool any = carried == rows_.kinds();
            const int64_t carriers = s.cohort_with[carried];
            Share& met = any ? found.margins.any : found.margins.breach;
            if (greater(carriers, support, met.with, met.support))
                met = {carriers, support, any ? none : carried, named(nothing_known, int32_t(branch))};
            if (!any && carriers > with) {
                with = carriers;
                sensitive = carried;
            }
        }
        forget_carriers(s);
        judge(nothing_known, int32_t(branch), support, sensitive, with, found);
    }

    // In cohort_with, how many rows of a cohort hold each sensitive thing; "any of them" is counted like one more, the
    // last.
    void count_carriers(View<Position> cohort, Scratch& s) const {
        for (const Position& at : cohort) {
            control_.poll();
            for_each_carried(at, [&](int32_t sensitive) {
                if (s.cohort_with[sensitive]++ == 0) s.seen.push_back(sensitive);
            });
        }
        std::sort(s.seen.begin(), s.seen.end());
    }
    static void forget_carriers(Scratch& s) {
        for (int32_t sensitive : s.seen) s.cohort_with[sensitive] = 0;
        s.seen.clear();
    }
    template <class Body>
    void for_each_carried(const Position& at, Body body) const {
        bool something = false;
        rows_.for_each_sensitive(at, [&](int32_t sensitive) {
            something = true;
            body(sensitive);
        });
        if (something) body(rows_.kinds());
    }

    // For each counted extension, the sensitive item that most of its rows hold; and the margins of breach.
    // "Any of them" is passed along like one more sensitive item, which no limit applies to.
    void count_sensitive(const List<int32_t>& prefix, View<Position> cohort, Found& found, Scratch& s) {
        const int32_t any = rows_.kinds();
        count_carriers(cohort, s);
        // Sup(Q + s) <= cohort_with[s] and, where it matters, Sup(Q) >= k: s can be passed over if even that ratio
        // neither breaks the promise nor beats the largest breach met so far.
        auto largest = [&](int32_t sensitive) -> Share& {
            return sensitive == any ? found.margins.any : found.margins.breach;
        };
        auto matters = [&](int32_t sensitive) {
            const int64_t most = s.cohort_with[sensitive];
            const Share& met = largest(sensitive);
            return greater(most, promise_.k, met.with, met.support) ||
                   (sensitive != any && promise_.breaks(most, promise_.k));
        };
        int64_t carriers = 0;
        for (int32_t sensitive : s.seen)
            if (matters(sensitive)) {
                s.mattering.push_back(sensitive);
                s.carriers_begin[sensitive] = carriers;
                carriers += s.cohort_with[sensitive];
            }
        if (!s.mattering.empty()) {
            s.carriers.resize(carriers);
            for (const Position& at : cohort) {
                control_.poll();
                for_each_carried(at, [&](int32_t sensitive) {
                    int64_t& next = s.carriers_begin[sensitive];
                    if (next != none) s.carriers[next++] = at;
                });
            }
        }
        int64_t begin = 0;
        for (int32_t sensitive : s.mattering) {
            control_.poll();  // sensitive items times public ones can be many
            const int64_t end = s.carriers_begin[sensitive];
            if (matters(sensitive)) {  // still, after what the sensitive items before it have met
                auto for_each_item = [&](auto&& body) {
                    for (int64_t c = begin; c < end; ++c) {
                        control_.poll();
                        rows_.for_each_item(s.carriers[c], [&](int32_t item, Position) { body(item); });
                    }
                };
                for_each_item([&](int32_t item) { ++s.with[item]; });
                for (int32_t item : s.touched) {
                    const int64_t with = s.with[item], support = s.count[item];
                    if (support < promise_.k) continue;
                    Share& met = largest(sensitive);
                    if (greater(with, support, met.with, met.support))
                        met = {with, support, sensitive == any ? none : sensitive, named(prefix, item)};
                    if (sensitive != any && with > s.best_with[item]) {
                        s.best_with[item] = with;
                        s.best_sensitive[item] = sensitive;
                    }
                }
                for_each_item([&](int32_t item) { s.with[item] = 0; });
            }
            s.carriers_begin[sensitive] = none;
            begin = end;
        }
        forget_carriers(s);
        s.mattering.clear();
    }

    // Keeps the extensions e for which every subset of prefix + e that lacks one item of the prefix is safe too. (An
    // itemset with an unsafe subset is no minimal mole and is not extended.)
    void drop_unsafe(const List<int32_t>& prefix, Scratch& s) const {
        if (prefix.size() < 2) return;  // single items have been judged: only safe ones are left in the rows
        for (Index left_out = 0; left_out < prefix.size(); ++left_out) {
            const auto safe = trie_.children_without(prefix, left_out);
            auto at = safe.begin();
            Index kept = 0;
            for (int32_t item : s.touched) {
                at = std::lower_bound(at, safe.end(), item);
                if (at != safe.end() && *at == item) s.touched[kept++] = item;
                else s.count[item] = 0;
            }
            s.touched.resize(kept);
        }
    }

    void report(const List<int32_t>& prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
                Found& found) const {
        const Index size = prefix.size() + 1;
        if (total_.worst.wants(support, sensitive, with, size) && found.worst.wants(support, sensitive, with, size))
            found.worst.add(named(prefix, item), support, sensitive, with);
    }

    List<int32_t> named(const List<int32_t>& prefix, int32_t item) const {
        List<int32_t> items;
        for (int32_t i : prefix) items.push_back(rows_.item(i));
        items.push_back(rows_.item(item));
        std::sort(items.begin(), items.end());
        return items;
    }

    // Adds up the branches in their order, so that the result does not depend on the number of threads.
    void absorb(Vector<Found>& found, bool last) {
        int64_t identity = 0, attribute = 0;
        Level level{Vector<int64_t>(control_), Vector<int32_t>(control_)};
        level.begin.push_back(0);
        Index items = 0, prefixes = 1;
        for (const Found& branch : found) {
            items += branch.items.size();
            prefixes += branch.children.size();
        }
        level.items.reserve(items);
        level.begin.reserve(prefixes);
        for (Found& branch : found) {
            identity += branch.identity;
            attribute += branch.attribute;
            checked_ += branch.identity + branch.attribute + branch.safe;
            total_.margins.merge(branch.margins);
            total_.worst.merge(std::move(branch.worst));
            if (last) continue;
            level.items.insert(level.items.end(), branch.items.begin(), branch.items.end());
            for (int32_t children : branch.children) level.begin.push_back(level.begin.back() + children);
            Vector<int32_t>(control_).swap(branch.items);
            Vector<int32_t>(control_).swap(branch.children);
        }
        identity_by_size_.push_back(identity);
        attribute_by_size_.push_back(attribute);
        if (!last) trie_.add(std::move(level));
    }

    const Csr& data_;
    View<int32_t> kind_;
    Promise promise_;
    Index limit_;
    int64_t batch_limit_;  // bytes; 0: as the memory allows
    Control& control_;
    Rows rows_;
    Vector<int64_t> support_;  // of single items
    List<int64_t> kind_support_;
    int64_t with_any_ = 0;
    Trie trie_;
    Found total_;
    bool feasible_ = true;
    int64_t checked_ = 0;
    List<int64_t> identity_by_size_, attribute_by_size_;
};

nb::dict audit_coherence(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<int32_t>& kind,
                         int32_t kinds, int64_t h_num, int64_t h_den, int64_t k, int64_t p, int64_t witness_limit,
                         int64_t batch_limit, int threads, int64_t memory_limit, double time_limit,
                         nb::object progress) {
    for (int32_t which : span_of(kind))
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    Csr data(offsets, items, int32_t(kind.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    Auditor auditor(data, span_of(kind), kinds, {h_num, h_den, k, p}, witness_limit, batch_limit, control);
    auditor.run(threads);
    return auditor.result();
}

}  // namespace

void register_audit_coherence(nb::module_& m) {
    m.def("coherence", &audit_coherence, "offsets"_a, "items"_a, "kind"_a, nb::kw_only(), "kinds"_a, "h_num"_a,
          "h_den"_a, "k"_a, "p"_a, "witness_limit"_a, "batch_limit"_a, "threads"_a, "memory_limit"_a, "time_limit"_a,
          "progress"_a.none());
}

}  // namespace veilset
