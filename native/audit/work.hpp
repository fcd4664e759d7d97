// How many steps an auditor may still take: a limit that does not depend on clocks or threads.
#pragma once

#include <atomic>

#include "core/control.hpp"

namespace veilset::auditing {

inline constexpr int64_t any_work = int64_t(1) << 62;  // as good as no limit

struct Work {
    std::atomic<int64_t> left = any_work;

    // Whether the steps of all threads together are too many does not depend on their order.
    void spend(int64_t steps) {
        if (left.fetch_sub(steps, std::memory_order_relaxed) < steps) throw OutOfWork();
    }
};

}  // namespace veilset::auditing
