// The rules that a round of SuppressControl has to conceal, and what suppressing an item pays (Cao et al. 2010 §4).
//
// Antecedents stand here, not rules: those with the same sensitive consequents share one list of them. Retail has 27.8
// million violating rules with two items known, of 5 million antecedents.
#pragma once

#include <tuple>

#include "mining/slots.hpp"
#include "rules/rows.hpp"

namespace veilset::rules {

// What one thread finds: antecedents of `size` items, and for each the number of its list of consequents.
class Found {
public:
    Found(Index size, Control& control) : size_(size), items_(control), list_(control), lists_(control) {}

    // The consequents may hold items of the antecedent, which are none. Gives how many items were written down for
    // them.
    Index add(View<int32_t> antecedent, View<int32_t> consequents) {
        items_.insert(items_.end(), antecedent.begin(), antecedent.end());
        const Index before = lists();
        list_.push_back(lists_.number(consequents));
        return lists() > before ? consequents.size() : 0;
    }
    Index antecedents() const { return list_.size(); }
    Index lists() const { return lists_.size(); }
    View<int32_t> antecedent(Index a) const { return View(items_).subspan(a * size_, size_); }
    int32_t list(Index a) const { return list_[a]; }
    View<int32_t> consequents(Index l) const { return lists_[l]; }

private:
    Index size_;
    Vector<int32_t> items_, list_;
    Distinct lists_;
};

class Payoff {
public:
    Payoff(const List<Found>& found, int32_t items, Control& control)
        : found_(found), control_(control), rules_with_(items, 0), by_item_(control), by_list_(control),
          lists_with_(control), gone_(items, false) {
        Index antecedents = 0, lists = 0;
        for (const Found& part : found) {
            base_.push_back(antecedents);
            list_base_.push_back(lists);
            antecedents += part.antecedents();
            lists += part.lists();
        }
        dead_.assign(antecedents, false);
        left_.assign(lists, 0);
        killed_.assign(lists, 0);
        by_item_.fill(items, [&](auto put) {
            for_each([&](Index a, View<int32_t> antecedent, Index, View<int32_t>) {
                for (int32_t item : antecedent) put(item, int32_t(a));
            });
        });
        by_list_.fill(lists, [&](auto put) {
            for_each([&](Index a, View<int32_t>, Index list, View<int32_t>) { put(list, int32_t(a)); });
        });
        lists_with_.fill(items, [&](auto put) {
            for_each_list([&](Index list, View<int32_t> consequents) {
                for (int32_t item : consequents) put(item, int32_t(list));
            });
        });
        for_each_list([&](Index list, View<int32_t> consequents) {
            left_[list] = int32_t(consequents.size());
            for (int32_t item : consequents) rules_with_[item] += by_list_[list].size();
        });
        for_each([&](Index, View<int32_t> antecedent, Index list, View<int32_t> consequents) {
            const int64_t rules = inferred(antecedent, list, consequents);
            for (int32_t item : antecedent) rules_with_[item] += rules - holds(consequents, item);
        });
    }

    // C(b, SR_i): the rules that contain an item, known or inferred.
    int64_t rules_with(int32_t item) const { return rules_with_[item]; }

    // Deletes all rules that contain the item.
    void suppress(int32_t item) {
        touched_.clear();
        for (int32_t number : by_item_[item]) {
            const auto a = number;
            if (dead_[a]) continue;
            dead_[a] = true;
            const auto [antecedent, list, consequents] = at(a);
            const int64_t rules = inferred(antecedent, list, consequents);
            if (killed_[list]++ == 0) touched_.push_back(int32_t(list));
            for (int32_t known : antecedent) rules_with_[known] -= rules - (!gone_[known] && holds(consequents, known));
        }
        // What these antecedents inferred, for each list at once.
        for (int32_t list : touched_) {
            for (int32_t other : consequents_of(list))
                if (!gone_[other]) rules_with_[other] -= killed_[list];
            killed_[list] = 0;
        }
        gone_[item] = true;
        for (int32_t list : lists_with_[item]) {
            --left_[list];
            for (int32_t number : by_list_[list]) {
                if (dead_[number]) continue;
                const auto known_of = std::get<0>(at(number));
                for (int32_t known : known_of) --rules_with_[known];
            }
        }
        rules_with_[item] = 0;
    }

private:
    static bool holds(View<int32_t> sorted, int32_t item) { return std::ranges::binary_search(sorted, item); }

    // How many items an antecedent still infers: those of its list that are there, but for its own.
    int64_t inferred(View<int32_t> antecedent, Index list, View<int32_t> consequents) const {
        return left_[list] - std::ranges::count_if(
                                 antecedent, [&](int32_t item) { return !gone_[item] && holds(consequents, item); });
    }

    View<int32_t> consequents_of(Index list) const {
        const Index part = Index(std::ranges::upper_bound(list_base_, list) - list_base_.begin()) - 1;
        return found_[part].consequents(list - list_base_[part]);
    }
    std::tuple<View<int32_t>, Index, View<int32_t>> at(Index a) const {
        const Index part = Index(std::ranges::upper_bound(base_, a) - base_.begin()) - 1;
        const Found& found = found_[part];
        const auto list = Index(found.list(a - base_[part]));
        return {found.antecedent(a - base_[part]), list_base_[part] + list, found.consequents(list)};
    }
    template <class Body>
    void for_each(Body body) const {
        for (Index part = 0; part < found_.size(); ++part)
            for (Index a = 0; a < found_[part].antecedents(); ++a) {
                if (a % 65536 == 0) control_.poll();
                const auto list = Index(found_[part].list(a));
                body(base_[part] + a, found_[part].antecedent(a), list_base_[part] + list,
                     found_[part].consequents(list));
            }
    }
    template <class Body>
    void for_each_list(Body body) const {
        for (Index part = 0; part < found_.size(); ++part)
            for (Index l = 0; l < found_[part].lists(); ++l) body(list_base_[part] + l, found_[part].consequents(l));
    }

    const List<Found>& found_;  // one of each thread
    Control& control_;
    List<Index> base_, list_base_;  // the number of a part's first antecedent and list
    List<int64_t> rules_with_;
    Groups<int32_t> by_item_, by_list_,
        lists_with_;  // the antecedents with an item and with a list; the lists with an item
    List<bool> dead_, gone_;
    List<int32_t> left_;    // consequents of a list that are still there
    List<int32_t> killed_;  // antecedents of a list that the item under way has; zeros between the calls
    List<int32_t> touched_;
};

}  // namespace veilset::rules
