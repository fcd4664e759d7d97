// How much weight can be kept, at most, if of every given pair or triple of items one has to go. That question is NP-hard;
// this answers it from above, in integers.
//
// Packing: if at most one of a clique of pairs can stay, all but its heaviest item go; a share of the items' weights is
// spent on that, and what is left of it on further cliques and on triples (duality: no weight is spent twice).
//
// Elimination: items are put in an order, and one case looked at for each: it is the first in that order that is kept.
// Then its triples are pairs, the cliques are large, and packing says much. The most that any case allows is the answer.
// The case that allows least comes first: later ones have fewer items to keep.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "control.hpp"

namespace veilset {
namespace {

constexpr size_t most_triples_packed = 200'000;  // more make items so dense that cliques say it all
constexpr size_t rounds = 24;                    // in which all cases are looked at anew

using Words = Vector<uint64_t>;

class Graph {
public:
    Graph(size_t items, Control& control) : words_((items + 63) / 64), bits_(items * words_, 0, control) {}
    void join(int32_t a, int32_t b) {
        row(a)[size_t(b) / 64] |= uint64_t(1) << (b % 64);
        row(b)[size_t(a) / 64] |= uint64_t(1) << (a % 64);
    }
    bool joined(int32_t a, int32_t b) const { return row(a)[size_t(b) / 64] >> (b % 64) & 1; }
    std::span<uint64_t> row(int32_t a) { return std::span(bits_).subspan(size_t(a) * words_, words_); }
    std::span<const uint64_t> row(int32_t a) const { return std::span(bits_).subspan(size_t(a) * words_, words_); }
    size_t words() const { return words_; }

private:
    size_t words_;
    Words bits_;
};

struct Sets {
    std::span<const int64_t> weights;  // descending
    Graph pairs;
    Vector<std::array<int32_t, 3>> triples;                // without a pair in them
    Vector<Vector<std::pair<int32_t, int32_t>>> together;  // of each item, the rest of its triples

    Sets(std::span<const int64_t> weights_, std::span<const int32_t> two, std::span<const int32_t> three, Control& control)
        : weights(weights_), pairs(weights_.size(), control), triples(control),
          together(weights_.size(), Vector<std::pair<int32_t, int32_t>>(control), control) {
        for (size_t i = 0; i + 1 < two.size(); i += 2) pairs.join(two[i], two[i + 1]);
        for (size_t i = 0; i + 2 < three.size(); i += 3) {
            const int32_t a = three[i], b = three[i + 1], c = three[i + 2];
            if (pairs.joined(a, b) || pairs.joined(a, c) || pairs.joined(b, c)) continue;
            triples.push_back({a, b, c});
            together[size_t(a)].emplace_back(b, c);
            together[size_t(b)].emplace_back(a, c);
            together[size_t(c)].emplace_back(a, b);
        }
        // Heavy ones first: what they take is worth more.
        std::stable_sort(triples.begin(), triples.end(),
                         [](const auto& x, const auto& y) { return std::max({x[0], x[1], x[2]}) < std::max({y[0], y[1], y[2]}); });
    }
};

class Packing {
public:
    Packing(const Sets& sets, Control& control)
        : sets_(sets), control_(control), graph_(sets.pairs), left_(sets.weights.size(), 0, control), open_(sets.pairs.words(), 0, control),
          may_join_(sets.pairs.words(), 0, control), clique_(control) {}

    // The most that can be kept of these items, if `first` is kept, too; or without that, if it is negative.
    int64_t at_most(const Words& items, int32_t first) {
        open_ = items;
        int64_t kept = 0;
        if (first >= 0) {
            kept = sets_.weights[size_t(first)];
            for (size_t w = 0; w < open_.size(); ++w) open_[w] &= ~sets_.pairs.row(first)[w];
            open_[size_t(first) / 64] &= ~(uint64_t(1) << (first % 64));
            for (const auto& [b, c] : sets_.together[size_t(first)]) graph_.join(b, c);
        }
        std::fill(left_.begin(), left_.end(), 0);
        for_each(open_, [&](int32_t item) { kept += left_[size_t(item)] = sets_.weights[size_t(item)]; });
        for (int32_t item = int32_t(left_.size()) - 1; item >= 0; --item)  // the lightest first
            while (left_[size_t(item)] > 0) {
                const int64_t spent = spend_on_clique(item);
                if (spent == 0) break;
                kept -= spent;
            }
        if (sets_.triples.size() <= most_triples_packed)
            for (const auto& [a, b, c] : sets_.triples) {
                const int64_t spent = std::min({left_[size_t(a)], left_[size_t(b)], left_[size_t(c)]});
                for (int32_t item : {a, b, c}) left_[size_t(item)] -= spent;
                kept -= spent;
            }
        if (first >= 0)
            for (const auto& [b, c] : sets_.together[size_t(first)])
                for (int32_t item : {b, c}) std::copy_n(sets_.pairs.row(item).begin(), open_.size(), graph_.row(item).begin());
        return kept;
    }

