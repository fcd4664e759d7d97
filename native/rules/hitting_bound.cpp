// How much weight can be kept, at most, if of every given pair or triple of items one has to go. That question is
// NP-hard; this answers it from above, in integers.
//
// Packing: if at most one of a clique of pairs can stay, all but its heaviest item go; a share of the items' weights is
// spent on that, and what is left of it on further cliques and on triples (duality: no weight is spent twice).
//
// Elimination: items are put in an order, and one case looked at for each: it is the first in that order that is kept.
// Then its triples are pairs, the cliques are large, and packing says much. The most that any case allows is the
// answer. The case that allows least comes first: later ones have fewer items to keep. As far as that is affordable, a
// case is looked at closer: the same again for the second item that is kept.
#include <array>
#include <bit>
#include <optional>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "mining/words.hpp"

namespace veilset {
namespace {

constexpr Index most_triples_packed = 200'000;     // more make items so dense that cliques say it all
constexpr Index outer_rounds = 100;                // in which all cases are looked at anew
constexpr Index inner_rounds = 10;                 // the same inside a case
constexpr int64_t closer_work = int64_t(1) << 31;  // a few seconds of closer looks, the same ones on every machine

using Words = Vector<uint64_t>;

class Graph {
public:
    Graph(Index items, Control& control) : words_(words_for(items)), bits_(items * words_, 0, control) {}
    void join(int32_t a, int32_t b) {
        set_bit(row(a), b);
        set_bit(row(b), a);
    }
    bool joined(int32_t a, int32_t b) const { return has_bit(row(a), b); }
    uint64_t* row(int32_t a) { return bits_.data() + a * words_; }
    const uint64_t* row(int32_t a) const { return bits_.data() + a * words_; }
    Index words() const { return words_; }

private:
    Index words_;
    Words bits_;
};

using Triple = std::array<int32_t, 3>;

struct Sets {
    Vector<int64_t> weights;  // descending
    Graph pairs;
    Vector<Triple> triples;                                // without a pair in them
    Vector<Vector<std::pair<int32_t, int32_t>>> together;  // of each item, the rest of its triples

    Sets(Vector<int64_t> weights_, Control& control)
        : weights(std::move(weights_)), pairs(weights.size(), control), triples(control),
          together(weights.size(), Vector<std::pair<int32_t, int32_t>>(control), control) {}

    // After all pairs.
    void add(int32_t a, int32_t b, int32_t c) {
        if (pairs.joined(a, b) || pairs.joined(a, c) || pairs.joined(b, c)) return;
        triples.push_back({a, b, c});
        together[a].emplace_back(b, c);
        together[b].emplace_back(a, c);
        together[c].emplace_back(a, b);
    }

    // What is left of the question for these items if `first` is kept: its triples are pairs.
    Sets with(int32_t first, const Words& items, Control& control) const {
        Vector<int32_t> place(weights.size(), -1, control), back(control);
        Vector<int64_t> left(control);
        for_each_bit(items, [&](int32_t item) {
            if (item == first || pairs.joined(first, item)) return;
            place[item] = int32_t(back.size());
            back.push_back(item);
            left.push_back(weights[item]);
        });
        Sets rest(std::move(left), control);
        const auto here = [&](int32_t item) { return place[item]; };
        for (Index i = 0; i < back.size(); ++i)
            for (Index j = 0; j < i; ++j)
                if (pairs.joined(back[i], back[j])) rest.pairs.join(int32_t(i), int32_t(j));
        for (const auto& [b, c] : together[first])
            if (here(b) >= 0 && here(c) >= 0) rest.pairs.join(here(b), here(c));
        for (const auto& [a, b, c] : triples)
            if (here(a) >= 0 && here(b) >= 0 && here(c) >= 0) rest.add(here(a), here(b), here(c));
        return rest;
    }
};

class Packing {
public:
    Packing(const Sets& sets, Control& control)
        : sets_(sets), control_(control), graph_(sets.pairs), left_(sets.weights.size(), 0, control),
          open_(sets.pairs.words(), 0, control), may_join_(sets.pairs.words(), 0, control), clique_(control) {}

