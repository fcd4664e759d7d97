// Certified hiding: brings every hidden pattern (and rule) below its limits, and puts back what need not have gone.
//
// Only contested occurrences matter (hiding/claims.hpp), so all others are kept, whatever the product said. What is
// left is a choice among contested ones; a claim counts towards the support of its pattern while none of its
// occurrences is missing. Several strategies make the choice, the first from what the product left; the one that costs
// the patterns to keep least wins.
#include <chrono>
#include <functional>
#include <tuple>

#include "core/random.hpp"
#include "hiding/claims.hpp"
#include "hiding/keep.hpp"

namespace veilset {
namespace {

using namespace hiding;

constexpr uint64_t order_salt = 0x6F72646572u;  // chance that orders equals is not chance that restores

using Wide = __int128;

// The limits of one pattern. A pattern by itself has no antecedent, and a share of 0 that no confidence is below.
struct Limit {
    int64_t most;      // transactions that may hold all of it
    int64_t num, den;  // or: the share of those with the antecedent that has to hold less than this of it
    bool met(int64_t together, int64_t antecedent) const {
        return together <= most || Wide(together) * den < Wide(num) * antecedent;
    }
};

class Choice {
public:
    Choice(const Claims& claims, const Csr& antecedents, List<Limit> limits, uint64_t seed, Control& control)
        : claims_(claims), antecedents_(antecedents), limits_(std::move(limits)), seed_(seed), control_(control),
          kept_(claims.occurrences(), 1, control), missing_(claims.size(), 0, control),
          order_(claims.occurrences(), 0, control), value_(control), together_(limits_.size(), 0),
          antecedent_(limits_.size(), 0),
          confident_(std::ranges::any_of(limits_, [](const Limit& l) { return l.num > 0; })) {
        for (Index c = 0; c < order_.size(); ++c)
            order_[c] = Chances(seed ^ order_salt, claims.row[c]).of(claims.item(c));
    }

    View<uint8_t> kept() const { return kept_; }

    // Begins with everything there.
    void begin() {
        std::ranges::fill(kept_, uint8_t(1));
        count();
    }

    // Begins with what the product left, with the first of these odds, which fall, at which all is hidden that the last
    // ones hide; which these are.
    Index begin(View<uint8_t> state, View<uint64_t> odds) {
        restore(state, odds.back());
        List<Index> possible;
        for (Index p = 0; p < limits_.size(); ++p)
            if (hidden(p)) possible.push_back(p);
        for (Index step = 0;; ++step) {
            restore(state, odds[step]);
            if (step + 1 == odds.size() || std::ranges::all_of(possible, [&](Index p) { return hidden(p); }))
                return step;
        }
    }

    // Takes victims out of the claims on patterns that are still found, then puts back what breaks nothing; how many
    // victims. `only` names the one item of each pattern that may be a victim; empty: any may.
    int64_t finish(Vector<int64_t> value, View<int32_t> only = {}) {
        value_ = std::move(value);
        only_ = only;
        int64_t removed = 0;
        // What goes from an antecedent can make another rule sure again. Each pass leaves fewer claims, so that it
        // ends.
        for (bool again = true; std::exchange(again, false);)
            for (Index p : by_excess())
                if (!hidden(p)) {
                    removed += hide(p);
                    again = true;
                }
        put_back();
        return removed;
    }

private:
    bool hidden(Index p) const { return limits_[p].met(together_[p], antecedent_[p]); }
    bool is_pattern(Index claim) const { return claims_.wants[claim] < limits_.size(); }
    int64_t& count_of(Index claim) {
        const Index p = claims_.wants[claim];
        return p < limits_.size() ? together_[p] : antecedent_[p - limits_.size()];
    }

    void restore(View<uint8_t> state, uint64_t odds) {
        for (Index c = 0; c < kept_.size(); ++c) {
            const uint8_t s = state[claims_.place[c]];
            kept_[c] = s == 2 ? Chances(seed_, claims_.row[c]).of(claims_.item(c)) < odds : s;
            control_.poll();
        }
        count();
    }

