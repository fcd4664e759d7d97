// Counting what is asked for: the rows that hold an itemset, and the supports of many itemsets.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bits.hpp"
#include "control.hpp"
#include "csr.hpp"

namespace veilset {
namespace {

constexpr int32_t none = -1;

// The rows that hold an itemset: a list of row numbers, ascending, or one bit a row.
struct Cover {
    std::span<const int32_t> rows;
    const uint64_t* bits = nullptr;
    int64_t support = 0;
};

// The covers of the items that are asked for, by rank: 0 is the rarest, ties go to the item that comes first in the vocabulary.
class Holders {
public:
    Holders(const Csr& data, std::span<const int32_t> asked, Control& control)
        : ranks_(size_t(data.vocabulary), none, control), first_(control), rows_(control), bits_(control), count_(data.rows()),
          words_(size_t(data.rows() + 63) / 64) {
        Vector<int64_t> support(size_t(data.vocabulary), 0, control);
        Vector<uint8_t> wanted(size_t(data.vocabulary), 0, control);
        for (int32_t item : asked) wanted[size_t(item)] = 1;
        for (int32_t item : data.items) ++support[size_t(item)];
        control.poll();
        Vector<int32_t> order(control);
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (wanted[size_t(i)]) order.push_back(i);
        std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            return support[size_t(a)] != support[size_t(b)] ? support[size_t(a)] < support[size_t(b)] : a < b;
        });
        first_.push_back(0);
        for (size_t rank = 0; rank < order.size(); ++rank) {
            ranks_[size_t(order[rank])] = int32_t(rank);
            const int64_t held = support[size_t(order[rank])];
            // A bitmap of an item that a 32nd of the rows hold takes no more memory than the list.
            if (32 * held < count_) lists_ = rank + 1;
            first_.push_back(first_.back() + held);
        }
        rows_.resize(size_t(first_[lists_]));
        bits_.resize((order.size() - lists_) * words_);
        fill(data, control);
    }

    int64_t count() const { return count_; }
    size_t words() const { return words_; }
    int32_t rank(int32_t item) const { return ranks_[size_t(item)]; }
    Cover cover(int32_t rank) const {
        const size_t r = size_t(rank);
        const int64_t support = first_[r + 1] - first_[r];
        if (r < lists_) return {{rows_.data() + first_[r], size_t(support)}, nullptr, support};
        return {{}, bits_.data() + (r - lists_) * words_, support};
    }

private:
    void fill(const Csr& data, Control& control) {
        Vector<int64_t> next(first_.begin(), first_.begin() + ptrdiff_t(lists_), control);
        for (int64_t r = 0; r < count_; ++r) {
            if (r % 4096 == 0) control.poll();
            for (int32_t item : data.row(r)) {
                const int32_t rank = ranks_[size_t(item)];
                if (rank == none) continue;
                if (size_t(rank) < lists_) rows_[size_t(next[size_t(rank)]++)] = int32_t(r);
                else bits_[(size_t(rank) - lists_) * words_ + size_t(r) / 64] |= uint64_t(1) << (r % 64);
            }
        }
    }

    Vector<int32_t> ranks_;  // item -> rank, or none
    Vector<int64_t> first_;  // rank -> where its list begins
    Vector<int32_t> rows_;
    Vector<uint64_t> bits_;
    size_t lists_ = 0;  // ranks below this one have lists, the others bitmaps
    int64_t count_;
    size_t words_;
};

// Those of `few` that are among `many`.
size_t meet(std::span<const int32_t> few, std::span<const int32_t> many, int32_t* out) {
    size_t found = 0;
    if (many.size() / 16 > few.size()) {
        auto at = many.begin();
        for (int32_t row : few) {
            ptrdiff_t step = 1;  // gallop: the next one is seldom far
            while (step < many.end() - at && at[step] < row) step *= 2;
            at = std::lower_bound(at + step / 2, at + std::min(step, many.end() - at), row);
            if (at == many.end()) break;
            out[found] = row;
            found += *at == row;
        }
        return found;
    }
    for (size_t i = 0, j = 0; i < few.size() && j < many.size();) {
        const int32_t a = few[i], b = many[j];
        out[found] = a;  // without a branch: most guesses would be wrong
        found += a == b;
        i += a <= b;
        j += b <= a;
    }
    return found;
}

size_t meet(std::span<const int32_t> few, const uint64_t* many, int32_t* out) {
    size_t found = 0;
    for (int32_t row : few) {
        out[found] = row;
        found += many[size_t(row) / 64] >> (row % 64) & 1;
    }
    return found;
}

