// Is there a sensitive rule χ -> α of confidence ρ or more? Decided without looking at every χ.
//
// Let P be the rows that hold α (the positives). Only antecedents closed in P matter: the items that all positives of χ
// hold give the same sup(χα), and no larger sup(χ).
//
// For a positive t let n_t be the weight of the rows that hold t\α and not α. They hold every χ within t: n(χ) >= n_t.
// A χ with the positives C and the weight w(C) violates only if n(χ) <= w(C) (1 - ρ) / ρ =: c w(C). So no violating χ
// has a positive with n_t > c w(C), and neither has one further down, where the weight is smaller: such rows are left
// out, again and again as the weight falls. Where none is left there is nothing to find. For a χ that is in a row that
// was left out, sup(χα) is counted too small; it violates neither way, since it violates with no such row.
//
// Most proofs need less. Share out the weight of the rows without α among the positives t whose t\α they hold. If every
// t gets more than c w(t), then n(χ) is at least the sum of what the positives of χ got, which is more than c w(C): no
// χ violates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/control.hpp"
#include "rules/rows.hpp"

namespace veilset::rules {

enum class Answer { safe, broken, undecided };

// One per thread: it keeps its scratch space.
class Search {
public:
    // population: of all transactions, those without any item included.
    Search(const Rows& rows, int64_t population, Rho rho, View<uint8_t> alive)
        : rows_(rows), population_(population), rho_(rho), alive_(alive), has_alpha_(rows.rows(), 0),
          count_(rows.items(), 0), local_(rows.items(), none), inside_(rows.items(), 0), needs_(rows.items(), 0),
          taken_(rows.rows(), 0) {
        for (int32_t r = 0; r < rows.rows(); ++r) everything_ += rows.weight(r);
    }

    // What an antecedent must hold: an item (`base`), or one of those below `required` (0: need not).
    struct Wanted {
        int32_t base = none;
        int32_t required = 0;
    };

    // `first_look`: only antecedents that are all of a transaction but α, which are quickly looked at; safe means
    // nothing then. Or until the first violation, or go on and mark all rows that hold one.
    enum class Until { first_look, found, all };

    // `work`: how many items of rows may be looked at.
    Answer run(int32_t alpha, Wanted wanted, int64_t work, Until until, Control& control) {
        alpha_ = alpha;
        wanted_ = wanted;
        work_ = work;
        until_ = until;
        all_ = until == Until::all;
        control_ = &control;
        broken_ = false;
        witness_.clear();
        for (int32_t r : rows_.holders(alpha)) has_alpha_[r] = 1;
        Answer answer;
        try {
            answer = searched();
        } catch (...) {
            forget();
            throw;
        }
        spent_ += work - work_;
        for (int32_t r : rows_.holders(alpha)) has_alpha_[r] = 0;
        for (int32_t item : codes_) {
            local_[item] = none;
            inside_[item] = 0;
        }
        return answer;
    }

    int64_t spent() const { return spent_; }                   // how many items of rows were looked at, in all runs
    const List<int32_t>& witness() const { return witness_; }  // the antecedent of the first violation

    // body(row, n_t) for the rows in which a violating antecedent may lie: those that hold one if all were looked for,
    // else those that no bound has ruled out.
    template <class Body>
    void for_each_suspect(bool all_found, Body body) const {
        for (const auto& [row, positive] : sources_) {
            const Index at = place_[positive];
            if (all_found ? bool(marked_[at]) : int64_t(at) < good_) body(row, without_[at]);
        }
    }

private:
    using Cover = View<int32_t>;

    // After a stop in the middle of a search: the next one must not see what it left.
    void forget() {
        std::ranges::fill(has_alpha_, 0);
        std::ranges::fill(count_, 0);
        std::ranges::fill(local_, none);
        std::ranges::fill(inside_, 0);
        std::ranges::fill(needs_, 0);
        std::ranges::fill(taken_, 0);
        touched_.clear();
        chosen_of_branch_.clear();
    }

    Answer searched() {
        project();
        if (weights_.empty() || enough_for_all()) return Answer::safe;
        count_without();
        if (work_ < 0) return Answer::undecided;
        if (broken_ && !all_) return Answer::broken;
        if (until_ == Until::first_look) return Answer::safe;
        List<int32_t> cover(weights_.size());
        int64_t weight = 0;
        for (Index p = 0; p < cover.size(); ++p) {
            cover[p] = int32_t(p);
            weight += weights_[p];
        }
        good_ = int64_t(good(cover, weight));
        if (good_ > 0) node(Cover(cover).first(good_), weight, none);
        if (broken_ && !all_) return Answer::broken;
        if (work_ < 0) return Answer::undecided;
        return broken_ ? Answer::broken : Answer::safe;
    }

