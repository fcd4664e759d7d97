// What a few known items reveal inside long rows, without counting all itemsets of that size.
//
// Asked about the itemsets of a branch of up to p items that occur in some row: is one of them held by too few rows, or
// does one give a sensitive thing away? With con(X) for the rows that hold X and do no harm (for the first question:
// all rows) and pro(X) for those that do (the rows with the thing), both questions are one: is there an X with
//     value(X) = a·pro(X) − c·con(X) > least?
//
// This is a search for a small cover. To get from X to a part Y ⊇ X of a row r, items of r are added; what each takes
// away from con is the rows that lack it. So Y with `left` more items has at most
//     value(Y) ≤ value(X) + the sum of the `left` largest gains among the items of r,
//     gain(i) = c·(con rows that hold X and lack i) − a·(pro rows that hold X and lack i) / left,
// the last because the pro rows lost are at least as many as each item loses, hence at least the mean over the items
// added. Where rows are long and nearly equal, each item is lacked by few, and the bound ends the search at once.
//
// At a node, items are put in order by gain, the largest first. A child adds one of them, and those before it are not
// added any more: each Y is met below the first of its items. So a row r is only followed into the child of an item
// if that item and the next left − 1 items of r after it gain enough. A node without rows to follow is left.
//
// All con rows that hold all of r hold every part of it: with n of them, value(Y) ≤ a·pro − c·n for each Y in r. Rows
// that this settles are never followed. Of items that are in the same rows of a branch, one will do.
#pragma once

#include "audit/branch_masks.hpp"

namespace veilset::auditing {

struct Question {
    int32_t thing;  // none: how many rows hold an itemset; else what is given away, or any of the things
    int64_t pro_value, con_value, least;

    static Question held_by_less_than(int64_t k) { return {none, 0, 1, -k}; }
    static Question surer_than(int32_t thing, int64_t num, int64_t den) { return {thing, den - num, num, 0}; }
    int64_t value(int64_t pro, int64_t con) const { return pro_value * pro - con_value * con; }
};

// An itemset that answers a question with yes.
struct Reached {
    List<int32_t> items;  // vocabulary codes, ascending
    int64_t pro = 0, con = 0;
};

// Reads the branches of one thread, one after the other.
class FewItemsReader {
public:
    FewItemsReader(int64_t most_items, const Rows& rows, Control& control)
        : most_items_(most_items), rows_(rows), control_(control), masks_(rows, control), pro_(control), con_(control),
          missing_pro_(control), missing_con_(control), cohorts_(control), order_(control), followed_(control) {}

    // The rows of a branch, for the questions that follow; they may take so many steps.
    void open(int64_t branch, Work& work) {
        control_.poll();
        branch_ = branch;
        work_ = &work;
        masks_.read(branch, work);
    }
    // What the rows of the branch hold besides.
    const List<int32_t>& things() const { return masks_.things(); }

    // Whether there is such an itemset; the first one met.
    bool ask(const Question& question, Reached& reached) {
        question_ = question;
        cohorts_.clear();
        order_.clear();
        followed_.clear();
        frames_.clear();
        added_.clear();
        weigh();
        follow_rows();
        bool found = enter(0, reached);
        while (!found && !frames_.empty()) {
            control_.poll();
            found = go_on(reached);
        }
        if (found) name(reached);
        return found;
    }
    int64_t checked() const { return checked_; }

private:
    struct Candidate {
        int64_t gain;
        int32_t item;
    };
    struct Followed {
        Index place;  // of the item in the order
        int32_t row;
    };
    // A node: its parts of cohorts_, order_ and followed_. Of the last, those before `next` have been taken.
    struct Frame {
        Index cohort, order, followed, next;
        Index cohort_end, order_end, followed_end;
    };

    // The rows, equal ones together, by what they do to this question.
    void weigh() {
        const Index rows = masks_.rows();
        pro_.assign(rows, 0);
        con_.assign(rows, 0);
        const auto holders = rows_.holders(branch_);
        for (Index h = 0; h < holders.size(); ++h) {
            const auto carried = rows_.sensitive(holders[h].set);
            const bool harms = question_.thing != none && (question_.thing == rows_.kinds()
                                                               ? !carried.empty()
                                                               : std::ranges::binary_search(carried, question_.thing));
            (harms ? pro_ : con_)[masks_.row_of_holders()[h]] += holders[h].weight;
        }
        work_->spend(holders.size());
    }