// Counts itemsets one after the other, rarest item first, and keeps the covers of the prefixes on the way: the next one often
// begins in the same way.
class Counter {
public:
    Counter(const Holders& holders, Control& control) : holders_(holders), control_(control) {}

    int64_t support(std::span<const int32_t> itemset) {
        wanted_.clear();
        for (int32_t item : itemset) wanted_.push_back(holders_.rank(item));
        std::sort(wanted_.begin(), wanted_.end());
        size_t depth = 0;
        while (depth < stack_.size() && depth < wanted_.size() && stack_[depth].rank == wanted_[depth]) ++depth;
        stack_.resize(depth);
        while (depth < wanted_.size() && (depth == 0 || stack_.back().cover.support > 0)) push(wanted_[depth++]);
        return stack_.empty() ? holders_.count() : stack_.back().cover.support;
    }

private:
    struct Level {
        int32_t rank;
        Cover cover;
    };
    struct Buffer {
        Vector<int32_t> rows;
        Vector<uint64_t> bits;
        explicit Buffer(Control& control) : rows(control), bits(control) {}
    };

    void push(int32_t rank) {
        control_.poll();
        const Cover item = holders_.cover(rank);
        const size_t depth = stack_.size();
        if (depth == 0) {
            stack_.push_back({rank, item});
            return;
        }
        const Cover above = stack_.back().cover;
        while (buffers_.size() < depth) buffers_.emplace_back(control_);
        Buffer& buffer = buffers_[depth - 1];
        Cover both;
        if (above.bits) {  // then the item, which is no rarer, has a bitmap too
            buffer.bits.resize(holders_.words());
            both.bits = buffer.bits.data();
            both.support = and_store_count(above.bits, item.bits, buffer.bits.data(), holders_.words());
        } else {
            if (buffer.rows.size() < above.rows.size()) buffer.rows.resize(above.rows.size());
            const size_t found = item.bits ? meet(above.rows, item.bits, buffer.rows.data()) : meet(above.rows, item.rows, buffer.rows.data());
            both.rows = {buffer.rows.data(), found};
            both.support = int64_t(found);
        }
        stack_.push_back({rank, both});
    }

    const Holders& holders_;
    Control& control_;
    std::vector<int32_t> wanted_;
    std::vector<Level> stack_;
    std::vector<Buffer> buffers_;  // of all levels but the first, which looks into the holders
};

Output<int64_t> supports(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary, const Array<int64_t>& asked_offsets,
                         const Array<int32_t>& asked_items, int threads, int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    Control control(memory_limit, time_limit, std::move(progress));
    std::unique_ptr<Holders> holders;
    std::vector<int64_t> answer;
    control.single([&] {
        control.charge(8 * asked.rows());
        answer.resize(size_t(asked.rows()));
        holders = std::make_unique<Holders>(data, asked.items, control);
    });
    const int64_t block = std::clamp<int64_t>(asked.rows() / 64, 1, 1024), blocks = (asked.rows() + block - 1) / block;
    std::vector<std::unique_ptr<Counter>> counters(size_t(Control::useful(threads, blocks)));
    control.begin(1, blocks);
    control.parallel(int(counters.size()), blocks, [&](int64_t number, int worker) {
        auto& counter = counters[size_t(worker)];
        if (!counter) counter = std::make_unique<Counter>(*holders, control);
        for (int64_t i = number * block; i < std::min((number + 1) * block, asked.rows()); ++i)
            answer[size_t(i)] = counter->support(asked.row(i));
    });
    return to_numpy(std::move(answer));
}

Output<int64_t> cover(const Array<int64_t>& offsets, const Array<int32_t>& items, int32_t vocabulary, const Array<int32_t>& itemset) {
    std::vector<int64_t> rows;
    {
        nb::gil_scoped_release release;
        const Csr data(offsets, items, vocabulary);
        const auto wanted = span_of(itemset);
        for (int64_t r = 0; r < data.rows(); ++r) {
            const auto row = data.row(r);
            if (std::includes(row.begin(), row.end(), wanted.begin(), wanted.end())) rows.push_back(r);
        }
    }
    return to_numpy(std::move(rows));
}

}  // namespace

void register_mining_supports(nb::module_& m) {
    m.def("cover", &cover, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("vocabulary"), nb::arg("itemset").noconvert());
    m.def("supports", &supports, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("vocabulary"),
          nb::arg("asked_offsets").noconvert(), nb::arg("asked_items").noconvert(), nb::kw_only(), nb::arg("threads"), nb::arg("memory_limit"),
          nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
