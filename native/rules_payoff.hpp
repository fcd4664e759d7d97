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
#include <vector>

#include "control.hpp"
#include "rules_rows.hpp"

namespace veilset::rules {

// What one thread finds: antecedents of `size` items, and for each the number of its list of consequents.
class Found {
public:
    Found(size_t size, Control& control) : size_(size), items_(control), list_(control), begin_(1, 0, control), consequents_(control) {}

    void add(std::span<const int32_t> antecedent, std::span<const int32_t> consequents) {
        items_.insert(items_.end(), antecedent.begin(), antecedent.end());
        list_.push_back(list_of(consequents));
    }
    size_t antecedents() const { return list_.size(); }
    size_t lists() const { return begin_.size() - 1; }
    std::span<const int32_t> antecedent(size_t a) const { return std::span(items_).subspan(a * size_, size_); }
    int32_t list(size_t a) const { return list_[a]; }
    std::span<const int32_t> consequents(size_t l) const { return std::span(consequents_).subspan(size_t(begin_[l]), size_t(begin_[l + 1] - begin_[l])); }

private:
    int32_t list_of(std::span<const int32_t> consequents) {
        uint64_t hash = consequents.size();
        for (int32_t item : consequents) hash = (hash ^ uint64_t(item)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
        auto [from, to] = by_hash_.equal_range(hash);
        for (; from != to; ++from)
            if (std::ranges::equal(this->consequents(size_t(from->second)), consequents)) return from->second;
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
        : found_(found), control_(control), rules_with_(size_t(items), 0), by_item_(control), first_of_item_(size_t(items) + 1, 0), gone_(size_t(items), false) {
        size_t antecedents = 0, lists = 0;
        for (const Found& part : found) {
            base_.push_back(antecedents);
            list_base_.push_back(lists);
            antecedents += part.antecedents();
            lists += part.lists();
        }
        dead_.assign(antecedents, false);
        left_.assign(lists, 0);
        with_list_.assign(lists + 1, 0);
        for_each([&](size_t, std::span<const int32_t> antecedent, size_t list, std::span<const int32_t> consequents) {
            ++with_list_[list + 1];
            left_[list] = int32_t(consequents.size());
            for (int32_t item : antecedent) {
                rules_with_[size_t(item)] += int64_t(consequents.size());
                ++first_of_item_[size_t(item) + 1];
            }
            for (int32_t item : consequents) ++rules_with_[size_t(item)];
        });
        for (size_t i = 1; i < first_of_item_.size(); ++i) first_of_item_[i] += first_of_item_[i - 1];
        for (size_t l = 1; l < with_list_.size(); ++l) with_list_[l] += with_list_[l - 1];
        by_item_.resize(size_t(first_of_item_.back()));
        by_list_.resize(antecedents);
        std::vector<int64_t> next(first_of_item_.begin(), first_of_item_.end() - 1), next_of_list(with_list_.begin(), with_list_.end() - 1);
        for_each([&](size_t a, std::span<const int32_t> antecedent, size_t list, std::span<const int32_t>) {
            for (int32_t item : antecedent) by_item_[size_t(next[size_t(item)]++)] = int32_t(a);
            by_list_[size_t(next_of_list[list]++)] = int32_t(a);
        });
        for (size_t part = 0; part < found.size(); ++part)
            for (size_t l = 0; l < found[part].lists(); ++l)
                for (int32_t item : found[part].consequents(l)) lists_with_[item].push_back(int32_t(list_base_[part] + l));
    }

    // C(b, SR_i): the rules that contain an item, known or inferred.
    int64_t rules_with(int32_t item) const { return rules_with_[size_t(item)]; }

    // Deletes all rules that contain the item.
    void suppress(int32_t item) {
        gone_[size_t(item)] = true;
        for (int64_t i = first_of_item_[size_t(item)]; i < first_of_item_[size_t(item) + 1]; ++i) {
            const auto a = size_t(by_item_[size_t(i)]);
            if (dead_[a]) continue;
            dead_[a] = true;
            const auto [antecedent, list, consequents] = at(a);
            for (int32_t known : antecedent) rules_with_[size_t(known)] -= left_[list];
            for (int32_t inferred : consequents)
                if (!gone_[size_t(inferred)]) --rules_with_[size_t(inferred)];
        }
        const auto lists = lists_with_.find(item);
        if (lists == lists_with_.end()) return;
        for (int32_t list : lists->second) {
            --left_[size_t(list)];
            for (int64_t i = with_list_[size_t(list)]; i < with_list_[size_t(list) + 1]; ++i) {
                const auto a = size_t(by_list_[size_t(i)]);
                if (dead_[a]) continue;
                const auto known_of = std::get<0>(at(a));
                for (int32_t known : known_of) --rules_with_[size_t(known)];
                if (left_[size_t(list)] == 0) dead_[a] = true;
            }
        }
        rules_with_[size_t(item)] = 0;
    }

private:
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
                body(base_[part] + a, found_[part].antecedent(a), list_base_[part] + list, found_[part].consequents(list));
            }
    }

    const std::vector<Found>& found_;  // one of each thread
    Control& control_;
    std::vector<size_t> base_, list_base_;  // the number of a part's first antecedent and list
    std::vector<int64_t> rules_with_;
    Vector<int32_t> by_item_;
    std::vector<int64_t> first_of_item_;
    std::vector<int32_t> by_list_;
    std::vector<int64_t> with_list_;
    std::vector<bool> dead_, gone_;
    std::vector<int32_t> left_;  // consequents of a list that are still there
    std::unordered_map<int32_t, std::vector<int32_t>> lists_with_;
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