    // The positives with α left out and the items renumbered: first the required ones, then the rarest first; equal
    // ones merged.
    void project() {
        codes_.clear();
        sources_.clear();
        List<std::pair<int64_t, int32_t>> found;  // a row's part of flat, and the row
        List<int32_t> flat;
        for (int32_t r : rows_.holders(alpha_)) {
            const auto row = rows_.row(r);
            if (wanted_.base != none && !std::ranges::binary_search(row, wanted_.base)) continue;
            if (wanted_.required && row.front() >= wanted_.required) continue;
            found.push_back({flat.size(), r});
            for (int32_t item : row)
                if (item != alpha_ && alive_[item]) {
                    if (count_[item]++ == 0) codes_.push_back(item);
                    flat.push_back(item);
                }
        }
        std::ranges::sort(codes_, [&](int32_t a, int32_t b) {
            const bool first = a < wanted_.required, second = b < wanted_.required;
            if (first != second) return first;
            const int32_t here = count_[a], there = count_[b];
            return here != there ? here < there : a < b;
        });
        required_ = int32_t(std::ranges::count_if(codes_, [&](int32_t item) { return item < wanted_.required; }));
        for (Index i = 0; i < codes_.size(); ++i) {
            local_[codes_[i]] = int32_t(i);
            count_[codes_[i]] = 0;
        }
        work_ -= flat.size();
        found.push_back({flat.size(), none});
        List<int32_t> order(found.size() - 1);
        for (Index f = 0; f < order.size(); ++f) {
            order[f] = int32_t(f);
            for (int64_t i = found[f].first; i < found[f + 1].first; ++i) flat[i] = local_[flat[i]];
            std::sort(flat.begin() + found[f].first, flat.begin() + found[f + 1].first);
        }
        const auto items_of = [&](int32_t f) {
            return View(flat).subspan(found[f].first, found[f + 1].first - found[f].first);
        };
        std::ranges::sort(order, [&](int32_t a, int32_t b) {
            return std::ranges::lexicographical_compare(items_of(a), items_of(b));
        });
        offsets_.assign(1, 0);
        items_.clear();
        weights_.clear();
        for (Index i = 0; i < order.size(); ++i) {
            const auto items = items_of(order[i]);
            if (i == 0 || !std::ranges::equal(items, items_of(order[i - 1]))) {
                items_.insert(items_.end(), items.begin(), items.end());
                offsets_.push_back(items_.size());
                weights_.push_back(0);
            }
            const int32_t r = found[order[i]].second;
            weights_.back() += rows_.weight(r);
            sources_.push_back({r, int32_t(weights_.size()) - 1});
        }
    }

    // Shares out the rows without α, those positives first that have least to choose from. False proves nothing.
    bool enough_for_all() {
        List<int32_t> order(weights_.size());
        for (Index p = 0; p < order.size(); ++p) order[p] = int32_t(p);
        std::ranges::stable_sort(order, std::greater{}, [&](int32_t p) { return offsets_[p + 1] - offsets_[p]; });
        bool enough = true;
        for (Index i = 0; i < order.size() && enough && work_ >= 0; ++i) {
            if (i % 256 == 0) control_->poll();
            const int32_t p = order[i];
            int64_t wanted = rho_.most_without(weights_[p]) + 1;
            for_each_without(antecedent_of(p), [&](int32_t r) {
                if (taken_[r] == 0) touched_.push_back(r);
                const int64_t taken = std::min(wanted, rows_.weight(r) - taken_[r]);
                taken_[r] += taken;
                wanted -= taken;
                return wanted > 0;
            });
            // Rows without items hold nothing, too.
            if (offsets_[p] == offsets_[p + 1]) wanted -= population_ - everything_;
            enough = wanted <= 0;
        }
        for (int32_t r : touched_) taken_[r] = 0;
        touched_.clear();
        return enough && work_ >= 0;
    }

    View<int32_t> antecedent_of(int32_t p) {
        chosen_.clear();
        for (int64_t i = offsets_[p]; i < offsets_[p + 1]; ++i) chosen_.push_back(codes_[items_[i]]);
        return chosen_;
    }

