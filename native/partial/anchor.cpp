// The anchor: a heavy itemset that k rows hold. All its parts are in k rows, so every row can keep all it has of it.
//
// It is grown from one item, by the item that weighs most among those that k of its rows hold; an item counts more the
// more of these rows hold it. From several items and with several powers of that share, and the heaviest one wins.
#include "core/csr.hpp"

namespace veilset {
namespace {

constexpr int powers = 5;

struct Grown {
    int64_t weight = -1;
    List<int32_t> items;
};

// Scratch of one worker.
class Growth {
public:
    Growth(const Csr& data, View<uint8_t> may, View<int64_t> weight, int64_t k, Control& control)
        : data_(data), may_(may), weight_(weight), control_(control), k_(k), count_(data.vocabulary, 0) {}

    Grown from(int32_t first, int power) {
        rows_.clear();
        for (Index r = 0; r < data_.rows(); ++r)
            if (std::ranges::binary_search(data_.row(r), first)) rows_.push_back(r);
        Grown grown;
        if (rows_.size() < k_) return grown;
        grown.weight = 0;
        for (int32_t item = first; item >= 0; item = next(grown.items, power)) {
            grown.items.push_back(item);
            grown.weight += weight_[item];
            std::erase_if(rows_, [&](int64_t r) { return !std::ranges::binary_search(data_.row(r), item); });
        }
        return grown;
    }

private:
    int32_t next(const List<int32_t>& taken, int power) {
        control_.poll();
        std::ranges::fill(count_, 0);
        for (int64_t r : rows_)
            for (int32_t item : data_.row(r)) ++count_[item];
        for (int32_t item : taken) count_[item] = 0;
        int32_t best = -1;
        double most = -1;
        for (int32_t item = 0; item < data_.vocabulary; ++item) {
            if (!may_[item] || count_[item] < k_) continue;
            double score = double(weight_[item]);
            for (int i = 0; i < power; ++i) score *= double(count_[item]) / double(rows_.size());
            if (score > most) most = score, best = item;
        }
        return best;
    }

    const Csr& data_;
    View<uint8_t> may_;
    View<int64_t> weight_;
    Control& control_;
    int64_t k_;
    List<int64_t> count_, rows_;
};

// Of the itemsets that grow from `starts` by items that `may` take part, the heaviest.
Output<int32_t> heavy_itemset(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                              View<uint8_t> may, View<int64_t> weight, View<int32_t> starts, int64_t k, int threads) {
    const Csr data(offsets, items, vocabulary);
    if (may.size() != vocabulary || weight.size() != vocabulary)
        throw std::invalid_argument("a weight for each item, please");
    for (int32_t item : starts)
        if (item < 0 || item >= vocabulary) throw std::invalid_argument("item outside the vocabulary");
    const Index tries = starts.size() * powers;
    control.charge(Control::useful(threads, tries) * (vocabulary + data.rows()) * int64_t(sizeof(int64_t)));
    std::vector<Growth> workers(Control::useful(threads, tries), Growth(data, may, weight, k, control));
    List<Grown> grown(tries);
    control.begin(1, tries);
    control.parallel(threads, tries, [&](Index t, int worker) {
        grown[t] = workers[worker].from(starts[t / powers], int(t % powers));
    });
    Grown best;
    for (Grown& one : grown)
        if (one.weight > best.weight) best = std::move(one);
    std::ranges::sort(best.items);
    return to_numpy(std::move(best.items));
}

}  // namespace

void register_partial_anchor(nb::module_& m) {
    def_kernel(m, "heavy_itemset", heavy_itemset, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(), "may"_a,
               "weight"_a, "starts"_a, "k"_a, "threads"_a);
}

}  // namespace veilset