    // All rows of the branch are its cohort. Of an answer, all parts are held by rows with the thing.
    void follow_rows() {
        taken_.clear();
        for (int32_t r = 0; r < masks_.rows(); ++r) {
            cohorts_.push_back(r);
            if (question_.thing == none || pro_[r] > 0) taken_.push_back(r);
        }
        allowed_.resize(masks_.items());
        std::iota(allowed_.begin(), allowed_.end(), 0);
    }

    // The next child of the last node.
    bool go_on(Reached& reached) {
        Frame& top = frames_.back();
        if (top.next == top.followed_end) {
            cohorts_.resize(top.cohort);
            order_.resize(top.order);
            followed_.resize(top.followed);
            frames_.pop_back();
            if (!added_.empty()) added_.pop_back();
            return false;
        }
        const Index place = followed_[top.next].place;
        taken_.clear();
        for (; top.next < top.followed_end && followed_[top.next].place == place; ++top.next)
            taken_.push_back(followed_[top.next].row);
        allowed_.clear();
        for (Index at = place + 1; at < top.order_end; ++at) allowed_.push_back(order_[at].item);
        const int32_t item = order_[place].item;
        const Index begin = cohorts_.size();
        for (Index c = top.cohort; c < top.cohort_end; ++c)
            if (masks_.holds(cohorts_[c], item)) cohorts_.push_back(cohorts_[c]);
        added_.push_back(item);
        work_->spend(top.cohort_end - top.cohort + allowed_.size());
        return enter(begin, reached);
    }

    // A node, whose cohort begins here: true if it answers the question. It is kept if there is more to look at.
    bool enter(Index begin, Reached& reached) {
        ++checked_;
        if (taken_.empty()) return leave(begin);
        int64_t pro = 0, con = 0;
        for (Index c = begin; c < cohorts_.size(); ++c) {
            pro += pro_[cohorts_[c]];
            con += con_[cohorts_[c]];
        }
        const int64_t needed = question_.least - question_.value(pro, con);
        if (needed < 0) {
            reached = {{}, pro, con};
            return true;
        }
        const int64_t left = most_items_ - 1 - added_.size();
        if (left == 0 || question_.con_value * con <= needed) return leave(begin);
        measure(begin, pro, con);
        const Index order = order_.size(), followed = followed_.size();
        for (int32_t item : allowed_) {
            const int64_t gain =
                question_.con_value * missing_con_[item] - question_.pro_value * missing_pro_[item] / left;
            if (gain > 0) order_.push_back({gain, item});
        }
        std::sort(order_.begin() + order, order_.end(), [](const Candidate& a, const Candidate& b) {
            return a.gain != b.gain ? a.gain > b.gain : a.item < b.item;
        });
        int64_t most = 0;
        for (Index at = order; at < std::min(order + left, order_.size()); ++at) most += order_[at].gain;
        if (most > needed) {
            for (int32_t r : taken_) {
                const Index before = followed_.size();
                follow(r, order, left, needed);
                if (followed_.size() > before && settled(r, begin, question_.pro_value * pro)) followed_.resize(before);
            }
        }
        if (followed_.size() == followed) {
            order_.resize(order);
            return leave(begin);
        }
        std::sort(followed_.begin() + followed, followed_.end(), [](const Followed& a, const Followed& b) {
            return a.place != b.place ? a.place < b.place : a.row < b.row;
        });
        frames_.push_back({begin, order, followed, followed, cohorts_.size(), order_.size(), followed_.size()});
        return false;
    }
    bool leave(Index begin) {
        cohorts_.resize(begin);
        if (!added_.empty()) added_.pop_back();
        return false;
    }

