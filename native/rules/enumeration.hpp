// All violating rules with a given number of items known: what a round of SuppressControl has to conceal.
#pragma once

#include <atomic>

#include "rules/payoff.hpp"
#include "rules/rows.hpp"

namespace veilset::rules {

// A rule that a row may support, and n_t (see rules/search.hpp).
struct Suspect {
    int32_t item;
    int64_t without;
};

// All violating rules with exactly `size` items known, for the suspects of each row.
class Enumeration {
public:
    Enumeration(const Rows& rows, View<int64_t> first, View<Suspect> suspects, Rho rho, Index size,
                std::atomic<int64_t>& left, Control& control)
        : rows_(rows), first_(first), suspects_(suspects), rho_(rho), size_(size), left_(left), control_(control),
          found_(size, control), with_(rows.items(), 0), least_(rows.items(), 0), known_(rows.items(), 0),
          child_(rows.items(), 0) {}

    Found take() { return std::move(found_); }

    void from(int32_t item) {
        List<Place> places;
        for (int32_t r : rows_.holders(item)) {
            const auto row = rows_.row(r);
            places.push_back({r, int32_t(std::ranges::lower_bound(row, item) - row.begin()) + 1});
        }
        step(item, places);
    }

private:
    struct Place {
        int32_t row, next;
    };
    using Places = View<Place>;

    View<Suspect> suspects(int32_t r) const { return suspects_.subspan(first_[r], first_[r + 1] - first_[r]); }

    void step(int32_t item, Places places) {
        antecedent_.push_back(item);
        known_[item] = 1;
        if (--left_ >= 0) {
            if (antecedent_.size() == size_) weigh(places);
            else grow(places);
        }
        known_[item] = 0;
        antecedent_.pop_back();
    }

    // For each suspect of these rows its weight and least n_t; then body(item, weight, least).
    template <class Body>
    int64_t for_each_suspect(Places places, Body body) {
        int64_t everybody = 0;
        met_.clear();
        for (const Place& place : places) {
            const int64_t weight = rows_.weight(place.row);
            everybody += weight;
            for (const auto& [item, without] : suspects(place.row)) {
                if (with_[item] == 0) {
                    met_.push_back(item);
                    least_[item] = without;
                }
                with_[item] += weight;
                least_[item] = std::min(least_[item], without);
            }
        }
        for (int32_t item : met_) body(item, with_[item], least_[item]);
        for (int32_t item : met_) with_[item] = 0;
        return everybody;
    }

    void weigh(Places places) {
        int64_t everybody = 0;
        for (const Place& place : places) everybody += rows_.weight(place.row);
        consequents_.clear();
        bool other = false;
        for_each_suspect(places, [&](int32_t item, int64_t with, int64_t) {
            if (!rho_.reached(with, everybody)) return;
            consequents_.push_back(item);
            other = other || !known_[item];
        });
        if (!other) return;
        std::ranges::sort(consequents_);
        add();
    }

    void grow(Places places) {
        control_.poll();
        if (places.size() == 1) return all_of(places[0].row, places[0].next);
        // Who may still be inferred further down: n_t bounds what the best antecedent there leaves.
        List<int32_t> hopeful;
        for_each_suspect(places, [&](int32_t item, int64_t with, int64_t least) {
            if (!known_[item] && least <= rho_.most_without(with)) hopeful.push_back(item);
        });
        if (hopeful.empty()) return;
        for (int32_t item : hopeful) known_[item] |= 2;
        struct Child {
            int32_t item;
            Index begin, end;
        };
        List<Child> children;
        Index entries = 0;
        for (const Place& place : places) {
            int32_t only = none;
            Index here = 0;
            for (const auto& suspect : suspects(place.row))
                if (known_[suspect.item] & 2) ++here, only = suspect.item;
            const auto row = rows_.row(place.row);
            for (Index i = place.next; i < row.size(); ++i) {
                int32_t& count = child_[row[i]];
                if (count == 0) children.push_back({row[i], 0, 0});
                count += 2;
                // A row counts for a child if something else than the child can be inferred in it.
                if (here > 1 || (here == 1 && only != row[i])) count |= 1;
            }
        }
        for (int32_t item : hopeful) known_[item] &= 1;
        for (Child& child : children) {
            int32_t& count = child_[child.item];
            child.begin = child.end = entries;
            if (count & 1) entries += count / 2;
            else child.item = none;
            count = 0;
        }
        std::erase_if(children, [](const Child& child) { return child.item == none; });
        for (Index c = 0; c < children.size(); ++c) child_[children[c].item] = int32_t(c) + 1;
        List<Place> below(entries);
        for (const Place& place : places) {
            const auto row = rows_.row(place.row);
            for (Index i = place.next; i < row.size(); ++i)
                if (const int32_t c = child_[row[i]]) below[children[c - 1].end++] = {place.row, int32_t(i) + 1};
        }
        for (const Child& child : children) child_[child.item] = 0;
        for (const Child& child : children) {
            step(child.item, Places(below).subspan(child.begin, child.end - child.begin));
            if (left_ < 0) return;
        }
    }

    // What is known is left in the list of what can be inferred, so that antecedents with the same rows share one.
    void add() { left_ -= int64_t(found_.add(antecedent_, consequents_)); }

    // One row is left: whatever is known of it besides, everything else in it follows.
    void all_of(int32_t r, int32_t next) {
        const auto row = rows_.row(r);
        if (antecedent_.size() == size_) {
            consequents_.clear();
            for (const auto& suspect : suspects(r)) consequents_.push_back(suspect.item);
            if (std::ranges::any_of(consequents_, [&](int32_t item) { return !known_[item]; })) {
                std::ranges::sort(consequents_);
                add();
            }
            return;
        }
        for (Index i = next; i + (size_ - antecedent_.size()) <= row.size() && --left_ >= 0; ++i) {
            antecedent_.push_back(row[i]);
            known_[row[i]] = 1;
            all_of(r, int32_t(i) + 1);
            known_[row[i]] = 0;
            antecedent_.pop_back();
        }
    }

    const Rows& rows_;
    View<int64_t> first_;
    View<Suspect> suspects_;
    Rho rho_;
    Index size_;
    std::atomic<int64_t>& left_;
    Control& control_;
    Found found_;
    List<int64_t> with_, least_;  // zeros between uses
    List<uint8_t> known_;         // 1: in the antecedent; 2: may be inferred further down
    List<int32_t> child_;
    List<int32_t> antecedent_, consequents_, met_;
};

}  // namespace veilset::rules
