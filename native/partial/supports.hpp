// Supports of sets before and now, by the hash of the set.
#pragma once

#include "core/csr.hpp"
#include "partial/hashes.hpp"

namespace veilset::partial {

struct Supports {
    int32_t before = 0;  // in the original
    int32_t now = 0;     // in the release
};

struct Rho {
    int64_t num, den;
    bool reached(int64_t with, int64_t of) const { return with * den >= num * of; }
};

// Supports by hash, with open addressing; 0 is the empty set, which has a place of its own.
class Table {
public:
    explicit Table(Control& control) : slots_(1024, {0, {}}, control) {}

    Supports& at(uint64_t hash) {
        if (hash == 0) return nothing_;
        return slots_[place(hash)].supports;
    }
    void add(uint64_t hash, Supports supports) {
        if (hash != 0 && 2 * ++used_ > slots_.size()) grow();
        const bool known = hash != 0;
        if (known) slots_[place(hash)].hash = hash;
        at(hash) = supports;
    }

private:
    struct Slot {
        uint64_t hash;
        Supports supports;
    };

    Index place(uint64_t hash) const {
        const Index mask = slots_.size() - 1;
        Index at = Index(mix(hash)) & mask;
        while (slots_[at].hash != 0 && slots_[at].hash != hash) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        Vector<Slot> old(2 * slots_.size(), {0, {}}, slots_.get_allocator());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.hash != 0) slots_[place(slot.hash)] = slot;
    }

    Vector<Slot> slots_;
    Supports nothing_;
    Index used_ = 0;
};

}  // namespace veilset::partial
