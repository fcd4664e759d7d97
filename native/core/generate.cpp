// Synthetic transactions: Quest's patterns, and the long tails of a point of sale.
//
// Every random decision is keyed by (seed, purpose, index, draw number), so a row does not depend on the rows before
// it, and the same seed gives the same rows for any number of threads.
#include <cmath>
#include <limits>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 4096;

enum class Purpose : uint64_t { row = 1, pattern, shuffle };

// The draws of one row, pattern or table: splitmix64 counting from a key of its own.
class Stream {
public:
    Stream(uint64_t seed, Purpose purpose, int64_t index)
        : state_(mix(mix(mix(seed + random_step) ^ uint64_t(purpose) * random_step) + uint64_t(index))) {}

    double uniform() { return double(mix(state_ += random_step) >> 11) * 0x1p-53; }  // in [0, 1)
    int32_t below(int32_t count) { return int32_t(uniform() * count); }
    double exponential() { return -std::log1p(-uniform()); }
    double normal() {  // Box and Muller's first value
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(2 * 3.14159265358979323846 * uniform());
    }

private:
    uint64_t state_;
};

// Draws an index with probability proportional to its weight.
class Choice {
public:
    explicit Choice(Vector<double> weights) : upto_(std::move(weights)) {
        std::partial_sum(upto_.begin(), upto_.end(), upto_.begin());
    }
    int32_t draw(Stream& stream) const {
        const auto at = std::upper_bound(upto_.begin(), upto_.end(), stream.uniform() * upto_.back());
        return int32_t(std::min<ptrdiff_t>(at - upto_.begin(), upto_.size() - 1));
    }

private:
    Vector<double> upto_;
};

// The items a row already holds, forgotten at once when the next row begins.
class Taken {
public:
    Taken(int32_t items, Control& control) : by_(items, -1, control) {}
    void begin(int64_t owner) { owner_ = owner; }
    bool holds(int32_t item) const { return by_[item] == owner_; }
    bool add(int32_t item) {
        const bool is_new = !holds(item);
        by_[item] = owner_;
        return is_new;
    }

private:
    Vector<int64_t> by_;
    int64_t owner_ = -1;
};

// Rows made block by block and put together in order. make_row(row, taken, codes) appends the row's items.
template <class MakeRow>
nb::tuple make_rows(Control& control, int threads, int64_t rows, int32_t items, MakeRow make_row) {
    struct Block {
        Vector<int32_t> codes;
        Vector<int64_t> ends;
    };
    const Index count = Control::blocks(rows, rows_per_block);
    List<Block> blocks(count, Block{Vector<int32_t>(control), Vector<int64_t>(control)});
    List<Taken> taken(Control::useful(threads, count), Taken(items, control));
    control.in_blocks(1, threads, rows, rows_per_block, [&](Index row, int worker) {
        Block& block = blocks[row / rows_per_block];
        taken[worker].begin(row);
        make_row(row, taken[worker], block.codes);
        block.ends.push_back(block.codes.size());
    });
    int64_t size = 0;
    for (const Block& block : blocks) size += block.codes.size();
    control.charge(size * int64_t(sizeof(int32_t)) + (rows + 1) * int64_t(sizeof(int64_t)));
    List<int64_t> offsets{0};
    List<int32_t> codes;
    offsets.reserve(rows + 1);
    codes.reserve(size);
    for (const Block& block : blocks) {
        for (int64_t end : block.ends) offsets.push_back(codes.size() + end);
        codes.insert(codes.end(), block.codes.begin(), block.codes.end());
    }
    return to_tuple(offsets, codes);
}

// ---- Quest: Agrawal & Srikant, "Fast algorithms for mining association rules", VLDB 1994, section 4.1.2 ----
//
// Where we differ: a size is 1 + Poisson(mean - 1), so that none is empty; and a pattern that does not fit and is not
// put in anyway ends the row instead of moving on to the next one, so that rows do not depend on each other.