    // The most that can be kept of these items, if `first` is kept, too; or without that, if it is negative.
    int64_t at_most(const Words& items, int32_t first) {
        open_ = items;
        int64_t kept = 0;
        if (first >= 0) {
            kept = sets_.weights[first];
            for (Index w = 0; w < open_.size(); ++w) open_[w] &= ~sets_.pairs.row(first)[w];
            clear_bit(open_, first);
            for (const auto& [b, c] : sets_.together[first]) graph_.join(b, c);
        }
        std::fill(left_.begin(), left_.end(), 0);
        for_each_bit(open_, [&](int32_t item) { kept += left_[item] = sets_.weights[item]; });
        for (int32_t item = 0; item < int32_t(left_.size()); ++item)
            while (left_[item] > 0) {
                const int64_t spent = spend_on_clique(item);
                if (spent == 0) break;
                kept -= spent;
            }
        if (sets_.triples.size() <= most_triples_packed)
            for (const auto& [a, b, c] : sets_.triples) {
                const int64_t spent = std::min({left_[a], left_[b], left_[c]});
                for (int32_t item : {a, b, c}) left_[item] -= spent;
                kept -= spent;
            }
        if (first >= 0)
            for (const auto& [b, c] : sets_.together[first])
                for (int32_t item : {b, c}) std::copy_n(sets_.pairs.row(item), open_.size(), graph_.row(item));
        return kept;
    }

private:
    // A clique with this item, as heavy as it comes; gives what it costs.
    int64_t spend_on_clique(int32_t item) {
        control_.poll();
        clique_.assign(1, item);
        for (Index w = 0; w < open_.size(); ++w) may_join_[w] = open_[w] & graph_.row(item)[w];
        for (Index w = 0; w < may_join_.size(); ++w)
            while (may_join_[w]) {
                const int32_t next = int32_t(64 * w) + std::countr_zero(may_join_[w]);
                clique_.push_back(next);
                for (Index v = w; v < may_join_.size(); ++v) may_join_[v] &= graph_.row(next)[v];
            }
        if (clique_.size() == 1) return 0;
        // Only the heaviest can stay; what it has more than the second is not spent.
        int64_t sum = 0, second = 0;
        int32_t heaviest = item;
        for (int32_t member : clique_) {
            sum += left_[member];
            if (left_[member] > left_[heaviest]) heaviest = member;
        }
        for (int32_t member : clique_)
            if (member != heaviest) second = std::max(second, std::exchange(left_[member], 0));
        const int64_t spent = sum - left_[heaviest];
        left_[heaviest] -= second;
        for (int32_t member : clique_)
            if (left_[member] == 0) clear_bit(open_, member);
        return spent;
    }

    const Sets& sets_;
    Control& control_;
    Graph graph_;  // the pairs, and what the item that is kept makes of its triples
    Vector<int64_t> left_;
    Words open_, may_join_;
    Vector<int32_t> clique_;
};

struct OneByOne {
    template <class Body>
    void operator()(int64_t count, Body body) const {
        for (int64_t index = 0; index < count; ++index) body(index, 0);
    }
};

// Looks at the cases one by one, in the order that says most. `for_all(count, body)` calls body(index, worker) for all
// of them.
class Elimination {
public:
    Elimination(const Sets& sets, int workers, int64_t work, Control& control)
        : sets_(sets), control_(control), work_(work), left_(sets.pairs.words(), 0, control), cases_(control),
          allows_(sets.weights.size(), INT64_MAX, control) {
        for (int worker = 0; worker < workers; ++worker) packings_.emplace_back(sets, control);
        for (Index item = 0; item < sets.weights.size(); ++item) {
            cases_.push_back(int32_t(item));
            set_bit(left_, item);
            sum_ += sets.weights[item];
        }
    }

