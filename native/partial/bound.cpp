// What no release by single occurrences can keep: of each row more than its heaviest part whose small itemsets are all
// frequent in the data. Taking occurrences away makes no itemset more frequent, so what a row keeps is such a part.
//
// Frequent itemsets are looked up by a hash alone: one that is taken for frequent by mistake makes the bound weaker,
// never wrong. A row for which the search takes too many lookups counts with what its pairs allow at most. How many it
// may take depends on the lengths of the rows alone, so that the bound is the same for any number of threads.
#include <bit>

#include "core/csr.hpp"
#include "partial/hashes.hpp"

namespace veilset {
namespace {

using partial::stirred;

constexpr int64_t most_nodes = 20000;
constexpr Index rows_per_block = 64;

// Hashes with open addressing; one that is 0 counts as found.
class Hashes {
public:
    Hashes(Index many, Control& control) : slots_(std::bit_ceil(uint64_t(2 * many + 1)), 0, control) {}

    void insert(uint64_t hash) { slots_[place(hash)] = hash; }
    bool contains(uint64_t hash) const { return slots_[place(hash)] == hash; }

private:
    Index place(uint64_t hash) const {
        const Index mask = slots_.size() - 1;
        Index at = Index(mix(hash)) & mask;
        while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & mask;
        return at;
    }

    Vector<uint64_t> slots_;
};

class Parts {
public:
    Parts(const Hashes& frequent, View<int64_t> worth, int64_t size, Control& control)
        : frequent_(frequent), worth_(worth), size_(size), control_(control) {}

    int64_t heaviest(View<int32_t> row, int64_t lookups) {
        best_ = nodes_ = 0;
        lookups_ = lookups;
        items_.assign(row.begin(), row.end());
        std::ranges::stable_sort(items_, std::greater(), [&](int32_t item) { return worth_[item]; });
        chosen_.assign(1, {0, 0});  // the empty set, with the hash and the size of each of its parts
        List<int32_t> all(items_.begin(), items_.end());
        extend(all, 0);
        return over() ? std::max(best_, at_most(items_)) : best_;
    }

private:
    struct Part {
        uint64_t hash;
        int64_t size;
    };

    bool over() const { return nodes_ > most_nodes || lookups_ < 0; }
    bool frequent(uint64_t hash) {
        --lookups_;
        return frequent_.contains(hash);
    }

    // Items of which no two are frequent together: a part of the row has one of each such group at most.
    int64_t at_most(const List<int32_t>& items) {
        List<List<int32_t>> groups;
        int64_t all = 0;
        for (int32_t item : items) {
            const auto apart = [&](const List<int32_t>& group) {
                return std::ranges::none_of(group,
                                            [&](int32_t other) { return frequent(stirred(item) + stirred(other)); });
            };
            if (const auto group = std::ranges::find_if(groups, apart); group != groups.end()) group->push_back(item);
            else {
                groups.push_back({item});
                all += worth_[item];  // the first of a group is the heaviest
            }
        }
        return all;
    }

    void extend(const List<int32_t>& candidates, int64_t weight) {
        control_.poll();
        best_ = std::max(best_, weight);
        ++nodes_;
        if (over()) return;
        int64_t left = 0;
        for (int32_t item : candidates) left += worth_[item];
        if (weight + left <= best_ || (candidates.size() > 8 && weight + at_most(candidates) <= best_)) return;
        for (Index c = 0; c < candidates.size(); ++c) {
            if (weight + left <= best_ || over()) return;
            const int32_t item = candidates[c];
            left -= worth_[item];
            const Index before = chosen_.size();
            for (Index part = 0; part < before; ++part)
                if (chosen_[part].size + 1 < size_)
                    chosen_.push_back({chosen_[part].hash + stirred(item), chosen_[part].size + 1});
            List<int32_t> others;
            for (Index d = c + 1; d < candidates.size(); ++d) {
                const uint64_t other = stirred(candidates[d]);
                bool fits = size_ < 2 || frequent(other + stirred(item));
                for (Index part = before; fits && part < chosen_.size(); ++part)
                    fits = frequent(chosen_[part].hash + other);
                if (fits) others.push_back(candidates[d]);
            }
            extend(others, weight + worth_[item]);
            chosen_.resize(before);
        }
    }

    const Hashes& frequent_;
    View<int64_t> worth_;
    int64_t size_;
    Control& control_;
    List<int32_t> items_;
    List<Part> chosen_;
    int64_t best_ = 0, nodes_ = 0, lookups_ = 0;
};

// At most so much of the worth of the items that `may` take part can be kept. The frequent itemsets have two to `size`
// items, all those that occur in the rows. `lookups` bounds the search in all rows together.
int64_t most_kept(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary, View<uint8_t> may,
                  View<int64_t> worth, View<int64_t> set_offsets, View<int32_t> set_items, int64_t size,
                  int64_t lookups, int threads) {
    const Csr data(offsets, items, vocabulary), sets(set_offsets, set_items, vocabulary);
    if (may.size() != vocabulary || worth.size() != vocabulary)
        throw std::invalid_argument("a weight for each item, please");
    Hashes frequent(sets.rows(), control);
    for (Index s = 0; s < sets.rows(); ++s) {
        uint64_t hash = 0;
        for (int32_t item : sets.row(s)) hash += stirred(item);
        frequent.insert(hash);
    }
    std::vector<Parts> workers(Control::useful(threads, data.rows()), Parts(frequent, worth, size, control));
    // Long rows take most: their share of the lookups grows with the square of their length.
    double squares = 0;
    for (Index r = 0; r < data.rows(); ++r) squares += double(data.row(r).size()) * double(data.row(r).size());
    List<int64_t> kept(data.rows(), 0);
    control.in_blocks(2, Control::useful(threads, data.rows()), data.rows(), rows_per_block, [&](Index r, int worker) {
        List<int32_t> row;
        for (int32_t item : data.row(r))
            if (may[item]) row.push_back(item);
        const auto length = double(data.row(r).size());
        kept[r] = workers[worker].heaviest(row, int64_t(double(lookups) * length * length / std::max(1.0, squares)));
    });
    return std::reduce(kept.begin(), kept.end(), int64_t(0));
}

}  // namespace

void register_partial_bound(nb::module_& m) {
    def_kernel(m, "most_kept", most_kept, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(), "may"_a, "worth"_a,
               "set_offsets"_a, "set_items"_a, "size"_a, "lookups"_a, "threads"_a);
}

}  // namespace veilset
