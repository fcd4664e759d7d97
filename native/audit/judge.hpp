// What the auditor of coherence makes of the itemsets it has counted.
#pragma once

#include "audit/findings.hpp"
#include "audit/rows.hpp"

namespace veilset::auditing {

// What one branch found at one level.
struct Found {
    WorstMoles worst;
    Margins margins;
    int64_t identity = 0, attribute = 0, checked = 0;
    Vector<int32_t> items;     // safe generators that extend the prefixes, in the order of these
    Vector<int64_t> supports;  // their own
    Vector<int32_t> children;  // how many of them each prefix has

    void extended_by(int32_t item, int64_t support) {
        items.push_back(item);
        supports.push_back(support);
    }
};

// What branches found together, in their order, so that it does not depend on the number of threads; what they extend
// only if `kept`. They are empty afterwards.
inline Found joined(Found all, Vector<Found>& branches, bool kept, Control& control) {
    Index items = 0, prefixes = 0;
    for (const Found& branch : branches) {
        items += branch.items.size();
        prefixes += branch.children.size();
    }
    if (kept) {
        all.items.reserve(items);
        all.supports.reserve(items);
        all.children.reserve(prefixes);
    }
    for (Found& branch : branches) {
        all.identity += branch.identity;
        all.attribute += branch.attribute;
        all.checked += branch.checked;
        all.margins.merge(branch.margins);
        all.worst.merge(std::move(branch.worst));
        if (!kept) continue;
        all.items.insert(all.items.end(), branch.items.begin(), branch.items.end());
        all.supports.insert(all.supports.end(), branch.supports.begin(), branch.supports.end());
        all.children.insert(all.children.end(), branch.children.begin(), branch.children.end());
        for (auto* values : {&branch.items, &branch.children}) Vector<int32_t>(control).swap(*values);
        Vector<int64_t>(control).swap(branch.supports);
    }
    return all;
}

class Judge {
public:
    // worst: of all levels before.
    Judge(Promise promise_, const Rows& rows, const WorstMoles& worst)
        : promise(promise_), rows_(rows), worst_(worst) {}

    // Whether prefix + item is safe, given the sensitive thing that most of its rows hold; counts and reports it.
    bool safe(View<int32_t> prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
              Found& found) const {
        Margins& margins = found.margins;
        if (!margins.smallest_support || support < margins.smallest_support) {
            margins.smallest_support = support;
            margins.smallest_items = named(prefix, item);
        }
        if (support < promise.k) {
            report(prefix, item, support, none, 0, found);
            ++found.identity;
            return false;
        }
        if (promise.breaks(with, support)) {
            report(prefix, item, support, sensitive, with, found);
            ++found.attribute;
            return false;
        }
        return true;
    }

    List<int32_t> named(View<int32_t> prefix, int32_t item) const {
        List<int32_t> items;
        for (int32_t i : prefix) items.push_back(rows_.item(i));
        items.push_back(rows_.item(item));
        std::sort(items.begin(), items.end());
        return items;
    }

    const Promise promise;

private:
    void report(View<int32_t> prefix, int32_t item, int64_t support, int32_t sensitive, int64_t with,
                Found& found) const {
        const Index size = prefix.size() + 1;
        if (worst_.wants(support, sensitive, with, size) && found.worst.wants(support, sensitive, with, size))
            found.worst.add(named(prefix, item), support, sensitive, with);
    }

    const Rows& rows_;
    const WorstMoles& worst_;
};

}  // namespace veilset::auditing