constexpr double correlation = 0.5;  // mean share of a pattern's items taken from the pattern before it
constexpr double corruption_mean = 0.5;
constexpr double corruption_variance = 0.1;

// Sizes 1 + Poisson(mean - 1), at most `most`; index i stands for size i + 1.
Choice sizes_around(double mean, int32_t most, Control& control) {
    const double rest = mean - 1;
    // 12 standard deviations hold all but 1e-30 of the mass; 30 more do so for small means.
    const int32_t last = int32_t(std::min(double(most - 1), std::ceil(rest + 12 * std::sqrt(rest) + 30)));
    Vector<double> weights(control);
    // In logarithms, because exp(-mean) alone would underflow for long rows.
    for (int32_t i = 0; i <= last; ++i)
        weights.push_back(rest == 0 ? double(i == 0) : std::exp(i * std::log(rest) - rest - std::lgamma(i + 1.0)));
    return Choice(std::move(weights));
}

struct Patterns {
    Vector<int64_t> begin;
    Vector<int32_t> items;
    Vector<double> weight, corruption;

    explicit Patterns(Control& control) : begin(1, 0, control), items(control), weight(control), corruption(control) {}

    void make(int32_t count, double mean_size, int32_t vocabulary, uint64_t seed, Control& control) {
        const Choice sizes = sizes_around(mean_size, vocabulary, control);
        Taken taken(vocabulary, control);
        Vector<int32_t> before(control), rest(control);
        for (int32_t number = 0; number < count; ++number) {
            control.poll();
            Stream stream(seed, Purpose::pattern, number);
            taken.begin(number);
            const Index size = sizes.draw(stream) + 1;
            const double share = std::min(1.0, correlation * stream.exponential());
            Index shared = std::min(before.size(), Index(share * double(size) + 0.5));
            rest.clear();
            for (; shared > 0; --shared) {
                std::swap(before[stream.below(int32_t(before.size()))], before.back());
                taken.add(before.back());
                rest.push_back(before.back());
                before.pop_back();
            }
            while (rest.size() < size)
                if (int32_t item = stream.below(vocabulary); taken.add(item)) rest.push_back(item);
            items.insert(items.end(), rest.begin(), rest.end());
            begin.push_back(items.size());
            before.swap(rest);
            weight.push_back(stream.exponential());
            corruption.push_back(
                std::clamp(corruption_mean + std::sqrt(corruption_variance) * stream.normal(), 0.0, 1.0));
        }
    }
};

nb::tuple generate_quest(Control& control, int64_t transactions, double average_length, double pattern_length,
                         int32_t items, int32_t patterns, uint64_t seed, int threads) {
    Patterns table(control);
    control.single([&] { table.make(patterns, pattern_length, items, seed, control); });
    const Choice pick(table.weight);
    const Choice sizes = sizes_around(average_length, items, control);

    auto make_row = [&](int64_t row, Taken& taken, Vector<int32_t>& codes) {
        Stream stream(seed, Purpose::row, row);
        const Index first = codes.size();
        const Index size = sizes.draw(stream) + 1;
        // Few patterns, or badly corrupted ones, may never fill the row: it then stays shorter.
        Vector<int32_t> pattern(control);
        for (Index tries = 8 * size + 64; tries > 0 && codes.size() - first < size; --tries) {
            const Index number = pick.draw(stream);
            pattern.assign(table.items.begin() + table.begin[number], table.items.begin() + table.begin[number + 1]);
            while (!pattern.empty() && stream.uniform() < table.corruption[number]) {
                std::swap(pattern[stream.below(int32_t(pattern.size()))], pattern.back());
                pattern.pop_back();
            }
            std::erase_if(pattern, [&](int32_t item) { return taken.holds(item); });
            const bool fits = codes.size() - first + pattern.size() <= size;
            if (!fits && stream.uniform() < 0.5) {
                if (codes.size() > first) break;
                continue;
            }
            for (int32_t item : pattern) taken.add(item);
            codes.insert(codes.end(), pattern.begin(), pattern.end());
        }
        if (codes.size() == first) codes.push_back(stream.below(items));
    };
    return make_rows(control, threads, transactions, items, make_row);
}

