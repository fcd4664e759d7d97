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

#include "audit/branches.hpp"

namespace veilset {
namespace {

using namespace auditing;

class Auditor {
public:
    Auditor(const Csr& data, View<int32_t> kind, int32_t kinds, Promise promise, int64_t limit, int64_t batch_limit,
            Control& control)
        : data_(data), kind_(kind), promise_(promise), limit_(limit), batch_limit_(batch_limit), control_(control),
          rows_(data, kind, kinds, control), support_(data.vocabulary, 0, control), kind_support_(kinds, 0),
          total_(nothing()), judge_(promise, rows_, total_.worst) {}

    void run(int threads) {
        control_.begin(1, 1);
        control_.single([&] { count_supports(); });
        if (!(feasible_ = empty_set_holds())) return;
        first_level(threads);
        for (int64_t level = 2; has_level(level); ++level) {
            const bool last = level == promise_.p;
            Vector<Found> found = nothing_in(rows_.items());
            in_batches(level, 0, threads, found, [&](int64_t branch, BranchReader& reader) {
                reader.judge_larger(branch, level, last, found[branch]);
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
    bool has_level(int64_t level) const {
        return (promise_.p == 0 || level <= promise_.p) && rows_.items() > 0 && trie_.reaches(level - 1);
    }

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
        int64_t first = 0;
        for (; first < rows_.items() && (rows_.support(first) < promise_.k || rows_.kinds() == 0); ++first)
            judge_.safe({}, int32_t(first), rows_.support(first), none, 0, found[first]);
        in_batches(1, first, threads, found,
                   [&](int64_t branch, BranchReader& reader) { reader.judge_single(branch, found[branch]); });

        Vector<int32_t> safe(control_);
        for (int64_t b = 0; b < rows_.items(); ++b)
            if (found[b].safe) safe.push_back(rows_.item(int32_t(b)));
        absorb(found, true);  // level 1 of the trie is the numbering itself
        if (safe.size() < rows_.items()) rows_.number(safe, support_);
    }

    // body(branch, reader) for the branches from `first` on, batch after batch. What a branch finds
    // does not depend on its batch.
    template <class Body>
    void in_batches(int64_t level, int64_t first, int threads, Vector<Found>& found, Body body) {
        const int64_t branches = rows_.items();
        while (first < branches) {
            try {
                control_.begin(level, branches, first);
                if (!rows_.all_from(first)) control_.single([&] { load(first, level > 1); });
                const int64_t count = rows_.last() - first;
                List<BranchReader> readers;
                for (int t = 0; t < Control::useful(threads, count); ++t)
                    readers.emplace_back(judge_, rows_, trie_, control_);
                control_.begin(level, branches, first);
                control_.parallel(threads, count, [&](int64_t index, int worker) {
                    // It prunes; an equal value met later does not replace the first.
                    found[first + index].margins = total_.margins;
                    body(first + index, readers[worker]);
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
    Judge judge_;
    bool feasible_ = true;
    int64_t checked_ = 0;
    List<int64_t> identity_by_size_, attribute_by_size_;
};

nb::dict audit_coherence(Control& control, View<int64_t> offsets, View<int32_t> items, View<int32_t> kind,
                         int32_t kinds, int64_t h_num, int64_t h_den, int64_t k, int64_t p, int64_t witness_limit,
                         int64_t batch_limit, int threads) {
    for (int32_t which : kind)
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    Csr data(offsets, items, int32_t(kind.size()));
    Auditor auditor(data, kind, kinds, {h_num, h_den, k, p}, witness_limit, batch_limit, control);
    auditor.run(threads);
    return auditor.result();
}

}  // namespace

void register_audit_coherence(nb::module_& m) {
    def_kernel(m, "coherence", audit_coherence, "offsets"_a, "items"_a, "kind"_a, nb::kw_only(), "kinds"_a, "h_num"_a,
               "h_den"_a, "k"_a, "p"_a, "witness_limit"_a, "batch_limit"_a, "threads"_a);
}

}  // namespace veilset
