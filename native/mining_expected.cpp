// What transactions in buckets tell of itemsets that reach over several columns: the supports that are to be expected where, inside a
// bucket, any value of a column may belong to any value of the others.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "control.hpp"
#include "csr.hpp"
#include "mining_holders.hpp"

namespace veilset {
namespace {

// Of one bucket, how many rows are expected to hold an itemset.
struct Expected {
    size_t bucket;
    double rows;
};

int64_t ones_between(const uint64_t* bits, int64_t first, int64_t last) {
    int64_t count = 0;
    while (first < last) {
        const int64_t here = std::min(64 - first % 64, last - first);  // 1 to 64 of one word
        count += std::popcount(bits[first / 64] >> (first % 64) << (64 - here));
        first += here;
    }
    return count;
}

// found(bucket, count) for each bucket with rows of the cover, ascending. Bucket b has the rows starts[b] to starts[b + 1].
template <class Found>
void count_by_bucket(const Cover& cover, std::span<const int64_t> starts, Found found) {
    if (cover.bits) {
        for (size_t b = 0; b + 1 < starts.size(); ++b)
            if (const int64_t count = ones_between(cover.bits, starts[b], starts[b + 1])) found(b, count);
        return;
    }
    size_t bucket = 0;
    for (size_t at = 0; at < cover.rows.size();) {
        while (starts[bucket + 1] <= cover.rows[at]) ++bucket;
        const size_t first = at;
        while (at < cover.rows.size() && cover.rows[at] < starts[bucket + 1]) ++at;
        found(bucket, int64_t(at - first));
    }
}

// Itemsets one after the other, column by column, and in a column rarest item first. What was found of the prefixes is kept: the next
// itemset often begins in the same way.
class Expectation {
public:
    Expectation(const Holders& holders, std::span<const int32_t> columns, std::span<const int64_t> starts, Control& control)
        : holders_(holders), columns_(columns), starts_(starts), control_(control) {}

    double support(std::span<const int32_t> itemset) {
        wanted_.assign(itemset.begin(), itemset.end());
        std::sort(wanted_.begin(), wanted_.end(), [&](int32_t a, int32_t b) {
            const int32_t left = columns_[size_t(a)], right = columns_[size_t(b)];
            return left != right ? left < right : holders_.rank(a) < holders_.rank(b);
        });
        size_t same = 0;
        while (same < depth_ && same < wanted_.size() && levels_[same]->item == wanted_[same]) ++same;
        depth_ = same;
        while (depth_ < wanted_.size()) push(wanted_[depth_]);
        if (depth_ == 0) return double(holders_.count());
        double sum = 0;
        for (const Expected& part : expected(depth_ - 1)) sum += part.rows;
        return sum;
    }

private:
    // The items of an itemset up to one of them.
    struct Level {
        int32_t item = none;
        size_t first = 0;  // the level where its column begins
        Cover cover;       // of its items in this column
        CoverBuffer buffer;
        bool known = false;
        Vector<Expected> expected;  // of all its items, if known
        explicit Level(Control& control) : buffer(control), expected(control) {}
    };

    void push(int32_t item) {
        control_.poll();
        if (levels_.size() == depth_) levels_.push_back(std::make_unique<Level>(control_));
        Level& level = *levels_[depth_];
        const Cover cover = holders_.cover(holders_.rank(item));
        level.item = item;
        level.known = false;
        level.first = depth_;
        level.cover = cover;
        if (depth_ > 0 && columns_[size_t(levels_[depth_ - 1]->item)] == columns_[size_t(item)]) {
            level.first = levels_[depth_ - 1]->first;
            level.cover = meet(levels_[depth_ - 1]->cover, cover, level.buffer, holders_.words());
        }
        ++depth_;
    }

    // For each bucket, the rows that are expected to hold all items up to this level, where any are.
    std::span<const Expected> expected(size_t depth) {
        Level& level = *levels_[depth];
        if (level.known) return level.expected;
        level.expected.clear();
        if (level.first == 0) {
            count_by_bucket(level.cover, starts_, [&](size_t bucket, int64_t count) { level.expected.push_back({bucket, double(count)}); });
        } else {
            const std::span<const Expected> before = expected(level.first - 1);
            size_t at = 0;
            count_by_bucket(level.cover, starts_, [&](size_t bucket, int64_t count) {
                while (at < before.size() && before[at].bucket < bucket) ++at;
                if (at == before.size() || before[at].bucket != bucket) return;
                const double size = double(starts_[bucket + 1] - starts_[bucket]);
                level.expected.push_back({bucket, before[at].rows * double(count) / size});
            });
        }
        level.known = true;
        return level.expected;
    }

    const Holders& holders_;
    std::span<const int32_t> columns_;
    std::span<const int64_t> starts_;
    Control& control_;
    std::vector<int32_t> wanted_;
    std::vector<std::unique_ptr<Level>> levels_;
    size_t depth_ = 0;  // levels that belong to the itemset
};

void check_anatomy(const Csr& data, std::span<const int32_t> columns, std::span<const int64_t> starts) {
    if (columns.size() != size_t(data.vocabulary)) throw std::invalid_argument("not one column for each item");
    if (starts.empty() || starts.front() != 0 || starts.back() != data.rows()) throw std::invalid_argument("buckets do not frame the rows");
    for (size_t b = 1; b < starts.size(); ++b)
        if (starts[b] <= starts[b - 1]) throw std::invalid_argument("a bucket without rows");
}

Output<double> expected_supports(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary, const Array<int32_t>& columns,
                                 const Array<int64_t>& starts, const Array<int64_t>& asked_offsets, const Array<int32_t>& asked_items, int threads,
                                 int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    check_anatomy(data, span_of(columns), span_of(starts));
    Control control(memory_limit, time_limit, std::move(progress));
    std::unique_ptr<Holders> holders;
    std::vector<double> answer;
    control.single([&] {
        control.charge(8 * asked.rows());
        answer.resize(size_t(asked.rows()));
        holders = std::make_unique<Holders>(data, asked.items, control);
    });
    const int64_t block = std::clamp<int64_t>(asked.rows() / 64, 1, 1024), blocks = (asked.rows() + block - 1) / block;
    std::vector<std::unique_ptr<Expectation>> workers(size_t(Control::useful(threads, blocks)));
    control.begin(1, blocks);
    control.parallel(int(workers.size()), blocks, [&](int64_t number, int worker) {
        auto& expectation = workers[size_t(worker)];
        if (!expectation) expectation = std::make_unique<Expectation>(*holders, span_of(columns), span_of(starts), control);
        for (int64_t i = number * block; i < std::min((number + 1) * block, asked.rows()); ++i)
            answer[size_t(i)] = expectation->support(asked.row(i));
    });
    return to_numpy(std::move(answer));
}

}  // namespace

void register_mining_expected(nb::module_& m) {
    m.def("expected_supports", &expected_supports, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("vocabulary"),
          nb::arg("columns").noconvert(), nb::arg("starts").noconvert(), nb::arg("asked_offsets").noconvert(), nb::arg("asked_items").noconvert(),
          nb::kw_only(), nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
