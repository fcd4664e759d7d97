// What the auditor of coherence finds: moles by severity, and how close to its limits the data comes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/control.hpp"

namespace veilset::auditing {

constexpr int32_t none = -1;

struct Promise {
    int64_t h_num, h_den, k;
    int64_t p;  // 0: unlimited
    bool breaks(int64_t with, int64_t support) const { return with * h_den > h_num * support; }
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

// The most severe moles, up to a limit: a heap whose top is the mildest one kept.
class Worst {
public:
    Worst(Promise promise, size_t limit, Control& control) : order_{promise}, limit_(limit), kept_(control) {}

    // Whether a mole of this severity and size can still be among them: asked before its items are put together.
    bool wants(int64_t support, int32_t sensitive, int64_t with, size_t size) const {
        if (kept_.size() < limit_) return true;
        if (limit_ == 0) return false;
        auto [an, ad] = order_.excess(support, sensitive, with);
        auto [bn, bd] = order_.excess(kept_.front());
        return greater(an, ad, bn, bd) || (!greater(bn, bd, an, ad) && size <= kept_.front().items.size());
    }
    void add(const std::vector<int32_t>& items, int64_t support, int32_t sensitive, int64_t with) {
        add({Vector<int32_t>(items.begin(), items.end(), kept_.get_allocator()), support, sensitive, with});
    }
    void add(Mole mole) {
        if (limit_ == 0) return;
        if (kept_.size() == limit_) {
            if (!order_(mole, kept_.front())) return;
            std::pop_heap(kept_.begin(), kept_.end(), order_);
            kept_.pop_back();
        }
        kept_.push_back(std::move(mole));
        std::push_heap(kept_.begin(), kept_.end(), order_);
    }
    void merge(Worst&& other) {
        for (Mole& mole : other.kept_) add(std::move(mole));
    }
    Vector<Mole> sorted() && {
        std::sort(kept_.begin(), kept_.end(), order_);
        return std::move(kept_);
    }

private:
    MoreSevere order_;
    size_t limit_;
    Vector<Mole> kept_;  // somebody may ask for all of them
};

// A margin: the extreme value met, and where. The first one met stays when others are equal.
struct Share {
    int64_t with = 0, support = 1;
    int32_t sensitive = none;
    std::vector<int32_t> items;
};

struct Margins {
    int64_t smallest_support = 0;  // 0: no public itemset met
    std::vector<int32_t> smallest_items;
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
