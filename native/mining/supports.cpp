// Counting what is asked for: the rows that hold an itemset, and the supports of many itemsets.
#include "mining/holders.hpp"

namespace veilset {
namespace {

// Counts itemsets one after the other, rarest item first, and keeps the covers of the prefixes on the way: the next one
// often begins in the same way.
class Counter {
public:
    Counter(const Holders& holders, Control& control) : holders_(holders), control_(control) {}

    int64_t support(View<int32_t> itemset) {
        wanted_.clear();
        for (int32_t item : itemset) wanted_.push_back(holders_.rank(item));
        std::sort(wanted_.begin(), wanted_.end());
        Index depth = 0;
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

    void push(int32_t rank) {
        control_.poll();
        const Cover item = holders_.cover(rank);
        const Index depth = stack_.size();
        if (depth == 0) {
            stack_.push_back({rank, item});
            return;
        }
        while (buffers_.size() < depth) buffers_.emplace_back(control_);
        stack_.push_back({rank, meet(stack_.back().cover, item, buffers_[depth - 1], holders_.words())});
    }

    const Holders& holders_;
    Control& control_;
    List<int32_t> wanted_;
    List<Level> stack_;
    List<CoverBuffer> buffers_;  // of all levels but the first, which looks into the holders
};

Output<int64_t> supports(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                         View<int64_t> asked_offsets, View<int32_t> asked_items, int threads) {
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    control.charge(8 * asked.rows());
    List<int64_t> answer(asked.rows());
    const Holders holders = control.single([&] { return Holders(data, asked.items, control); });
    List<std::unique_ptr<Counter>> counters(Control::useful(threads, asked.rows()));
    const Index block = std::clamp<Index>(asked.rows() / 64, 1, 1024);
    control.in_blocks(1, threads, asked.rows(), block, [&](Index i, int worker) {
        auto& counter = counters[worker];
        if (!counter) counter = std::make_unique<Counter>(holders, control);
        answer[i] = counter->support(asked.row(i));
    });
    return to_numpy(std::move(answer));
}

Output<int64_t> cover(View<int64_t> offsets, View<int32_t> items, int32_t vocabulary, View<int32_t> wanted) {
    List<int64_t> rows;
    {
        nb::gil_scoped_release release;
        const Csr data(offsets, items, vocabulary);
        for (int64_t r = 0; r < data.rows(); ++r) {
            const auto row = data.row(r);
            if (std::includes(row.begin(), row.end(), wanted.begin(), wanted.end())) rows.push_back(r);
        }
    }
    return to_numpy(std::move(rows));
}

}  // namespace

void register_mining_supports(nb::module_& m) {
    m.def("cover", &cover, "offsets"_a, "items"_a, "vocabulary"_a, "itemset"_a);
    def_kernel(m, "supports", supports, "offsets"_a, "items"_a, "vocabulary"_a, "asked_offsets"_a, "asked_items"_a,
               nb::kw_only(), "threads"_a);
}

}  // namespace veilset
