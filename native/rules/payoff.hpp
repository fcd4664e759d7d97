// The rules that a round of SuppressControl has to conceal, and what suppressing an item pays (Cao et al. 2010 §4).
//
// Antecedents stand here, not rules: those with the same sensitive consequents share one list of them. Retail has 27.8
// million violating rules with two items known, of 5 million antecedents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "rules/rows.hpp"

namespace veilset::rules {

// What one thread finds: antecedents of `size` items, and for each the number of its list of consequents.
class Found {
public:
    Found(size_t size, Control& control)
        : size_(size), items_(control), list_(control), begin_(1, 0, control), consequents_(control) {}

    // The consequents may hold items of the antecedent, which are none. Gives how many items were written down for
    // them.
    size_t add(std::span<const int32_t> antecedent, std::span<const int32_t> consequents) {
        items_.insert(items_.end(), antecedent.begin(), antecedent.end());
        const size_t before = consequents_.size();
        list_.push_back(list_of(consequents));
        return consequents_.size() - before;
    }
    size_t antecedents() const { return list_.size(); }
    size_t lists() const { return begin_.size() - 1; }
    std::span<const int32_t> antecedent(size_t a) const { return std::span(items_).subspan(a * size_, size_); }
    int32_t list(size_t a) const { return list_[a]; }
    std::span<const int32_t> consequents(size_t l) const {
        return std::span(consequents_).subspan(begin_[l], begin_[l + 1] - begin_[l]);
    }

private:
    int32_t list_of(std::span<const int32_t> consequents) {
        uint64_t hash = consequents.size();
        for (int32_t item : consequents) hash = (hash ^ uint64_t(item)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
        auto [from, to] = by_hash_.equal_range(hash);
        for (; from != to; ++from)
            if (std::ranges::equal(this->consequents(from->second), consequents)) return from->second;
        const auto number = int32_t(lists());
        consequents_.insert(consequents_.end(), consequents.begin(), consequents.end());
        begin_.push_back(int64_t(consequents_.size()));
        by_hash_.emplace(hash, number);
        return number;
    }

    size_t size_;
    Vector<int32_t> items_, list_;
    Vector<int64_t> begin_;
    Vector<int32_t> consequents_;
    std::unordered_multimap<uint64_t, int32_t> by_hash_;
};

class Payoff {
public:
    Payoff(const std::vector<Found>& found, int32_t items, Control& control)
        : found_(found), control_(control), rules_with_(items, 0), by_item_(items, control), by_list_(0, control),
          lists_with_(items, control), gone_(items, false) {
        size_t antecedents = 0, lists = 0;
        for (const Found& part : found) {
            base_.push_back(antecedents);
            list_base_.push_back(lists);
            antecedents += part.antecedents();
            lists += part.lists();
        }
        dead_.assign(antecedents, false);
        left_.assign(lists, 0);
        killed_.assign(lists, 0);
        by_list_ = Index(int32_t(lists), control);
        for (const bool filling : {false, true}) {
            for_each([&](size_t a, std::span<const int32_t> antecedent, size_t list, std::span<const int32_t>) {
                for (int32_t item : antecedent) by_item_.put(item, int32_t(a), filling);
                by_list_.put(list, int32_t(a), filling);
            });
            for_each_list([&](size_t list, std::span<const int32_t> consequents) {
                for (int32_t item : consequents) lists_with_.put(item, int32_t(list), filling);
            });
            if (!filling)
                for (Index* index : {&by_item_, &by_list_, &lists_with_}) index->make_room();
        }
        for_each_list([&](size_t list, std::span<const int32_t> consequents) {
            left_[list] = int32_t(consequents.size());
            for (int32_t item : consequents) rules_with_[item] += int64_t(by_list_[list].size());
        });
        for_each([&](size_t, std::span<const int32_t> antecedent, size_t list, std::span<const int32_t> consequents) {
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
            const auto a = size_t(number);
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
    // For each key a list of numbers, side by side: counted first, then filled.
    class Index {
    public:
        Index(int32_t keys, Control& control) : first_(keys + 1, 0, control), next_(control), numbers_(control) {}
        void put(size_t key, int32_t number, bool filling) {
            if (filling) numbers_[next_[key]++] = number;
            else ++first_[key + 1];
        }
        void make_room() {
            for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
            next_.assign(first_.begin(), first_.end());
            numbers_.resize(first_.back());
        }
        std::span<const int32_t> operator[](size_t key) const {
            return std::span(numbers_).subspan(first_[key], first_[key + 1] - first_[key]);
        }

    private:
        Vector<int64_t> first_, next_;
        Vector<int32_t> numbers_;
    };

    static bool holds(std::span<const int32_t> sorted, int32_t item) {
        return std::ranges::binary_search(sorted, item);
    }

    // How many items an antecedent still infers: those of its list that are there, but for its own.
    int64_t inferred(std::span<const int32_t> antecedent, size_t list, std::span<const int32_t> consequents) const {
        return left_[list] - std::ranges::count_if(
                                 antecedent, [&](int32_t item) { return !gone_[item] && holds(consequents, item); });
    }

    std::span<const int32_t> consequents_of(size_t list) const {
        const size_t part = size_t(std::ranges::upper_bound(list_base_, list) - list_base_.begin()) - 1;
        return found_[part].consequents(list - list_base_[part]);
    }
    std::tuple<std::span<const int32_t>, size_t, std::span<const int32_t>> at(size_t a) const {
        const size_t part = size_t(std::ranges::upper_bound(base_, a) - base_.begin()) - 1;
        const Found& found = found_[part];
        const auto list = size_t(found.list(a - base_[part]));
        return {found.antecedent(a - base_[part]), list_base_[part] + list, found.consequents(list)};
    }
    template <class Body>
    void for_each(Body body) const {
        for (size_t part = 0; part < found_.size(); ++part)
            for (size_t a = 0; a < found_[part].antecedents(); ++a) {
                if (a % 65536 == 0) control_.poll();
                const auto list = size_t(found_[part].list(a));
                body(base_[part] + a, found_[part].antecedent(a), list_base_[part] + list,
                     found_[part].consequents(list));
            }
    }
    template <class Body>
    void for_each_list(Body body) const {
        for (size_t part = 0; part < found_.size(); ++part)
            for (size_t l = 0; l < found_[part].lists(); ++l) body(list_base_[part] + l, found_[part].consequents(l));
    }

    const std::vector<Found>& found_;  // one of each thread
    Control& control_;
    std::vector<size_t> base_, list_base_;  // the number of a part's first antecedent and list
    std::vector<int64_t> rules_with_;
    Index by_item_, by_list_, lists_with_;  // the antecedents with an item and with a list; the lists with an item
    std::vector<bool> dead_, gone_;
    std::vector<int32_t> left_;    // consequents of a list that are still there
    std::vector<int32_t> killed_;  // antecedents of a list that the item under way has; zeros between the calls
    std::vector<int32_t> touched_;
};

struct Score {
    int64_t rules, worth;
    int32_t code, item;
    // C(b) / loss(b), compared exactly; what is worth nothing pays infinitely. The item that comes first wins a tie.
    bool operator<(const Score& other) const {
        const auto mine = __int128(rules) * other.worth, its = __int128(other.rules) * worth;
        return mine != its ? mine < its : code > other.code;
    }
};

}  // namespace veilset::rules