    // n_t for every positive, which are then put in its order. More than any violating antecedent could have is not
    // counted.
    void count_without() {
        int64_t everybody = 0;
        for (int64_t weight : weights_) everybody += weight;
        const int64_t most = rho_.most_without(everybody);
        without_.assign(weights_.size(), 0);
        // If that is too dear, every row is suspected still.
        good_ = weights_.size();
        place_.resize(weights_.size());
        for (Index p = 0; p < place_.size(); ++p) place_[p] = int32_t(p);
        for (Index p = 0; p < weights_.size(); ++p) {
            if (p % 256 == 0) control_->poll();
            without_[p] = without(antecedent_of(int32_t(p)), most);
            if (rho_.reached(weights_[p], weights_[p] + without_[p])) {
                found(chosen_);
                if (!all_) return;
            }
            if (work_ < 0) return;
        }
        List<int32_t> order(weights_.size());
        for (Index p = 0; p < order.size(); ++p) order[p] = int32_t(p);
        std::ranges::stable_sort(order, {}, [&](int32_t p) { return without_[p]; });
        List<int64_t> offsets(1, 0), weights, counted;
        List<int32_t> items;
        items.reserve(items_.size());
        for (Index i = 0; i < order.size(); ++i) {
            const Index p = order[i];
            place_[p] = int32_t(i);
            items.insert(items.end(), items_.begin() + offsets_[p], items_.begin() + offsets_[p + 1]);
            offsets.push_back(items.size());
            weights.push_back(weights_[p]);
            counted.push_back(without_[p]);
        }
        items_.swap(items);
        offsets_.swap(offsets);
        weights_.swap(weights);
        without_.swap(counted);
        marked_.assign(weights_.size(), 0);
        if (all_)
            for (Index p = 0; p < weights_.size(); ++p)
                marked_[p] = rho_.reached(weights_[p], weights_[p] + without_[p]);
    }

    // The weight of the rows that hold all of `antecedent` and not α, or more than `most`.
    int64_t without(View<int32_t> antecedent, int64_t most) {
        if (antecedent.empty()) return population_ - rows_.support(alpha_);
        int64_t weight = 0;
        for_each_without(antecedent, [&](int32_t r) { return (weight += rows_.weight(r)) <= most; });
        return weight;
    }

    // body(row) for the rows that hold all of `antecedent` and not α, as long as it says true.
    template <class Body>
    void for_each_without(View<int32_t> antecedent, Body body) {
        work_ -= antecedent.size();
        if (antecedent.empty()) {
            for (int32_t r = 0; r < rows_.rows(); ++r) {
                --work_;
                if (!has_alpha_[r] && !body(r)) return;
            }
            return;
        }
        const int32_t rarest =
            *std::ranges::min_element(antecedent, {}, [&](int32_t item) { return rows_.holders(item).size(); });
        if (rows_.has_bits()) {
            needed_.clear();
            for (int32_t item : antecedent) {
                const auto same = std::ranges::find(needed_, item / 64, &Needed::word);
                if (same == needed_.end()) needed_.push_back({item / 64, uint64_t(1) << (item % 64)});
                else same->bits |= uint64_t(1) << (item % 64);
            }
            for (int32_t r : rows_.holders(rarest)) {
                --work_;
                if (has_alpha_[r]) continue;
                const uint64_t* bits = rows_.bits(r);
                if (std::ranges::all_of(
                        needed_, [&](const Needed& need) { return (bits[need.word] & need.bits) == need.bits; }) &&
                    !body(r))
                    return;
            }
            return;
        }
        for (int32_t item : antecedent) needs_[item] = 1;
        for (int32_t r : rows_.holders(rarest)) {
            --work_;
            const auto row = rows_.row(r);
            if (has_alpha_[r] || row.size() < antecedent.size()) continue;
            Index held = 0, left = row.size();
            for (int32_t item : row) {
                held += needs_[item];
                if (held + --left < antecedent.size()) break;
            }
            if (held == antecedent.size() && !body(r)) break;
        }
        for (int32_t item : antecedent) needs_[item] = 0;
    }

    // How many of the first rows of a cover can be in that of a violating antecedent; `weight` becomes theirs.
    Index good(Cover cover, int64_t& weight) const {
        Index size = cover.size();
        for (bool again = true; again && size > 0;) {
            again = false;
            const int64_t most = rho_.most_without(weight);
            while (size > 0 && without_[cover[size - 1]] > most) {
                weight -= weights_[cover[--size]];
                again = true;
            }
        }
        return size;
    }

    struct Child {
        int32_t item;
        Index begin, end;
    };

