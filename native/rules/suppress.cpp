// SuppressControl (Cao et al. 2010 §4, Algorithm 1): conceals all sensitive rules of confidence ρ or more by
// suppressing items.
//
// Rounds by the number of items known: 0, 1, 2, … A round finds all violating rules and suppresses, one after another,
// the item that is in most of them for what it is worth. Suppressing an item changes no other rule, so what a round
// leaves behind stays concealed, and an item that is proven safe stays so.
#include <atomic>
#include <optional>

#include "mining/greedy.hpp"
#include "rules/enumeration.hpp"
#include "rules/payoff.hpp"
#include "rules/rows.hpp"
#include "rules/search.hpp"

namespace veilset {
namespace {

using namespace rules;

// What a round may cost before the item whose proof it is goes instead (counted, not timed, so that a run repeats
// itself).
struct Budget {
    int64_t search;  // items of rows looked at for one sensitive item
    int64_t rules;   // branches of a round, and the lists of what can be inferred
};

struct Chosen {
    List<int32_t> items, rounds;
    List<uint8_t> undecided;  // it went because its proof exceeded the work limit
    List<int32_t> stuck;      // a rule none of whose items may go, the inferred one last
    bool complete = true;     // false: more is lost than was asked for, and the rest is not known
};

struct Task {
    const Csr& data;
    View<int64_t> weights, cost;
    View<uint8_t> sensitive, fixed, required;  // required may be empty: an antecedent need not hold any item
    Rho rho;
    int64_t population, cost_limit;
    Budget budget;
    int threads;
};

class SuppressControl {
public:
    SuppressControl(const Task& task, Control& control)
        : task_(task), control_(control), gone_(task.cost.size(), false) {}

    Chosen run() {
        if (task_.required.empty()) nothing_known();
        std::optional<Rows> rows;
        Index looked_at = 0;  // how many items were chosen when the rows were
        for (Index size = 1; chosen_.complete && chosen_.stuck.empty();) {
            control_.begin(int64_t(size), 1);
            const bool changed = !rows || looked_at != chosen_.items.size();
            if (changed) {
                looked_at = chosen_.items.size();
                rank_items();
                if (!task_.required.empty() && required_ == 0) return chosen_;  // no rule counts any more
                rows.emplace(task_.data, task_.weights, rank_, int32_t(codes_.size()), control_);
            }
            if (rows->longest() <= size) return chosen_;  // no antecedent of this size has anything to infer
            // What was suspected of larger rules still is if nothing has changed.
            if ((changed || size <= 3) && !find_suspects(*rows, size)) return chosen_;
            if (!chosen_.complete || !chosen_.stuck.empty()) break;
            size += round(*rows, size);
        }
        return chosen_;
    }

private:
    bool sensitive(int32_t item) const { return task_.sensitive[codes_[item]]; }

    // The required items first, then the rarest: ranks from here on.
    void rank_items() {
        const Index n = task_.cost.size();
        List<int64_t> support(n, 0);
        for (int64_t r = 0; r < task_.data.rows(); ++r)
            for (int32_t item : task_.data.row(r)) ++support[item];
        codes_.clear();
        for (Index i = 0; i < n; ++i)
            if (support[i] > 0 && !gone_[i]) codes_.push_back(int32_t(i));
        const auto is_required = [&](int32_t code) { return !task_.required.empty() && task_.required[code]; };
        std::ranges::stable_sort(codes_, {},
                                 [&](int32_t code) { return std::pair(!is_required(code), support[code]); });
        required_ = int32_t(std::ranges::count_if(codes_, is_required));
        rank_.assign(n, none);
        for (Index i = 0; i < codes_.size(); ++i) rank_[codes_[i]] = int32_t(i);
    }

    // Round 0: who knows nothing. Each rule is about one item, so the items go in the order of what they are worth.
    void nothing_known() {
        List<int64_t> support(task_.cost.size(), 0);
        for (int64_t r = 0; r < task_.data.rows(); ++r)
            for (int32_t item : task_.data.row(r)) support[item] += task_.weights[r];
        List<int32_t> inferred;
        for (Index i = 0; i < support.size(); ++i)
            if (task_.sensitive[i] && task_.rho.reached(support[i], task_.population)) inferred.push_back(int32_t(i));
        std::ranges::stable_sort(inferred, {}, [&](int32_t code) { return task_.cost[code]; });
        for (int32_t code : inferred)
            if (task_.fixed[code]) {
                chosen_.stuck = {code};
                return;
            } else {
                choose(code, 0, false);
            }
    }

