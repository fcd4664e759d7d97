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

#include "rules/positives.hpp"
#include "rules/without.hpp"

namespace veilset::rules {

enum class Answer { safe, broken, undecided };

// One per thread: it keeps its scratch space.
class Search {
public:
    // population: of all transactions, those without any item included.
    Search(const Rows& rows, int64_t population, Rho rho, View<uint8_t> alive)
        : rows_(rows), rho_(rho), alive_(alive), positives_(rows), without_alpha_(rows, population),
          count_(rows.items(), 0), inside_(rows.items(), 0), taken_(rows.rows(), 0), itemless_(population) {
        for (int32_t r = 0; r < rows.rows(); ++r) itemless_ -= rows.weight(r);
    }

    // `first_look`: only antecedents that are all of a transaction but α, which are quickly looked at; safe means
    // nothing then. Or until the first violation, or go on and mark all rows that hold one.
    enum class Until { first_look, found, all };

    // `work`: how many items of rows may be looked at.
    Answer run(int32_t alpha, Wanted wanted, int64_t work, Until until, Control& control) {
        work_ = work;
        until_ = until;
        all_ = until == Until::all;
        control_ = &control;
        broken_ = false;
        witness_.clear();
        without_alpha_.begin(alpha);
        Answer answer;
        try {
            work_ -= positives_.load(alpha, wanted, alive_);
            answer = searched();
        } catch (...) {
            forget();
            throw;
        }
        spent_ += work - work_;
        without_alpha_.end();
        return answer;
    }

    int64_t spent() const { return spent_; }                   // how many items of rows were looked at, in all runs
    const List<int32_t>& witness() const { return witness_; }  // the antecedent of the first violation

    // body(row, n_t) for the rows in which a violating antecedent may lie: those that hold one if all were looked for,
    // else those that no bound has ruled out.
    template <class Body>
    void for_each_suspect(bool all_found, Body body) const {
        positives_.for_each_source([&](int32_t row, int32_t p) {
            if (all_found ? bool(marked_[p]) : p < good_) body(row, without_[p]);
        });
    }

private:
    using Cover = View<int32_t>;

    // After a stop in the middle of a search: the next one must not see what it left.
    void forget() {
        positives_.forget();
        without_alpha_.forget();
        std::ranges::fill(count_, 0);
        std::ranges::fill(inside_, 0);
        std::ranges::fill(taken_, 0);
        touched_.clear();
        chosen_of_branch_.clear();
    }

    bool over() const { return (broken_ && !all_) || work_ < 0; }

    Answer searched() {
        if (positives_.size() == 0 || enough_for_all()) return Answer::safe;
        count_without();
        if (work_ < 0) return Answer::undecided;
        if (broken_ && !all_) return Answer::broken;
        if (until_ == Until::first_look) return Answer::safe;
        List<int32_t> cover(positives_.size());
        std::iota(cover.begin(), cover.end(), 0);
        int64_t weight = positives_.weight();
        good_ = good(cover, weight);
        if (good_ > 0) node(Cover(cover).first(good_), weight, none);
        if (broken_ && !all_) return Answer::broken;
        if (work_ < 0) return Answer::undecided;
        return broken_ ? Answer::broken : Answer::safe;
    }

    // Shares out the rows without α, those positives first that have least to choose from. False proves nothing.
    bool enough_for_all() {
        const List<int32_t> order =
            ordered_by(positives_.size(), [&](int32_t p) { return -positives_.items(p).size(); });
        bool enough = true;
        for (Index i = 0; i < order.size() && enough && work_ >= 0; ++i) {
            if (i % 256 == 0) control_->poll();
            const int32_t p = order[i];
            int64_t wanted = rho_.most_without(positives_.weight(p)) + 1;
            without_alpha_.for_each(antecedent_of(p), work_, [&](int32_t r) {
                if (taken_[r] == 0) touched_.push_back(r);
                const int64_t taken = std::min(wanted, rows_.weight(r) - taken_[r]);
                taken_[r] += taken;
                wanted -= taken;
                return wanted > 0;
            });
            // Rows without items hold nothing, too.
            if (positives_.items(p).empty()) wanted -= itemless_;
            enough = wanted <= 0;
        }
        for (int32_t r : touched_) taken_[r] = 0;
        touched_.clear();
        return enough && work_ >= 0;
    }

    View<int32_t> antecedent_of(Index p) {
        chosen_.clear();
        for (int32_t item : positives_.items(p)) chosen_.push_back(positives_.code(item));
        return chosen_;
    }