    // How many rows of the cohort lack each of the items allowed. A row is read by what it lacks, or by what it holds.
    void measure(Index begin, int64_t pro, int64_t con) {
        mask_.assign(masks_.words(), 0);
        for (int32_t item : allowed_) mask_[item >> 6] |= uint64_t(1) << (item & 63);
        missing_pro_.assign(masks_.items(), 0);
        missing_con_.assign(masks_.items(), 0);
        int64_t steps = 0;
        for (Index c = begin; c < cohorts_.size(); ++c) {
            control_.poll();
            const int32_t r = cohorts_[c];
            const auto row = masks_.mask(r);
            Index held = 0;
            for (Index w = 0; w < masks_.words(); ++w) held += std::popcount(row[w] & mask_[w]);
            const bool by_held = 2 * held < allowed_.size();
            // What it does not hold is all but what it holds.
            const int64_t sign = by_held ? -1 : 1;
            pro -= by_held ? 0 : pro_[r];
            con -= by_held ? 0 : con_[r];
            for (Index w = 0; w < masks_.words(); ++w)
                for (uint64_t bits = (by_held ? row[w] : ~row[w]) & mask_[w]; bits != 0; bits &= bits - 1) {
                    const Index item = w * 64 + std::countr_zero(bits);
                    missing_pro_[item] += sign * pro_[r];
                    missing_con_[item] += sign * con_[r];
                    ++steps;
                }
        }
        for (int32_t item : allowed_) {
            missing_pro_[item] += pro;
            missing_con_[item] += con;
        }
        work_->spend(steps + (cohorts_.size() - begin) * masks_.words() + allowed_.size());
    }

    // Into which children a row is followed: that with the items after it gains enough.
    void follow(int32_t row, Index order, int64_t left, int64_t needed) {
        held_.clear();
        int64_t sum = 0;
        for (Index at = order; at < order_.size(); ++at) {
            if (!masks_.holds(row, order_[at].item)) continue;
            held_.push_back(at);
            sum += order_[at].gain;
            const Index first = held_.size() - left;
            if (first < 0) continue;
            if (sum <= needed) break;
            followed_.push_back({held_[first], row});
            sum -= order_[held_[first]].gain;
        }
        // Less than `left` items are left after these.
        for (Index first = std::max<Index>(0, held_.size() - left + 1); sum > needed; ++first) {
            followed_.push_back({held_[first], row});
            sum -= order_[held_[first]].gain;
        }
        work_->spend(order_.size() - order);
    }

    // Whether too many rows hold all of this one that may be added, for whatever value the others have.
    bool settled(int32_t row, Index begin, int64_t value) {
        const auto part = masks_.mask(row);
        Index size = 0, c = begin;
        for (Index w = 0; w < masks_.words(); ++w) size += std::popcount(part[w] & mask_[w]);
        for (; c < cohorts_.size() && value > question_.least && masks_.size(cohorts_[c]) >= size; ++c) {
            const auto whole = masks_.mask(cohorts_[c]);
            Index w = 0;
            while (w < masks_.words() && !(part[w] & mask_[w] & ~whole[w])) ++w;
            if (w == masks_.words()) value -= question_.con_value * con_[cohorts_[c]];
        }
        work_->spend((c - begin) * masks_.words());
        return value <= question_.least;
    }

    void name(Reached& reached) const {
        reached.items.push_back(rows_.item(int32_t(branch_)));
        for (int32_t item : added_) reached.items.push_back(masks_.code(item));
        std::ranges::sort(reached.items);
    }

    int64_t most_items_;
    const Rows& rows_;
    Control& control_;
    Work* work_ = nullptr;
    int64_t branch_ = 0;
    BranchMasks masks_;
    Question question_{};
    Vector<int64_t> pro_, con_;  // by row
    Vector<int64_t> missing_pro_, missing_con_;
    Vector<int32_t> cohorts_;
    Vector<Candidate> order_;
    Vector<Followed> followed_;
    List<Frame> frames_;
    List<int32_t> added_, taken_, allowed_;  // taken_: rows to follow into the node that is entered
    List<Index> held_;
    List<uint64_t> mask_;  // the items allowed
    int64_t checked_ = 0;
};

}  // namespace veilset::auditing