    // Which rules of this size or more each row may support. From round 3 on, where antecedents become many, a search
    // tells what is left; none at all: false.
    bool find_suspects(const Rows& rows, Index size) {
        List<List<Suspect>> of(rows.rows());
        if (size <= 2) {
            for (int32_t r = 0; r < rows.rows(); ++r) {
                const auto row = rows.row(r);
                if (row.size() <= size || (!task_.required.empty() && row.front() >= required_)) continue;
                for (int32_t item : row)
                    if (sensitive(item)) of[r].push_back({item, 0});
            }
        } else {
            search(rows, of);
        }
        first_.assign(1, 0);
        suspects_.clear();
        for (const auto& row : of) {
            suspects_.insert(suspects_.end(), row.begin(), row.end());
            first_.push_back(suspects_.size());
        }
        return !suspects_.empty();
    }

    void search(const Rows& rows, List<List<Suspect>>& of) {
        if (proven_.empty()) proven_.assign(task_.cost.size(), false);
        List<int32_t> open;
        for (int32_t item = 0; item < rows.items(); ++item)
            if (sensitive(item) && !proven_[codes_[item]]) open.push_back(item);
        List<List<std::pair<int32_t, Suspect>>> found(open.size());
        List<List<int32_t>> witnesses(open.size());
        const List<uint8_t> alive(rows.items(), 1);
        List<Search> searches;
        const int threads = Control::useful(task_.threads, open.size());
        for (int t = 0; t < threads; ++t) searches.emplace_back(rows, task_.population, task_.rho, alive);
        control_.parallel(threads, open.size(), [&](int64_t i, int worker) {
            Search& one = searches[worker];
            const Answer answer =
                one.run(open[i], {none, required_}, task_.budget.search, Search::Until::all, control_);
            if (answer == Answer::safe) return;
            if (answer == Answer::broken) {
                witnesses[i] = one.witness();
                witnesses[i].push_back(open[i]);
            }
            one.for_each_suspect(answer == Answer::broken,
                                 [&](int32_t row, int64_t without) { found[i].push_back({row, {open[i], without}}); });
        });
        for (const auto& rule : witnesses)
            if (!rule.empty() &&
                std::ranges::all_of(rule, [&](int32_t item) { return bool(task_.fixed[codes_[item]]); })) {
                for (int32_t item : rule) chosen_.stuck.push_back(codes_[item]);
                return;
            }
        if (lost_ + least_to_lose(witnesses) > task_.cost_limit) chosen_.complete = false;
        for (Index i = 0; i < open.size(); ++i) {
            if (found[i].empty()) proven_[codes_[open[i]]] = true;
            for (const auto& [row, suspect] : found[i]) of[row].push_back(suspect);
        }
    }

    // Every one of these rules has to lose an item. Rules that share none that could be paid for cost at least the sum.
    int64_t least_to_lose(const List<List<int32_t>>& found) const {
        List<bool> taken(codes_.size(), false);
        int64_t least = 0;
        for (const auto& rule : found) {
            int64_t cheapest = INT64_MAX;
            bool shared = rule.empty();
            const auto affordable = [&](int32_t item) {
                const auto code = codes_[item];
                return !task_.fixed[code] && task_.cost[code] <= task_.cost_limit - lost_;
            };
            for (int32_t item : rule)
                if (affordable(item)) {
                    shared = shared || taken[item];
                    cheapest = std::min(cheapest, task_.cost[codes_[item]]);
                }
            if (shared) continue;
            if (cheapest == INT64_MAX) return task_.cost_limit - lost_ + 1;
            for (int32_t item : rule)
                if (affordable(item)) taken[item] = true;
            least += cheapest;
        }
        return least;
    }

    // False: too dear; one item has gone for that, and the round has to be looked at again.
    bool round(const Rows& rows, Index size) {
        std::atomic<int64_t> left{task_.budget.rules};
        const int32_t roots = task_.required.empty() ? rows.items() : required_;
        const int threads = Control::useful(task_.threads, roots);
        List<Enumeration> parts;
        parts.reserve(threads);
        for (int t = 0; t < threads; ++t) parts.emplace_back(rows, first_, suspects_, task_.rho, size, left, control_);
        control_.parallel(threads, roots, [&](int64_t item, int worker) { parts[worker].from(int32_t(item)); });
        if (left < 0) {
            give_up(rows, int32_t(size));
            return false;
        }
        List<Found> found;
        for (Enumeration& part : parts) found.push_back(part.take());
        control_.single([&] { conceal(found, rows.items(), int32_t(size)); });
        return true;
    }