// ---- Point of sale: Zipf's law for the items, a log-normal for the lengths ----

// Lengths 1..longest, P(x) ∝ exp(-(ln x - m)² / 2) / x with the m whose mean is the average. The deviation of 1 is that
// of BMS-POS: with an average of 6.5 it puts the longest of half a million rows at about 164. Index i is length i + 1.
Choice long_tailed_lengths(double average, int32_t longest, Control& control) {
    Vector<double> logs(longest, 0.0, control), weights(longest, 0.0, control);
    for (Index i = 0; i < logs.size(); ++i) logs[i] = std::log(double(i + 1));
    auto mean_at = [&](double m) {
        control.poll();
        double most = -std::numeric_limits<double>::infinity();
        for (Index i = 0; i < logs.size(); ++i)
            most = std::max(most, weights[i] = -logs[i] - (logs[i] - m) * (logs[i] - m) / 2);
        double mass = 0, sum = 0;
        for (Index i = 0; i < logs.size(); ++i) {
            weights[i] = std::exp(weights[i] - most);
            mass += weights[i];
            sum += weights[i] * double(i + 1);
        }
        return sum / mass;
    };
    // The ratio of neighbours P(x + 1) / P(x) is about exp(m ln((x + 1) / x)): at ±40 longest all mass is at one end.
    double low = -40.0 * longest, high = 40.0 * longest;
    for (int step = 0; step < 70; ++step) (mean_at((low + high) / 2) < average ? low : high) = (low + high) / 2;
    mean_at((low + high) / 2);
    return Choice(std::move(weights));
}

nb::tuple generate_pos(Control& control, int64_t transactions, int32_t items, double average_length,
                       int32_t maximum_length, uint64_t seed, int threads) {
    Choice lengths((Vector<double>(control)));
    control.single([&] { lengths = long_tailed_lengths(average_length, maximum_length, control); });
    Vector<double> popularity(control);
    for (int32_t rank = 1; rank <= items; ++rank) popularity.push_back(1.0 / rank);
    // Popularity must not follow the order of the names, or every taxonomy over them would group like with like.
    Stream shuffle(seed, Purpose::shuffle, 0);
    for (int32_t left = items; left > 1; --left) std::swap(popularity[left - 1], popularity[shuffle.below(left)]);
    const Choice pick(popularity);

    auto make_row = [&](int64_t row, Taken& taken, Vector<int32_t>& codes) {
        Stream stream(seed, Purpose::row, row);
        Index missing = lengths.draw(stream) + 1;
        for (Index tries = 8 * missing + 64; tries > 0 && missing > 0; --tries)
            if (int32_t item = pick.draw(stream); taken.add(item)) {
                codes.push_back(item);
                --missing;
            }
        if (missing == 0) return;
        // A long row has drawn the popular items again and again. A race of exponential clocks, each as fast as its
        // item is popular, finds the rest with the same distribution.
        Vector<std::pair<double, int32_t>> race(control);
        for (int32_t item = 0; item < items; ++item)
            if (!taken.holds(item)) race.emplace_back(stream.exponential() / popularity[item], item);
        std::nth_element(race.begin(), race.begin() + missing - 1, race.end());
        for (Index i = 0; i < missing; ++i) codes.push_back(race[i].second);
    };
    return make_rows(control, threads, transactions, items, make_row);
}

}  // namespace

void register_core_generate(nb::module_& m) {
    def_kernel(m, "generate_quest", generate_quest, nb::kw_only(), "transactions"_a, "average_length"_a,
               "pattern_length"_a, "items"_a, "patterns"_a, "seed"_a, "threads"_a);
    def_kernel(m, "generate_pos", generate_pos, nb::kw_only(), "transactions"_a, "items"_a, "average_length"_a,
               "maximum_length"_a, "seed"_a, "threads"_a);
}

}  // namespace veilset