    // All closed antecedents with this cover and below, whose items up to `core` are those inside already (Uno's
    // prefix-preserving extension, by which each is met once: an item before the core that joins now has had its turn).
    void node(Cover cover, int64_t weight, int32_t core) {
        control_->poll();
        if (all_ && std::ranges::all_of(cover, [&](int32_t p) { return bool(marked_[p]); })) return;
        List<int32_t> met;
        for (int32_t p : cover) {
            work_ -= offsets_[p + 1] - offsets_[p] + 1;
            for (int64_t i = offsets_[p]; i < offsets_[p + 1]; ++i)
                if (count_[items_[i]]++ == 0) met.push_back(items_[i]);
        }
        if (work_ < 0) {
            for (int32_t item : met) count_[item] = 0;
            return;
        }
        const Index before = chosen_of_branch_.size();
        bool ours = true, wanted = required_ == 0 || core != none;
        Index entries = 0;
        List<Child> children;
        for (int32_t item : met) {
            const Index holders = count_[item];
            if (inside_[codes_[item]]) continue;
            if (holders == cover.size()) {
                ours = ours && item >= core;
                chosen_of_branch_.push_back(codes_[item]);
                inside_[codes_[item]] = 1;
                wanted = wanted || item < required_;
            } else if (item > core) {
                children.push_back({item, entries, entries});
                entries += holders;
            }
        }
        for (int32_t item : met) count_[item] = 0;
        if (ours) {
            if (wanted) look(cover, weight);
            if (!(broken_ && !all_) && work_ >= 0) descend(cover, children, entries, wanted);
        }
        for (Index i = before; i < chosen_of_branch_.size(); ++i) inside_[chosen_of_branch_[i]] = 0;
        chosen_of_branch_.resize(before);
    }

    void look(Cover cover, int64_t weight) {
        const int64_t most = rho_.most_without(weight);
        // A row of the cover that is as large as the antecedent has been counted.
        if (without_[cover.back()] > most || without(chosen_of_branch_, most) > most) return;
        found(chosen_of_branch_);
        if (all_)
            for (int32_t p : cover) marked_[p] = 1;
    }

    void descend(Cover cover, List<Child>& children, Index entries, bool wanted) {
        if (!wanted) std::erase_if(children, [&](const Child& child) { return child.item >= required_; });
        if (children.empty()) return;
        List<int32_t> covers(entries);
        for (Index c = 0; c < children.size(); ++c) count_[children[c].item] = int32_t(c) + 1;
        for (int32_t p : cover)
            for (int64_t i = offsets_[p]; i < offsets_[p + 1]; ++i)
                if (const int32_t c = count_[items_[i]]) covers[children[c - 1].end++] = p;
        for (const Child& child : children) count_[child.item] = 0;
        for (const Child& child : children) {
            const Cover below = Cover(covers).subspan(child.begin, child.end - child.begin);
            int64_t weight = 0;
            for (int32_t p : below) weight += weights_[p];
            if (const Index size = good(below, weight)) node(below.first(size), weight, child.item);
            if ((broken_ && !all_) || work_ < 0) return;
        }
    }

    void found(View<int32_t> antecedent) {
        if (!broken_) witness_.assign(antecedent.begin(), antecedent.end());
        broken_ = true;
    }

    const Rows& rows_;
    int64_t population_;
    Rho rho_;
    View<uint8_t> alive_;
    List<uint8_t> has_alpha_;  // row -> whether it holds α
    List<int32_t> count_;      // zeros between uses; by item or by local number
    List<int32_t> local_;      // item -> its local number
    List<uint8_t> inside_;     // item -> whether the antecedent under way holds it
    List<uint8_t> needs_;      // item -> whether a row has to hold it
    List<int64_t> taken_;      // row -> what positives have got of it
    List<int32_t> touched_;    // those rows
    int64_t everything_ = 0;   // the weight of all rows that hold something

    struct Needed {
        int32_t word;
        uint64_t bits;
    };
    List<Needed> needed_;

    int32_t alpha_ = none, required_ = 0;
    Wanted wanted_;
    Until until_ = Until::found;
    Control* control_ = nullptr;
    int64_t work_ = 0, spent_ = 0;
    bool all_ = false, broken_ = false;
    List<int32_t> witness_, chosen_, chosen_of_branch_;
    List<int32_t> codes_;                        // local number -> item
    List<std::pair<int32_t, int32_t>> sources_;  // row -> its positive, by number before sorting
    List<int32_t> place_;                        // that number -> number after sorting
    List<int64_t> offsets_, weights_, without_;  // the positives, by n_t
    List<int32_t> items_;
    List<uint8_t> marked_;
    int64_t good_ = 0;
};

}  // namespace veilset::rules