    template <class Body>
    static void for_each(const Words& items, Body body) {
        for (size_t w = 0; w < items.size(); ++w)
            for (uint64_t rest = items[w]; rest; rest &= rest - 1) body(int32_t(64 * w) + __builtin_ctzll(rest));
    }

private:
    // A clique with this item, as heavy as it comes; gives what its items lose together.
    int64_t spend_on_clique(int32_t item) {
        control_.poll();
        clique_.assign(1, item);
        for (size_t w = 0; w < open_.size(); ++w) may_join_[w] = open_[w] & graph_.row(item)[w];
        int64_t least = left_[size_t(item)];
        for (size_t w = 0; w < may_join_.size(); ++w)
            while (may_join_[w]) {
                const int32_t next = int32_t(64 * w) + __builtin_ctzll(may_join_[w]);
                clique_.push_back(next);
                least = std::min(least, left_[size_t(next)]);
                for (size_t v = w; v < may_join_.size(); ++v) may_join_[v] &= graph_.row(next)[v];
            }
        if (clique_.size() == 1) return 0;
        for (int32_t member : clique_)
            if ((left_[size_t(member)] -= least) == 0) open_[size_t(member) / 64] &= ~(uint64_t(1) << (member % 64));
        return least * int64_t(clique_.size() - 1);
    }

    const Sets& sets_;
    Control& control_;
    Graph graph_;  // the pairs, and what the item that is kept makes of its triples
    Vector<int64_t> left_;
    Words open_, may_join_;
    Vector<int32_t> clique_;
};

int64_t kept_at_most(const Array<int64_t>& weights, const Array<int32_t>& pairs, const Array<int32_t>& triples, int threads, int64_t memory_limit,
                     double time_limit, nb::object progress) {
    const auto weight = span_of(weights);
    if (!std::is_sorted(weight.rbegin(), weight.rend())) throw std::invalid_argument("weights do not descend");
    for (const auto of : {span_of(pairs), span_of(triples)})
        for (int32_t item : of)
            if (item < 0 || size_t(item) >= weight.size()) throw std::invalid_argument("item outside the weights");
    Control control(memory_limit, time_limit, std::move(progress));
    std::vector<Sets> sets;
    std::vector<Packing> packings;
    const int workers = Control::useful(threads, int64_t(weight.size()));
    control.single([&] {
        sets.emplace_back(weight, span_of(pairs), span_of(triples), control);
        for (int worker = 0; worker < workers; ++worker) packings.emplace_back(sets[0], control);
    });
    Words left(sets[0].pairs.words(), 0, control);
    Vector<int32_t> cases(control);
    Vector<int64_t> allows(weight.size(), INT64_MAX, control);
    int64_t sum = 0;
    for (size_t item = 0; item < weight.size(); ++item) {
        cases.push_back(int32_t(item));
        left[item / 64] |= uint64_t(1) << (item % 64);
        sum += weight[item];
    }
    int64_t whole = sum, most = 0;  // of what is left together, and of the cases that are done
    while (whole > most) {
        control.begin(1, int64_t(weight.size()), int64_t(weight.size() - cases.size()));
        control.parallel(workers, int64_t(cases.size()) + 1, [&](int64_t at, int worker) {
            if (at == int64_t(cases.size())) {
                whole = std::min(whole, packings[size_t(worker)].at_most(left, -1));
                return;
            }
            int64_t& known = allows[size_t(cases[size_t(at)])];
            known = std::min(known, packings[size_t(worker)].at_most(left, cases[size_t(at)]));
        });
        // The cases that allow least are done, with all that allow no more than those before.
        std::stable_sort(cases.begin(), cases.end(), [&](int32_t a, int32_t b) { return allows[size_t(a)] > allows[size_t(b)]; });
        size_t done = 0;
        for (; !cases.empty() && (done <= weight.size() / rounds || allows[size_t(cases.back())] <= most); ++done) {
            const int32_t item = cases.back();
            if (whole <= std::max(most, allows[size_t(item)])) break;  // it would not lower the answer
            cases.pop_back();
            most = std::max(most, allows[size_t(item)]);
            left[size_t(item) / 64] &= ~(uint64_t(1) << (item % 64));
            whole = std::min(whole, sum -= weight[size_t(item)]);
        }
        if (done == 0) break;
    }
    return std::max(whole, most);
}

}  // namespace

void register_hitting_bound(nb::module_& m) {
    m.def("kept_at_most", &kept_at_most, nb::arg("weights").noconvert(), nb::arg("pairs").noconvert(), nb::arg("triples").noconvert(),
          nb::kw_only(), nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
