// What the auditor of coherence finds: moles by severity, and how close to its limits the data comes.
#pragma once

#include "audit/worst.hpp"
#include "core/arrays.hpp"

namespace veilset::auditing {

constexpr int32_t none = -1;

struct Promise {
    int64_t h_num, h_den, k;
    int64_t p;  // 0: unlimited
    bool breaks(int64_t with, int64_t support) const { return with * h_den > h_num * support; }
    bool can_be_breached() const { return h_num < h_den; }
};

// a/b > c/d, exactly.
inline bool greater(int64_t a, int64_t b, int64_t c, int64_t d) { return __int128(a) * d > __int128(c) * b; }

struct Mole {
    Vector<int32_t> items;  // vocabulary codes, ascending
    int64_t support;
    int32_t sensitive;  // none: an identity mole
    int64_t with;       // Sup(Q + sensitive)
};

// Severity: by how many times the limit is exceeded; then fewer items; then vocabulary order.
struct MoreSevere {
    Promise promise;
    std::pair<int64_t, int64_t> excess(int64_t support, int32_t sensitive, int64_t with) const {
        if (sensitive == none) return {promise.k, support};
        return {with * promise.h_den, support * promise.h_num};
    }
    std::pair<int64_t, int64_t> excess(const Mole& m) const { return excess(m.support, m.sensitive, m.with); }
    bool operator()(const Mole& a, const Mole& b) const {
        auto [an, ad] = excess(a);
        auto [bn, bd] = excess(b);
        if (greater(an, ad, bn, bd)) return true;
        if (greater(bn, bd, an, ad)) return false;
        if (a.items.size() != b.items.size()) return a.items.size() < b.items.size();
        return a.items < b.items;
    }
};

class WorstMoles : public Worst<Mole, MoreSevere> {
public:
    WorstMoles(Promise promise, Index limit, Control& control) : Worst(limit, {promise}, control) {}

    // Whether a mole of this severity and size can still be among them: asked before its items are put together.
    bool wants(int64_t support, int32_t sensitive, int64_t with, Index size) const {
        if (kept_.size() < limit_) return true;
        if (limit_ == 0) return false;
        auto [an, ad] = worse_.excess(support, sensitive, with);
        auto [bn, bd] = worse_.excess(kept_.front());
        return greater(an, ad, bn, bd) || (!greater(bn, bd, an, ad) && size <= kept_.front().items.size());
    }
    void add(View<int32_t> items, int64_t support, int32_t sensitive, int64_t with) {
        Worst::add({Vector<int32_t>(items.begin(), items.end(), kept_.get_allocator()), support, sensitive, with});
    }
};

// Itemsets with what they give away, as Python gets them.
struct Witnesses {
    List<int64_t> offsets{0}, support, with;
    List<int32_t> items, sensitive;

    void add(View<int32_t> itemset, int64_t holders, int32_t thing, int64_t holders_with) {
        items.insert(items.end(), itemset.begin(), itemset.end());
        offsets.push_back(items.size());
        support.push_back(holders);
        sensitive.push_back(thing);
        with.push_back(holders_with);
    }
    void put_into(nb::dict& out) {
        out["witness_offsets"] = to_numpy(std::move(offsets));
        out["witness_items"] = to_numpy(std::move(items));
        out["witness_support"] = to_numpy(std::move(support));
        out["witness_sensitive"] = to_numpy(std::move(sensitive));
        out["witness_with"] = to_numpy(std::move(with));
    }
};

// A margin: the extreme value met, and where. The first one met stays when others are equal.
struct Share {
    int64_t with = 0, support = 1;
    int32_t sensitive = none;
    List<int32_t> items;
};

struct Margins {
    int64_t smallest_support = 0;  // 0: no public itemset met
    List<int32_t> smallest_items;
    Share breach;  // of one particular sensitive item
    Share any;     // of some sensitive item or other

    void merge(const Margins& other) {
        if (other.smallest_support && (!smallest_support || other.smallest_support < smallest_support)) {
            smallest_support = other.smallest_support;
            smallest_items = other.smallest_items;
        }
        if (greater(other.breach.with, other.breach.support, breach.with, breach.support)) breach = other.breach;
        // Single items are judged one by one; of those that are equal, the first sensitive thing decides.
        if (breach.items.size() == 1 && other.breach.items.size() == 1 && other.breach.sensitive < breach.sensitive &&
            !greater(breach.with, breach.support, other.breach.with, other.breach.support))
            breach = other.breach;
        if (greater(other.any.with, other.any.support, any.with, any.support)) any = other.any;
    }
};

}  // namespace veilset::auditing
