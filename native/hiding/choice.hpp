// A choice among contested occurrences (hiding/claims.hpp) that brings every hidden pattern (and rule) below its
// limits, and puts back what need not have gone.
//
// Rows that hold no hidden pattern may be missing; supports and the number of rows are then told for all of them.
// Chance depends on what a row holds and on which of the equal rows it is, not on where it is.
//
// A claim counts towards the support of its pattern while none of its occurrences is missing. A pattern that falls far
// below what independent items would have stands out, so one that has come down there is spared like a pattern to keep:
// its items may have to go for other hidden patterns, too.
#pragma once

#include <tuple>

#include "core/random.hpp"
#include "hiding/claims.hpp"
#include "hiding/keep.hpp"

namespace veilset::hiding {

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
    Choice(const Csr& data, View<int64_t> copy, const Csr& patterns, const Csr& antecedents, const Claims& claims,
           List<Limit> limits, View<int64_t> support, int64_t rows, uint64_t seed, Control& control)
        : data_(data), copy_(copy), patterns_(patterns), antecedents_(antecedents), claims_(claims),
          limits_(std::move(limits)), rows_(double(rows)), seed_(seed), control_(control),
          kept_(claims.occurrences(), 1, control), missing_(claims.size(), 0, control),
          order_(claims.occurrences(), 0, control), value_(control), together_(limits_.size(), 0),
          antecedent_(limits_.size(), 0), all_(support.begin(), support.end()), support_(all_),
          confident_(std::ranges::any_of(limits_, [](const Limit& l) { return l.num > 0; })) {
        for (Index c = 0; c < order_.size(); ++c) order_[c] = chances(seed ^ order_salt, c).of(claims.item(c));
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
    Chances chances(uint64_t seed, Index occurrence) const {
        const int64_t row = claims_.row[occurrence];
        return Chances(seed, data_.row(row), copy_[row]);
    }
    bool hidden(Index p) const { return limits_[p].met(together_[p], antecedent_[p]); }
    bool is_pattern(Index claim) const { return claims_.wants[claim] < limits_.size(); }
    int64_t& count_of(Index claim) {
        const Index p = claims_.wants[claim];
        return p < limits_.size() ? together_[p] : antecedent_[p - limits_.size()];
    }

    void restore(View<uint8_t> state, uint64_t odds) {
        for (Index c = 0; c < kept_.size(); ++c) {
            const uint8_t s = state[claims_.place[c]];
            kept_[c] = s == 2 ? chances(seed_, c).of(claims_.item(c)) < odds : s;
            control_.poll();
        }
        count();
    }

    void count() {
        support_ = all_;
        for (Index c = 0; c < kept_.size(); ++c) support_[claims_.item(c)] -= !kept_[c];
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
        int64_t cost, helps, occurrence, claim;
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
        if (limit.num == 0 || antecedent_[p] == 0) return hide(p, false);
        const int64_t unsure = int64_t((Wide(limit.num) * antecedent_[p] - 1) / limit.den);  // so many may be left
        const auto cost = [&](int64_t left, bool consequent) {
            std::pair<Wide, int64_t> sum(0, together_[p] - left);
            Vector<Victim> victims = candidates(p, consequent);
            if (victims.empty()) return std::pair(Wide(1) << 126, sum.second);  // only its antecedent may go
            std::nth_element(victims.begin(), victims.begin() + (sum.second - 1), victims.end());
            for (const Victim& victim : View(victims).first(sum.second)) sum.first += victim.cost;
            return sum;
        };
        return hide(p, cost(unsure, true) < cost(limit.most, false));
    }

    // Takes out the cheapest item of each transaction of a pattern, those first whose item is cheapest, until it is
    // hidden. As they go, the others help less and cost more. So the cheapest one is looked at once more, and waits for
    // its turn if it no longer is.
    int64_t hide(Index p, bool consequent) {
        Vector<Victim> heap = candidates(p, consequent);
        const auto later = [](const Victim& a, const Victim& b) { return b < a; };
        std::ranges::make_heap(heap, later);
        int64_t removed = 0;
        while (!hidden(p)) {
            std::ranges::pop_heap(heap, later);
            const Victim now = cheapest(heap.back().claim, p, consequent);
            if (heap.size() > 1 && heap.front() < now) {
                heap.back() = now;
                std::ranges::push_heap(heap, later);
            } else {
                take_out(now.occurrence);
                heap.pop_back();
                ++removed;
            }
            control_.poll();
        }
        return removed;
    }

    // For each transaction that counts for a pattern the item to take; nothing if one has none.
    Vector<Victim> candidates(Index p, bool consequent) const {
        Vector<Victim> victims(control_);
        for (int64_t claim : claims_.of_pattern[p]) {
            if (missing_[claim] != 0) continue;
            victims.push_back(cheapest(claim, p, consequent));
            if (victims.back().occurrence < 0) return Vector<Victim>(control_);
            control_.poll();
        }
        return victims;
    }

    Victim cheapest(int64_t claim, Index p, bool consequent) const {
        const auto led = antecedents_.row(p);
        Victim best{0, 0, -1, claim, 0};
        for (int64_t c : claims_.needs[claim]) {
            const int32_t item = claims_.item(c);
            if ((!only_.empty() && item != only_[p]) || (consequent && std::ranges::binary_search(led, item))) continue;
            const Victim candidate = victim(c, claim);
            if (best.occurrence < 0 || candidate < best) best = candidate;
        }
        return best;
    }

    // An occurrence that is to go for a claim: it helps to hide all patterns that are still found, and costs those that
    // are too rare already as much as a pattern to keep that is barely found.
    Victim victim(int64_t c, int64_t claim) const {
        Victim found{value_[c], 0, c, claim, order_[c]};
        for (int64_t other : claims_.of_occurrence[c]) {
            if (!is_pattern(other) || missing_[other] != 0) continue;
            const Index p = claims_.wants[other];
            if (!hidden(p)) ++found.helps;
            else if (double(together_[p]) <= independent(p)) found.cost += most_weight;
        }
        return found;
    }

    // How many transactions would hold a pattern if its items were independent, as often as they are there now.
    double independent(Index p) const {
        double expected = rows_;
        for (int32_t i : patterns_.row(p)) expected *= double(support_[i]) / rows_;
        return expected;
    }

    void take_out(int64_t c) {
        --support_[claims_.item(c)];
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
        support_[claims_.item(c)] += good;
        return good;
    }

    Csr data_;
    View<int64_t> copy_;
    Csr patterns_, antecedents_;
    const Claims& claims_;
    List<Limit> limits_;
    double rows_;  // that there are
    uint64_t seed_;
    Control& control_;
    Vector<uint8_t> kept_;                 // contested occurrence -> whether it is kept
    Vector<int32_t> missing_;              // claim -> how many of its occurrences are not
    Vector<uint64_t> order_;               // contested occurrence -> its place among equals
    View<int32_t> only_;                   // pattern -> the item that may be its victim; or empty
    Vector<int64_t> value_;                // contested occurrence -> what it is worth to the patterns to keep
    List<int64_t> together_, antecedent_;  // pattern -> its support, and that of its antecedent
    List<int64_t> all_, support_;          // item -> in how many transactions it was, and is
    bool confident_;
};

}  // namespace veilset::hiding
