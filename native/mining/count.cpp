// The number of frequent itemsets and, for each item, of those that hold it, without listing them; all of them, or
// those that contain none of some given itemsets.
//
// A node P of the walk with f free items stands for as many itemsets as there are ways to choose among the free ones;
// each holds all of P, and of the ways as many hold a given free item as there are to choose among the others.
#include <type_traits>
#include <unordered_map>

#include "mining/avoiding.hpp"
#include "mining/limits.hpp"
#include "mining/numbers.hpp"
#include "mining/rows.hpp"
#include "mining/walk.hpp"

namespace veilset {
namespace {

using namespace mining;

struct AvoidingNothing {};

// Avoids: Avoiding or AvoidingNothing.
template <class Number, class Avoids>
class Counting {
public:
    static constexpr bool excludes = false, merges_excluded = false, looks_ahead = false,
                          avoids = std::is_same_v<Avoids, Avoiding>;

    // `given`: how many items every itemset holds besides those of the walk.
    Counting(Index items, Sizes sizes, int64_t given, const Number& zero, Avoids avoiding, Control& control)
        : per_item(items, zero, control), total(zero), sizes_(sizes), given_(given), zero_(zero),
          avoiding_(std::move(avoiding)), control_(control), levels_(1, {zero, zero, 0, none}) {}

    bool concerns(int32_t item) const { return avoiding_.concerns(item); }
    bool forbids(int32_t item) const { return avoiding_.forbids(item); }
    // Nothing is walked below an itemset of the largest size, so nothing needs to be known there.
    void extend(int32_t item) {
        if (sizes_.small_enough(given_ + ++walked_ + 1)) avoiding_.extend(item);
    }
    void retract(int32_t item) {
        if (sizes_.small_enough(given_ + walked_-- + 1)) avoiding_.retract(item);
    }

    bool enter(const List<int32_t>& itemset, const List<int32_t>& free, int64_t, bool) {
        const int64_t size = given_ + itemset.size(), choices = free.size();
        levels_.push_back({ways(choices, size), choices > 0 ? ways(choices - 1, size + 1) : zero_, free.size(),
                           itemset.empty() ? none : itemset.back()});
        free_ = &free;
        return sizes_.small_enough(size + 1);
    }
    void leave() {
        const Level level = std::move(levels_.back());
        levels_.pop_back();
        if (level.item != none) per_item[level.item] += level.all;
        for (Index f = levels_.back().free; f < level.free; ++f) per_item[(*free_)[f]] += level.with_free;
        if (levels_.size() == 1) {
            total += level.all;
        } else {
            levels_.back().all += level.all;
            levels_.back().with_free += level.with_free;
        }
    }

    // In how many ways `choices` free items can be added to `size` items so that the sizes fit.
    Number ways(int64_t choices, int64_t size) {
        const int64_t fewest = std::max<int64_t>(0, sizes_.min - size),
                      most = sizes_.max == 0 ? choices : std::min(choices, sizes_.max - size);
        if (fewest == 0 && most == choices) return power_of_two(choices);
        const auto [at, fresh] = ways_.try_emplace(choices << 32 | size, zero_);
        if (!fresh) return at->second;
        // Choices may be many: where none is too large, it is quicker to add up those that are too small.
        const bool too_small = most == choices;
        const int64_t end = too_small ? std::min(fewest, choices + 1) : most + 1;
        Number binomial = power_of_two(0);
        for (int64_t chosen = 0; chosen < end; ++chosen) {
            control_.poll();
            if (too_small || chosen >= fewest) at->second += binomial;
            binomial *= uint64_t(choices - chosen);
            binomial /= uint64_t(chosen + 1);
        }
        if (too_small) {
            Number fitting = power_of_two(choices);
            fitting -= at->second;
            at->second = fitting;
        }
        return at->second;
    }

    Vector<Number> per_item;
    Number total;

private:
    struct Level {
        Number all, with_free;  // itemsets of the node and below; of these, those with a given free item
        Index free;
        int32_t item;
    };
    Number power_of_two(int64_t exponent) const {
        if constexpr (std::is_same_v<Number, Uint128>) {
            return Uint128(1) << exponent;
        } else {
            Number power = zero_;
            power.set_bit(exponent);
            return power;
        }
    }

