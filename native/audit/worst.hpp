// The worst findings of an audit, up to a limit.
#pragma once

#include "core/control.hpp"

namespace veilset::auditing {

// A heap with the mildest in front; worse(a, b) is the order.
template <class Finding, class Worse>
class Worst {
public:
    Worst(Index limit, Worse worse, Control& control) : worse_(worse), limit_(limit), kept_(control) {}

    void add(Finding finding) {
        if (kept_.size() == limit_) {
            if (limit_ == 0 || !worse_(finding, kept_.front())) return;
            std::ranges::pop_heap(kept_, worse_);
            kept_.pop_back();
        }
        kept_.push_back(std::move(finding));
        std::ranges::push_heap(kept_, worse_);
    }
    // All or, if they do not fit into the memory, none. The others are none afterwards.
    void merge(Worst&& other) {
        const Index needed = std::min(limit_, kept_.size() + other.kept_.size());
        if (needed > Index(kept_.capacity())) kept_.reserve(std::max(needed, std::min(limit_, 3 * kept_.size() / 2)));
        for (Finding& finding : other.kept_) add(std::move(finding));
        other.kept_.clear();
    }
    bool empty() const { return kept_.empty(); }
    // From the worst on; nothing can be added afterwards.
    View<Finding> sorted() {
        std::ranges::sort(kept_, worse_);
        return kept_;
    }

protected:
    Worse worse_;
    Index limit_;
    Vector<Finding> kept_;  // somebody may ask for all of them
};

}  // namespace veilset::auditing