    // n_t for every positive, which are then put in its order. More than any violating antecedent could have is not
    // counted.
    void count_without() {
        const int64_t most = rho_.most_without(positives_.weight());
        without_.assign(positives_.size(), 0);
        good_ = positives_.size();  // if that is too dear, every row is suspected still
        const auto violates = [&](Index p) {
            return rho_.reached(positives_.weight(p), positives_.weight(p) + without_[p]);
        };
        for (Index p = 0; p < positives_.size(); ++p) {
            if (p % 256 == 0) control_->poll();
            without_[p] = without_alpha_.weight(antecedent_of(p), most, work_);
            if (violates(p)) {
                found(chosen_);
                if (!all_) return;
            }
            if (work_ < 0) return;
        }
        const List<int32_t> order = ordered_by(positives_.size(), [&](int32_t p) { return without_[p]; });
        positives_.sort(order);
        std::ranges::sort(without_);
        marked_.assign(positives_.size(), 0);
        if (all_)
            for (Index p = 0; p < positives_.size(); ++p) marked_[p] = violates(p);
    }

    // How many of the first rows of a cover can be in that of a violating antecedent; `weight` becomes theirs.
    Index good(Cover cover, int64_t& weight) const {
        Index size = cover.size();
        for (bool again = true; again && size > 0;) {
            again = false;
            const int64_t most = rho_.most_without(weight);
            while (size > 0 && without_[cover[size - 1]] > most) {
                weight -= positives_.weight(cover[--size]);
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
            work_ -= positives_.items(p).size() + 1;
            for (int32_t item : positives_.items(p))
                if (count_[item]++ == 0) met.push_back(item);
        }
        if (work_ < 0) {
            for (int32_t item : met) count_[item] = 0;
            return;
        }
        const Index before = chosen_of_branch_.size();
        bool ours = true, wanted = positives_.required() == 0 || core != none;
        Index entries = 0;
        List<Child> children;
        for (int32_t item : met) {
            const Index holders = count_[item];
            if (inside_[item]) continue;
            if (holders == cover.size()) {
                ours = ours && item >= core;
                chosen_of_branch_.push_back(item);
                inside_[item] = 1;
                wanted = wanted || item < positives_.required();
            } else if (item > core) {
                children.push_back({item, entries, entries});
                entries += holders;
            }
        }
        for (int32_t item : met) count_[item] = 0;
        if (ours) {
            if (wanted) look(cover, weight);
            if (!over()) descend(cover, children, entries, wanted);
        }
        for (Index i = before; i < chosen_of_branch_.size(); ++i) inside_[chosen_of_branch_[i]] = 0;
        chosen_of_branch_.resize(before);
    }

    void look(Cover cover, int64_t weight) {
        const int64_t most = rho_.most_without(weight);
        // A row of the cover that is as large as the antecedent has been counted.
        if (without_[cover.back()] > most) return;
        chosen_.clear();
        for (int32_t item : chosen_of_branch_) chosen_.push_back(positives_.code(item));
        if (without_alpha_.weight(chosen_, most, work_) > most) return;
        found(chosen_);
        if (all_)
            for (int32_t p : cover) marked_[p] = 1;
    }

    void descend(Cover cover, List<Child>& children, Index entries, bool wanted) {
        if (!wanted) std::erase_if(children, [&](const Child& child) { return child.item >= positives_.required(); });
        if (children.empty()) return;
        List<int32_t> covers(entries);
        for (Index c = 0; c < children.size(); ++c) count_[children[c].item] = int32_t(c) + 1;
        for (int32_t p : cover)
            for (int32_t item : positives_.items(p))
                if (const int32_t c = count_[item]) covers[children[c - 1].end++] = p;
        for (const Child& child : children) count_[child.item] = 0;
        for (const Child& child : children) {
            const Cover below = Cover(covers).between(child.begin, child.end);
            int64_t weight = 0;
            for (int32_t p : below) weight += positives_.weight(p);
            if (const Index size = good(below, weight)) node(below.first(size), weight, child.item);
            if (over()) return;
        }
    }

    void found(View<int32_t> antecedent) {
        if (!broken_) witness_.assign(antecedent.begin(), antecedent.end());
        broken_ = true;
    }

    const Rows& rows_;
    Rho rho_;
    View<uint8_t> alive_;
    Positives positives_;  // by n_t, once that is counted; items are theirs from here on
    RowsWithout without_alpha_;
    List<int32_t> count_;    // item -> zero between uses
    List<uint8_t> inside_;   // item -> whether the antecedent under way holds it
    List<int64_t> taken_;    // row -> what positives have got of it
    List<int32_t> touched_;  // those rows
    int64_t itemless_;       // transactions that hold nothing

    Until until_ = Until::found;
    Control* control_ = nullptr;
    int64_t work_ = 0, spent_ = 0;
    bool all_ = false, broken_ = false;
    List<int32_t> witness_, chosen_;  // in the numbers of the rows
    List<int32_t> chosen_of_branch_;
    List<int64_t> without_;  // n_t of the positives
    List<uint8_t> marked_;
    Index good_ = 0;
};

}  // namespace veilset::rules