    Sizes sizes_;
    int64_t given_, walked_ = 0;
    Number zero_;
    Avoids avoiding_;
    Control& control_;
    List<Level> levels_;
    std::unordered_map<int64_t, Number> ways_;
    const List<int32_t>* free_ = nullptr;
};

struct Question {
    int64_t min_support;
    Sizes sizes;
    int64_t given;  // items that every itemset holds
    int threads;
};

// Limbs of the total, then of every code of the vocabulary. start() gives a worker what it avoids.
template <class Number, class Start>
List<uint64_t> count(const Rows& rows, const Question& q, Index vocabulary, View<int32_t> given, const Number& zero,
                     Index limbs, Start start, Control& control) {
    using Mode = Counting<Number, decltype(start())>;
    struct Worker {
        Mode counting;
        Walk<Mode> walk;
        Worker(const Rows& r, const Question& question, const Number& z, Start s, Control& c)
            : counting(r.items(), question.sizes, question.given, z, s(), c),
              walk(r, question.min_support, c, counting) {}
    };
    const int64_t steps = q.sizes.small_enough(q.given + 1) ? Walk<Mode>::steps(rows) : 1;
    List<std::unique_ptr<Worker>> workers(Control::useful(q.threads, steps));
    control.begin(1, steps);
    control.parallel(int(workers.size()), steps, [&](int64_t step, int number) {
        auto& worker = workers[number];
        if (!worker) worker = std::make_unique<Worker>(rows, q, zero, start, control);
        worker->walk.step(step);
    });
    List<uint64_t> answer;
    control.single([&] {
        Number total = zero;
        Vector<Number> per_item(rows.items(), zero, control);
        for (auto& worker : workers) {
            if (!worker) continue;
            control.poll();
            total += worker->counting.total;
            for (Index i = 0; i < rows.items(); ++i) per_item[i] += worker->counting.per_item[i];
            worker.reset();
        }
        control.charge(int64_t((vocabulary + 1) * limbs * 8));
        answer.resize((vocabulary + 1) * limbs);
        auto write = [&](Index place, const Number& number) {
            for (Index i = 0; i < limbs; ++i) answer[place * limbs + i] = limb_of(number, i);
        };
        write(0, total);
        for (Index i = 0; i < rows.items(); ++i) write(rows.code(int32_t(i)) + 1, per_item[i]);
        for (int32_t code : given) write(code + 1, total);
    });
    return answer;
}

template <class Start>
List<uint64_t> count(const Rows& rows, const Question& q, Index vocabulary, View<int32_t> given, Start start,
                     Control& control) {
    // No more itemsets than rows times the subsets of the longest; the binomials on the way are a little larger.
    const Index bits = rows.longest() + 32 + 16;
    if (bits <= 128) return count<Uint128>(rows, q, vocabulary, given, 0, 2, start, control);
    const Index limbs = words_for(bits);
    return count<Wide>(rows, q, vocabulary, given, Wide(limbs, control), limbs, start, control);
}

Output<uint64_t> count_frequent(Control& control, View<int64_t> offsets, View<int32_t> items, View<uint8_t> allowed,
                                View<int32_t> given, View<int64_t> avoid_offsets, View<int32_t> avoid_items,
                                int64_t min_support, int64_t min_size, int64_t max_size, int threads) {
    const Csr data(offsets, items, int32_t(allowed.size()));
    const Index vocabulary = allowed.size();
    std::unique_ptr<Rows> rows;
    std::unique_ptr<AvoidedRanks> avoided;
    bool none_counts = false;
    Question question{std::max<int64_t>(1, min_support), {min_size, max_size}, given.size(), threads};
    control.single([&] {
        const Avoided itemsets(avoid_offsets, avoid_items, given, control);
        none_counts = itemsets.everything();
        List<uint8_t> may(allowed.begin(), allowed.end());
        itemsets.narrow(may);
        rows = std::make_unique<Rows>(data, may, given, question.min_support, Rows::Order::rarest_first, control);
        if (itemsets.size() > 0) avoided = std::make_unique<AvoidedRanks>(itemsets, *rows, vocabulary, control);
    });
    if (none_counts) return to_numpy(List<uint64_t>(2 * (vocabulary + 1), 0));
    if (!avoided) return to_numpy(count(*rows, question, vocabulary, given, [] { return AvoidingNothing{}; }, control));
    return to_numpy(
        count(*rows, question, vocabulary, given, [&] { return Avoiding(*avoided, rows->items()); }, control));
}

}  // namespace

void register_mining_count(nb::module_& m) {
    def_kernel(m, "count_frequent", count_frequent, "offsets"_a, "items"_a, "allowed"_a, "containing"_a,
               "avoid_offsets"_a, "avoid_items"_a, nb::kw_only(), "min_support"_a, "min_size"_a, "max_size"_a,
               "threads"_a);
}

}  // namespace veilset
