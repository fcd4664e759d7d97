// What hiding costs the patterns to keep: which of them fall below their support, and what an occurrence is worth to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "csr.hpp"
#include "hiding_claims.hpp"

namespace veilset::hiding {

class Keep {
public:
    // `spare` tells how many transactions each pattern can lose and still be found; below 0: it is not found anyway.
    Keep(const Csr& data, const ByRarest& patterns, std::span<const int64_t> spare, const Claims& claims, int threads, Control& control)
        : data_(data), patterns_(patterns), spare_(spare), weight_(spare.size()), claims_(claims), control_(control) {
        // One that is barely found weighs most, one that cannot be lost nothing.
        for (size_t k = 0; k < weight_.size(); ++k) weight_[k] = spare_[k] < 0 ? 0 : (int64_t(1) << 20) / (1 + spare_[k]) + 1;
        find(threads);
    }

    // The next choice shall be more careful with the patterns that this one loses.
    void blame(std::span<const int64_t> losses) {
        for (size_t k = 0; k < weight_.size(); ++k)
            if (spare_[k] >= 0 && losses[k] > spare_[k]) weight_[k] = std::min(weight_[k] * 4, int64_t(1) << 32);
    }

    // For each contested occurrence, what the patterns weigh that its transaction holds with it.
    Vector<int64_t> values() const {
        Vector<int64_t> value(claims_.occurrences(), 0, control_);
        each([&](int32_t pattern, std::span<const int64_t> contested) {
            for (int64_t c : contested) value[size_t(c)] += weight_[size_t(pattern)];
        });
        return value;
    }

    // For each pattern, how many transactions no longer hold it when only these contested occurrences are kept.
    std::vector<int64_t> losses(std::span<const uint8_t> kept) const {
        std::vector<int64_t> lost(spare_.size(), 0);
        each([&](int32_t pattern, std::span<const int64_t> contested) {
            lost[size_t(pattern)] += std::ranges::any_of(contested, [&](int64_t c) { return !kept[size_t(c)]; });
        });
        return lost;
    }

    int64_t lost(std::span<const int64_t> losses) const {
        int64_t count = 0;
        for (size_t k = 0; k < losses.size(); ++k) count += spare_[k] >= 0 && losses[k] > spare_[k];
        return count;
    }

private:
    // A block of rows with, for each pattern that one of them holds and that needs contested occurrences, which it needs.
    struct Part {
        Vector<int32_t> pattern;
        Vector<int64_t> ends, contested;
        explicit Part(Control& c) : pattern(c), ends(c), contested(c) {}
    };

    void find(int threads) {
        const int64_t rows = int64_t(claims_.rows.size()) - 1, blocks = (rows + rows_per_block - 1) / rows_per_block;
        for (int64_t block = 0; block < blocks; ++block) parts_.emplace_back(control_);
        struct Worker {
            std::vector<int64_t> last, number;  // item -> the last row that holds it; its number among contested occurrences, or -1
        };
        std::vector<Worker> workers(size_t(Control::useful(threads, blocks)));
        for (Worker& w : workers) w = {std::vector<int64_t>(size_t(data_.vocabulary), -1), std::vector<int64_t>(size_t(data_.vocabulary), -1)};
        control_.parallel(int(workers.size()), blocks, [&](int64_t block, int worker) {
            auto& [last, number] = workers[size_t(worker)];
            Part& part = parts_[size_t(block)];
            for (int64_t at = block * rows_per_block; at < std::min(rows, (block + 1) * rows_per_block); ++at) {
                control_.poll();
                const int64_t begin = claims_.rows[size_t(at)], end = claims_.rows[size_t(at) + 1], r = claims_.row[size_t(begin)];
                for (int32_t i : data_.row(r)) last[size_t(i)] = r;
                for (int64_t c = begin; c < end; ++c) number[size_t(claims_.item(size_t(c)))] = c;
                for (int32_t i : data_.row(r))
                    patterns_.held(i, [&](int32_t j) { return last[size_t(j)] == r; }, [&](int32_t k) {
                        const size_t before = part.contested.size();
                        for (int32_t j : patterns_.sets().row(k))
                            if (number[size_t(j)] >= 0) part.contested.push_back(number[size_t(j)]);
                        if (part.contested.size() == before) return;
                        part.pattern.push_back(k);
                        part.ends.push_back(int64_t(part.contested.size()));
                    });
                for (int64_t c = begin; c < end; ++c) number[size_t(claims_.item(size_t(c)))] = -1;
            }
        });
    }

    template <class Body>
    void each(Body body) const {
        for (const Part& part : parts_) {
            int64_t begin = 0;
            for (size_t k = 0; k < part.pattern.size(); ++k) {
                body(part.pattern[k], std::span<const int64_t>(part.contested.data() + begin, part.contested.data() + part.ends[k]));
                begin = part.ends[k];
            }
            control_.poll();
        }
    }

    Csr data_;
    const ByRarest& patterns_;
    std::span<const int64_t> spare_;
    std::vector<int64_t> weight_;
    const Claims& claims_;
    Control& control_;
    std::vector<Part> parts_;
};

}  // namespace veilset::hiding