    void count() {
        std::ranges::fill(together_, 0);
        antecedent_ = claims_.always;
        for (Index claim = 0; claim < claims_.size(); ++claim) {
            missing_[claim] =
                int32_t(std::ranges::count_if(claims_.needs[claim], [&](int64_t c) { return !kept_[c]; }));
            count_of(claim) += missing_[claim] == 0;
            control_.poll();
        }
    }

    List<int32_t> by_excess() const {
        return ordered_by(limits_.size(), [&](Index p) { return limits_[p].most - together_[p]; });
    }

    struct Victim {
        int64_t cost, helps, occurrence;
        uint64_t order;
        // The cheapest for each pattern that it helps to hide, as fractions; of equals the one that helps more.
        bool operator<(const Victim& other) const {
            const Wide left = Wide(cost) * other.helps, right = Wide(other.cost) * helps;
            return left != right ? left < right : helps != other.helps ? helps > other.helps : order < other.order;
        }
    };

    // Hides one pattern, a rule by what is cheaper: to make it rare, or unsure. Then only its consequent goes: without
    // its antecedent, a transaction would no longer speak against it.
    int64_t hide(Index p) {
        const Limit& limit = limits_[p];
        Vector<Victim> victims = cheapest(p, together_[p] - limit.most, false);
        if (limit.num > 0 && antecedent_[p] > 0) {
            const int64_t unsure = int64_t((Wide(limit.num) * antecedent_[p] - 1) / limit.den);  // so many may be left
            Vector<Victim> others = cheapest(p, together_[p] - unsure, true);  // none, if only its antecedent may go
            const auto cost = [](const Vector<Victim>& all) {
                std::pair<Wide, Index> sum(0, all.size());
                for (const Victim& victim : all) sum.first += victim.cost;
                return sum;
            };
            if (!others.empty() && cost(others) < cost(victims)) victims = std::move(others);
        }
        for (const Victim& victim : victims) take_out(victim.occurrence);
        return victims.size();
    }

    // The cheapest item of each of so many transactions of a pattern, of those whose item is cheapest.
    Vector<Victim> cheapest(Index p, int64_t need, bool consequent) const {
        Vector<Victim> victims(control_);
        const auto led = antecedents_.row(p);
        for (int64_t claim : claims_.of_pattern[p]) {
            if (missing_[claim] != 0) continue;
            Victim best{0, 0, -1, 0};
            for (int64_t c : claims_.needs[claim]) {
                const int32_t item = claims_.item(c);
                if ((!only_.empty() && item != only_[p]) || (consequent && std::ranges::binary_search(led, item)))
                    continue;
                const Victim candidate{value_[c], helps(c), c, order_[c]};
                if (best.occurrence < 0 || candidate < best) best = candidate;
            }
            if (best.occurrence < 0) return victims;
            victims.push_back(best);
            control_.poll();
        }
        std::nth_element(victims.begin(), victims.begin() + (need - 1), victims.end());
        victims.resize(need, Victim{});
        return victims;
    }

    // In how many patterns that are still found a transaction would no longer count without this occurrence.
    int64_t helps(int64_t c) const {
        return std::ranges::count_if(claims_.of_occurrence[c], [&](int64_t claim) {
            return is_pattern(claim) && missing_[claim] == 0 && !hidden(claims_.wants[claim]);
        });
    }

    void take_out(int64_t c) {
        kept_[c] = 0;
        for (int64_t claim : claims_.of_occurrence[c])
            if (missing_[claim]++ == 0) --count_of(claim);
    }

    // Puts back what breaks nothing, the most valuable first, until nothing can return by itself.
    void put_back() {
        Vector<int64_t> out(control_);
        for (Index c = 0; c < kept_.size(); ++c)
            if (!kept_[c]) out.push_back(c);
        std::ranges::sort(out, {}, [&](int64_t c) { return std::tuple(-value_[c], order_[c], c); });
        for (bool again = true; std::exchange(again, false);) {
            Index left = 0;
            for (int64_t c : out) {
                if (returns(c)) again = confident_;  // a more frequent antecedent makes its rule less sure
                else out[left++] = c;
            }
            out.resize(left);
            control_.poll();
        }
    }