    // Lines 8-12 of Algorithm 1.
    void conceal(const List<Found>& found, int32_t items, int32_t size) {
        Payoff payoff(found, items, control_);
        List<Candidate> candidates;
        for (int32_t item = 0; item < items; ++item) {  // by C(b) / loss(b)
            const int32_t code = codes_[item];
            if (payoff.rules_with(item) > 0 && !task_.fixed[code])
                candidates.push_back({payoff.rules_with(item), task_.cost[code], code, item});
        }
        const auto count = [&](int32_t item) { return payoff.rules_with(item); };
        choose_greedily(std::move(candidates), control_, count, [&](const Candidate& best) {
            payoff.suppress(best.item);
            choose(best.code, size, false);
            return chosen_.complete;
        });
        if (!chosen_.complete) return;
        // Of several the smallest, so that it does not depend on the threads.
        for (const Found& part : found)
            for (Index a = 0; a < part.antecedents(); ++a) {
                const auto gone = [&](int32_t item) { return bool(gone_[codes_[item]]); };
                if (std::ranges::any_of(part.antecedent(a), gone)) continue;
                for (int32_t inferred : part.consequents(part.list(a)))
                    if (!gone(inferred) &&
                        std::ranges::find(part.antecedent(a), inferred) == part.antecedent(a).end()) {
                        List<int32_t> rule;
                        for (int32_t item : part.antecedent(a)) rule.push_back(codes_[item]);
                        rule.push_back(codes_[inferred]);
                        if (chosen_.stuck.empty() || rule < chosen_.stuck) chosen_.stuck = std::move(rule);
                    }
            }
    }

    // The sensitive item that most transactions are suspected of is the one whose proof costs most.
    void give_up(const Rows& rows, int32_t size) {
        List<int64_t> weight(rows.items(), 0);
        for (int32_t r = 0; r < rows.rows(); ++r)
            for (int64_t i = first_[r]; i < first_[r + 1]; ++i)
                weight[suspects_[i].item] += int64_t(rows.row(r).size()) * rows.weight(r);
        int32_t worst = none;
        for (int32_t item = 0; item < rows.items(); ++item)
            if (weight[item] > 0 && !task_.fixed[codes_[item]] && (worst == none || weight[item] > weight[worst]))
                worst = item;
        if (worst == none) throw OutOfWork();
        choose(codes_[worst], size, true);
    }

    void choose(int32_t code, int32_t round, bool undecided) {
        gone_[code] = true;
        chosen_.items.push_back(code);
        chosen_.rounds.push_back(round);
        chosen_.undecided.push_back(undecided);
        lost_ += task_.cost[code];
        chosen_.complete = lost_ <= task_.cost_limit;
    }

    const Task& task_;
    Control& control_;
    List<bool> gone_, proven_;
    List<int32_t> codes_, rank_;
    int32_t required_ = 0;
    List<int64_t> first_;
    List<Suspect> suspects_;
    Chosen chosen_;
    int64_t lost_ = 0;
};

nb::dict suppress_rules(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                        View<uint8_t> sensitive, View<int64_t> cost, View<uint8_t> fixed, View<uint8_t> required,
                        int64_t rho_num, int64_t rho_den, int64_t population, int64_t cost_limit, int64_t search_budget,
                        int64_t rules_budget, int threads) {
    const Csr data(offsets, items, int32_t(cost.size()));
    if (sensitive.size() != cost.size() || fixed.size() != cost.size() ||
        (required.size() > 0 && required.size() != cost.size()))
        throw std::invalid_argument("one mark for each item, please");
    if (weights.size() != data.rows()) throw std::invalid_argument("one weight for each transaction, please");
    if (rho_num < 1 || rho_den < rho_num) throw std::invalid_argument("rho is outside (0, 1]");
    for (Index item = 0; item < required.size(); ++item)
        if (required[item] && sensitive[item]) throw std::invalid_argument("a required item is sensitive");
    for (int64_t value : cost)
        if (value < 0) throw std::invalid_argument("a cost below 0");
    const Rho rho{rho_num, rho_den};
    const Budget budget{search_budget, rules_budget};
    const Task task{data, weights, cost, sensitive, fixed, required, rho, population, cost_limit, budget, threads};
    Chosen chosen = SuppressControl(task, control).run();
    nb::dict answer;
    answer["chosen"] = to_numpy(std::move(chosen.items));
    answer["rounds"] = to_numpy(std::move(chosen.rounds));
    answer["undecided"] = to_numpy(std::move(chosen.undecided));
    answer["stuck"] = to_numpy(std::move(chosen.stuck));
    answer["complete"] = chosen.complete;
    return answer;
}

}  // namespace

void register_rules_suppress(nb::module_& m) {
    def_kernel(m, "suppress", suppress_rules, "offsets"_a, "items"_a, "weights"_a, "sensitive"_a, "cost"_a, "fixed"_a,
               "required"_a, nb::kw_only(), "rho_num"_a, "rho_den"_a, "population"_a, "cost_limit"_a, "search_budget"_a,
               "rules_budget"_a, "threads"_a);
}

}  // namespace veilset