    template <class ForAll>
    int64_t run(Index rounds, ForAll for_all) {
        const Index at_once = 1 + sets_.weights.size() / rounds;
        whole_ = sum_;
        while (whole_ > most_) {
            control_.poll();
            for_all(cases_.size() + 1, [&](int64_t at, int worker) {
                Packing& packing = packings_[worker];
                if (at == cases_.size()) whole_ = std::min(whole_, packing.at_most(left_, -1));
                else learn(cases_[at], packing.at_most(left_, cases_[at]));
            });
            sort_cases();
            look_closer(std::min(at_once, cases_.size()), for_all);
            if (!eliminate(at_once)) break;
        }
        return std::max(whole_, most_);
    }

private:
    void learn(int32_t item, int64_t at_most) { allows_[item] = std::min(allows_[item], at_most); }

    void sort_cases() {  // the one that allows least is the last
        std::stable_sort(cases_.begin(), cases_.end(), [&](int32_t a, int32_t b) { return allows_[a] > allows_[b]; });
    }

    // For the cases that come next, the same question once more: which item is the second that is kept?
    template <class ForAll>
    void look_closer(Index count, ForAll for_all) {
        const int64_t size = cases_.size();
        const int64_t cost = size * size * left_.size() + 64 * sets_.triples.size();  // roughly
        Vector<int32_t> next(control_);
        for (auto at = cases_.rbegin(); at != cases_.rbegin() + count && work_ > 0; ++at)
            if (allows_[*at] > most_) {
                next.push_back(*at);
                work_ -= cost;
            }
        for_all(next.size(), [&](int64_t at, int) {
            const int32_t item = next[at];
            const Sets rest = sets_.with(item, left_, control_);
            learn(item, sets_.weights[item] + Elimination(rest, 1, 0, control_).run(inner_rounds, OneByOne()));
        });
        sort_cases();
    }

    // The cases that allow least are done, with all that allow no more than those before; false if none is.
    bool eliminate(Index at_once) {
        Index done = 0;
        for (; !cases_.empty() && (done < at_once || allows_[cases_.back()] <= most_); ++done) {
            const int32_t item = cases_.back();
            if (whole_ <= std::max(most_, allows_[item])) break;  // it would not lower the answer
            cases_.pop_back();
            most_ = std::max(most_, allows_[item]);
            clear_bit(left_, item);
            whole_ = std::min(whole_, sum_ -= sets_.weights[item]);
        }
        return done > 0;
    }

    const Sets& sets_;
    Control& control_;
    int64_t work_;  // how much closer looks may cost
    List<Packing> packings_;
    Words left_;             // items that are not eliminated
    Vector<int32_t> cases_;  // the same
    Vector<int64_t> allows_;
    int64_t sum_ = 0, whole_ = 0, most_ = 0;  // of what is left, at most of it together, and of the cases that are done
};

int64_t kept_at_most(Control& control, View<int64_t> weight, View<int32_t> two, View<int32_t> three, int threads) {
    if (!std::is_sorted(weight.rbegin(), weight.rend())) throw std::invalid_argument("weights do not descend");
    for (const auto of : {two, three})
        for (int32_t item : of)
            if (item < 0 || item >= weight.size()) throw std::invalid_argument("item outside the weights");
    const int workers = Control::useful(threads, weight.size());
    std::optional<Sets> sets;
    std::optional<Elimination> elimination;
    control.single([&] {
        Sets& all = sets.emplace(Vector<int64_t>(weight.begin(), weight.end(), control), control);
        for (Index i = 0; i + 1 < two.size(); i += 2) all.pairs.join(two[i], two[i + 1]);
        for (Index i = 0; i + 2 < three.size(); i += 3) all.add(three[i], three[i + 1], three[i + 2]);
        // Heavy ones first: what they take is worth more.
        std::ranges::stable_sort(all.triples, {}, [](const Triple& triple) { return std::ranges::max(triple); });
        elimination.emplace(all, workers, closer_work, control);
    });
    return elimination->run(outer_rounds, [&](int64_t count, auto body) {
        control.begin(1, count);
        control.parallel(workers, count, body);
    });
}

}  // namespace

void register_rules_hitting_bound(nb::module_& m) {
    def_kernel(m, "kept_at_most", kept_at_most, "weights"_a, "pairs"_a, "triples"_a, nb::kw_only(), "threads"_a);
}

}  // namespace veilset
