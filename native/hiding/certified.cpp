// Certified hiding: brings every hidden pattern (and rule) below its limits, and puts back what need not have gone.
//
// Only contested occurrences matter (hiding/claims.hpp), so all others are kept, whatever the product said. What is
// left is a choice among contested ones; a claim counts towards the support of its pattern while none of its
// occurrences is missing. Several strategies make the choice, the first from what the product left; the one that costs
// the patterns to keep least wins.
#include <chrono>

#include "hiding/choice.hpp"

namespace veilset {
namespace {

using namespace hiding;

// The patterns to hide, as Python hands them over.
struct ToHide {
    Array<int64_t> offsets;
    Array<int32_t> items;
    Array<int64_t> antecedent_offsets;
    Array<int32_t> antecedent_items;
    Array<int64_t> most, share_num, share_den;  // the limits of each
};

// What there is besides the rows with hidden patterns: how many rows there are and which items they hold, and for each
// pattern the rows with its antecedent that are missing.
struct All {
    int64_t rows;
    Array<int64_t> support, elsewhere;
};

// The patterns to keep, and how many transactions each can lose.
struct ToKeep {
    Array<int64_t> offsets;
    Array<int32_t> items;
    Array<int64_t> spare;
};

List<Limit> checked_limits(const Csr& patterns, const Csr& antecedents, const ToHide& asked) {
    const View<int64_t> most = asked.most, num = asked.share_num, den = asked.share_den;
    const auto one_each = {antecedents.rows(), most.size(), num.size(), den.size()};
    if (std::ranges::any_of(one_each, [&](Index count) { return count != patterns.rows(); }))
        throw std::invalid_argument("limits and an antecedent for each pattern, please");
    List<Limit> limits;
    for (Index p = 0; p < patterns.rows(); ++p) {
        const auto items = patterns.row(p), led = antecedents.row(p);
        if (items.empty()) throw std::invalid_argument("an empty pattern");
        if (!std::ranges::is_sorted(items) || !std::ranges::includes(items, led) || led.size() == items.size())
            throw std::invalid_argument("an antecedent is a part of its pattern, in the same order");
        limits.push_back({most[p], num[p], den[p]});
        if (limits.back().most < 0 || limits.back().num < 0 || limits.back().den < 1)
            throw std::invalid_argument("a limit below 0");
    }
    return limits;
}

// `data` needs no rows without hidden patterns. `copy` tells for each row which of those that are equal to it it is.
//
// A dictionary: `kept` (one for each occurrence), `step` (of the odds, the one that was taken), `victims` (how many
// went beyond where the strategy began), `strategies` (for each that was tried, how many patterns to keep and how many
// occurrences it loses, and its seconds), `chosen` (its number). Strategy 0 starts from the product, all others from
// the data; 2 takes one item of each pattern only, which does less harm where most transactions hold most items; from 3
// on what was lost weighs more.
nb::dict hide(Control& control, View<int64_t> offsets, View<int32_t> items, const All& all, View<int64_t> copy,
              View<uint8_t> states, const ToHide& hidden, const ToKeep& spared, View<uint64_t> odds, uint64_t seed,
              int most_strategies, int threads) {
    const View<int64_t> support = all.support, elsewhere = all.elsewhere;
    const int32_t vocabulary = int32_t(support.size());
    const Csr data(offsets, items, vocabulary), patterns(hidden.offsets, hidden.items, vocabulary);
    const Csr antecedents(hidden.antecedent_offsets, hidden.antecedent_items, vocabulary);
    const Csr keep(spared.offsets, spared.items, vocabulary);
    if (states.size() != data.items.size()) throw std::invalid_argument("one state for each occurrence, please");
    if (copy.size() != data.rows()) throw std::invalid_argument("one copy for each row, please");
    if (all.rows < data.rows()) throw std::invalid_argument("fewer rows than are given");
    if (elsewhere.size() != patterns.rows())
        throw std::invalid_argument("the rows elsewhere with each antecedent, please");
    if (std::ranges::any_of(states, [](uint8_t s) { return s > 2; })) throw std::invalid_argument("no such state");
    if (spared.spare.size() != keep.rows()) throw std::invalid_argument("one number for each pattern to keep, please");
    if (odds.size() == 0 || most_strategies < 1) throw std::invalid_argument("no odds, or no strategy");
    List<Limit> limits = checked_limits(patterns, antecedents, hidden);
    const ByRarest by_pattern(patterns, support), by_antecedent(antecedents, support), by_keep(keep, support);
    Claims claims(data, by_pattern, by_antecedent, threads, control);
    std::ranges::transform(claims.always, elsewhere, claims.always.begin(), std::plus<>{});
    Keep cost(data, patterns, by_keep, spared.spare, claims, threads, control);
    Choice choice(data, copy, patterns, antecedents, claims, std::move(limits), support, all.rows, seed, control);

    // The item of each pattern that matters least to the patterns to keep.
    List<int32_t> least_wanted;
    const List<int64_t> wanted = cost.item_weights();
    const auto by_weight = [&](int32_t i) { return std::tuple(wanted[i], support[i], i); };
    for (int64_t p = 0; p < patterns.rows(); ++p)
        least_wanted.push_back(*std::ranges::min_element(patterns.row(p), {}, by_weight));

    Vector<uint8_t> best(control);
    std::pair<int64_t, int64_t> least;
    Index step = 0;
    int64_t victims = 0;
    int taken = -1;
    nb::list strategies;
    int64_t alone = 0;  // what the first strategy from the data loses
    for (bool again = true; again && int(nb::len(strategies)) < most_strategies;) {
        const int strategy = int(nb::len(strategies));
        control.begin(3, most_strategies, strategy);
        const auto began = Control::Clock::now();
        int64_t removed = 0;
        List<int64_t> lost;
        control.single([&] {
            if (strategy == 0) step = choice.begin(states, odds);
            else choice.begin();
            removed = choice.finish(cost.values(), strategy == 2 ? View(least_wanted) : View<int32_t>());
            lost = cost.losses(choice.kept());
        });
        const std::pair<int64_t, int64_t> score(cost.lost(lost), std::ranges::count(choice.kept(), uint8_t(0)));
        strategies.append(nb::make_tuple(score.first, score.second,
                                         std::chrono::duration<double>(Control::Clock::now() - began).count()));
        if (taken < 0 || score < least) {
            best.assign(choice.kept().begin(), choice.kept().end());
            least = score, victims = removed, taken = strategy;
        }
        // What was lost weighs more the next time, as long as that helps; one victim for each pattern is a strategy of
        // its own.
        if (strategy != 0 && strategy != 2) cost.weigh_lost(lost, 4);
        if (strategy == 1) alone = score.first;
        again = strategy == 0 || (least.first > 0 && (strategy < 3 || score.first <= alone));
    }
    control.charge(data.items.size());
    List<uint8_t> kept(data.items.size(), 1);
    for (Index c = 0; c < best.size(); ++c) kept[claims.place[c]] = best[c];
    nb::dict answer;
    answer["kept"] = to_numpy(std::move(kept));
    answer["step"] = step;
    answer["victims"] = victims;
    answer["strategies"] = strategies;
    answer["chosen"] = taken;
    return answer;
}

}  // namespace

void register_hiding_certified(nb::module_& m) {
    nb::class_<ToHide>(m, "ToHide")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>, Array<int32_t>, Array<int64_t>, Array<int64_t>,
                      Array<int64_t>>(),
             nb::kw_only(), "offsets"_a, "items"_a, "antecedent_offsets"_a, "antecedent_items"_a, "most"_a,
             "share_num"_a, "share_den"_a);
    nb::class_<All>(m, "All").def(nb::init<int64_t, Array<int64_t>, Array<int64_t>>(), nb::kw_only(), "rows"_a,
                                  "support"_a, "elsewhere"_a);
    nb::class_<ToKeep>(m, "ToKeep")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>>(), nb::kw_only(), "offsets"_a, "items"_a,
             "spare"_a);
    def_kernel(m, "hide", hide, "offsets"_a, "items"_a, "everything"_a, "copies"_a, "states"_a, "hidden"_a, "keep"_a,
               "odds"_a, nb::kw_only(), "seed"_a, "most_strategies"_a, "threads"_a);
}

}  // namespace veilset