    // Puts an occurrence back if every pattern stays hidden; whether it did.
    bool returns(int64_t c) {
        const auto mine = claims_.of_occurrence[c];
        const auto complete = [&](int64_t claim) { return missing_[claim] == 1; };
        for (int64_t claim : mine)
            if (complete(claim)) ++count_of(claim);
        const bool good = std::ranges::all_of(mine, [&](int64_t claim) {
            return !is_pattern(claim) || !complete(claim) || hidden(claims_.wants[claim]);
        });
        for (int64_t claim : mine) {
            if (good) --missing_[claim];
            else if (complete(claim)) --count_of(claim);
        }
        kept_[c] = good;
        return good;
    }

    const Claims& claims_;
    Csr antecedents_;
    List<Limit> limits_;
    uint64_t seed_;
    Control& control_;
    Vector<uint8_t> kept_;                 // contested occurrence -> whether it is kept
    Vector<int32_t> missing_;              // claim -> how many of its occurrences are not
    Vector<uint64_t> order_;               // contested occurrence -> its place among equals
    View<int32_t> only_;                   // pattern -> the item that may be its victim; or empty
    Vector<int64_t> value_;                // contested occurrence -> what it is worth to the patterns to keep
    List<int64_t> together_, antecedent_;  // pattern -> its support, and that of its antecedent
    bool confident_;
};

// The patterns to hide, as Python hands them over.
struct ToHide {
    Array<int64_t> offsets;
    Array<int32_t> items;
    Array<int64_t> antecedent_offsets;
    Array<int32_t> antecedent_items;
    Array<int64_t> most, share_num, share_den;  // the limits of each
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

// A dictionary: `kept` (one for each occurrence), `step` (of the odds, the one that was taken), `victims` (how many
// went beyond where the strategy began), `strategies` (for each that was tried, how many patterns to keep and how many
// occurrences it loses, and its seconds), `chosen` (its number). Strategy 0 starts from the product, all others from
// the data; 2 takes one item of each pattern only, which does less harm where most transactions hold most items; from 3
// on what was lost weighs more.
nb::dict hide(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary, View<uint8_t> states,
              const ToHide& hidden, const ToKeep& spared, View<uint64_t> odds, uint64_t seed, int most_strategies,
              int threads) {
    const Csr data(offsets, items, vocabulary), patterns(hidden.offsets, hidden.items, vocabulary);
    const Csr antecedents(hidden.antecedent_offsets, hidden.antecedent_items, vocabulary);
    const Csr keep(spared.offsets, spared.items, vocabulary);
    if (states.size() != data.items.size()) throw std::invalid_argument("one state for each occurrence, please");
    if (std::ranges::any_of(states, [](uint8_t s) { return s > 2; })) throw std::invalid_argument("no such state");
    if (spared.spare.size() != keep.rows()) throw std::invalid_argument("one number for each pattern to keep, please");
    if (odds.size() == 0 || most_strategies < 1) throw std::invalid_argument("no odds, or no strategy");
    List<Limit> limits = checked_limits(patterns, antecedents, hidden);
    List<int64_t> support(vocabulary, 0);
    for (int32_t i : data.items) ++support[i];
    const ByRarest by_pattern(patterns, support), by_antecedent(antecedents, support), by_keep(keep, support);
    const Claims claims(data, by_pattern, by_antecedent, threads, control);
    Keep cost(data, patterns, by_keep, spared.spare, claims, threads, control);
    Choice choice(claims, antecedents, std::move(limits), seed, control);

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
    nb::class_<ToKeep>(m, "ToKeep")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>>(), nb::kw_only(), "offsets"_a, "items"_a,
             "spare"_a);
    def_kernel(m, "hide", hide, "offsets"_a, "items"_a, "vocabulary"_a, "states"_a, "hidden"_a, "keep"_a, "odds"_a,
               nb::kw_only(), "seed"_a, "most_strategies"_a, "threads"_a);
}

}  // namespace veilset
