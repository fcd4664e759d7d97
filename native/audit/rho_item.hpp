// One sensitive item under examination: the rules that are cheap to count, and the short antecedents that readers are
// shown.
#pragma once

#include "audit/rho_rows.hpp"
#include "audit/rho_rules.hpp"
#include "audit/rho_search.hpp"

namespace veilset::auditing {

// Severity: the surer first; then what more people are affected by; then fewer items; then the order of these.
inline bool more_severe(const Rule& a, const Rule& b) {
    if (a.surer_than(b)) return true;
    if (b.surer_than(a)) return false;
    if (a.with != b.with) return a.with > b.with;
    if (a.items.size() != b.items.size()) return a.items.size() < b.items.size();
    return a.items < b.items;
}

// Working memory of one thread, reused from one sensitive item to the next.
class Examiner {
public:
    Examiner(const MergedRows& rows, Work& work, Control& control)
        : rows_(rows), work_(work), control_(control), is_positive_(rows.rows(), 0, control),
          with_(rows.numbers(), 0, control), met_(control), positives_(control), others_(control),
          shared_(rows.rows(), 0, control), sharing_(control), cover_with_(rows.numbers(), 0, control),
          cover_without_(rows.items(), 0, control), search_(rows, is_positive_, work, control) {}

    void begin(int32_t sensitive) {
        sensitive_ = sensitive;
        int64_t steps = 0;
        for (int32_t r : rows_.holders(sensitive)) {
            control_.poll();
            is_positive_[r] = 1;
            steps += rows_.row(r).size();
            for (int32_t item : rows_.row(r)) {
                if (with_[item] == 0 && item != sensitive) met_.push_back(item);
                with_[item] += rows_.weight(r);
            }
        }
        work_.spend(steps);
    }
    void end() {
        for (int32_t r : rows_.holders(sensitive_)) is_positive_[r] = 0;
        for (int32_t item : met_) with_[item] = 0;
        with_[sensitive_] = 0;
        met_.clear();
    }

    // The most severe rule whose antecedent is empty or one item.
    Rule simplest() {
        const int64_t all = rows_.support(sensitive_);
        Rule most{all, rows_.transactions() - all, {}};
        for (int32_t item : met_) keep_more_severe(item, with_[item], rows_.support(item) - with_[item], most);
        checked_ += 1 + met_.size();
        return most;
    }

    // Proves what can be proven without a search, and prepares one for the rest. The answer is the surest t∖α among
    // those that may reach the threshold; if one does and not `all` are asked for, the first.
    //
    // Each row without α is shared out among the positives t whose rest t∖α it holds; let m_t be what t gets. A row
    // with a share for some t in the cover of χ holds χ. So n(χ) is at least the sum of m_t over the cover. If every t
    // in it has m_t·a > w_t·(b − a), then n·a > w·(b − a), and χ does not reach a/b: every cover of a rule that does
    // has an *open* row, one that got less.
    //
    // A row t is left out of all covers once its n_t is known to be too large for the weight they can have: an
    // antecedent of two items or more of t has a cover of no more than the second largest among the weights with which
    // items of t occur together with α. It gets no share, either.
    //
    // To count n_t is over soon where it is too large. Where all are asked for, after a proof, that takes no more
    // steps.
    Rule whole_rows(Threshold threshold, bool all) {
        positives_.clear();
        Rule most;
        for (int32_t r : rows_.holders(sensitive_)) {
            control_.poll();
            itemset_.clear();
            int64_t largest = 0, second = 0;
            for (int32_t item : rows_.row(r)) {
                if (item == sensitive_) continue;
                itemset_.push_back(item);
                second = std::max(second, std::min(largest, with_[item]));
                largest = std::max(largest, with_[item]);
            }
            if (itemset_.size() < 2) break;  // here and in all rows that follow: a case for simplest()
            const int64_t holders = rows_.support(itemset_.front());
            work_.spend(itemset_.size() + (all ? 0 : holders));
            ++checked_;
            Rule rule{0, 0, {}};
            others_.clear();
            rows_.for_each_holder_upwards(itemset_, [&](int32_t holder) {
                const int64_t weight = rows_.weight(holder);
                if (is_positive_[holder]) {
                    rule.with += weight;
                    return true;
                }
                rule.without += weight;
                others_.push_back({0, 0, holder});
                return threshold.reached(second, rule.without);
            });
            if (!threshold.reached(second, rule.without)) continue;
            if (all) work_.spend(holders);
            positives_.push_back({rule.without, r, !share_out(threshold, threshold.needed(rows_.weight(r)))});
            if (!rule.surer_than(most)) continue;
            most = {rule.with, rule.without, itemset_};
            if (!all && threshold.reached(most)) break;
        }
        for (int32_t r : sharing_) shared_[r] = 0;
        sharing_.clear();
        std::sort(positives_.begin(), positives_.end());
        return most;
    }

    // The first rule that reaches the threshold, or the surest one, among those that whole_rows() left open.
    Rule search(Threshold threshold, bool surest) { return search_.run(sensitive_, positives_, threshold, surest); }

    // A short part of an antecedent that reaches the limit. Of its items, the one that makes surest is added, again and
    // again; what turns out not to be needed is taken out.
    Rule shortened(const List<int32_t>& antecedent, Threshold limit) {
        List<int32_t> left = antecedent, taken;
        Rule rule;
        for (int32_t item : left) keep_more_severe(item, with_[item], rows_.support(item) - with_[item], rule);
        const auto holders = rows_.holders(rule.items.front());
        Vector<int32_t> cover(holders.begin(), holders.end(), control_);
        for (;;) {
            control_.poll();
            const int32_t item = rule.items.front();
            taken.push_back(item);
            std::erase(left, item);
            if (limit.reached(rule)) break;
            std::erase_if(cover, [&](int32_t r) { return !std::ranges::binary_search(rows_.row(r), item); });
            rule = surest_in(cover, left);
        }
        std::sort(taken.begin(), taken.end());
        rule.items = taken;
        // Being sure is not monotone: after one item has gone, others may that could not before.
        for (Index i = 0; i < rule.items.size() && rule.items.size() > 1;) {
            List<int32_t> fewer = rule.items;
            fewer.erase(fewer.begin() + i);
            Rule shorter = counted(fewer);
            const bool enough = limit.reached(shorter);
            if (enough) rule = std::move(shorter);
            i = enough ? 0 : i + 1;
        }
        return rule;
    }

    int64_t checked() const { return checked_ + search_.checked(); }

private:
    // A row without the sensitive item, as what it holds of the items that were met; `order` sorts by that.
    struct Other {
        Index length;
        uint64_t hash;
        int32_t row;
    };

    // Gives a positive what it needs of what is left of the others; false if that is not enough. Those that hold the
    // fewest of the items met come first: to begin with, those that hold just the antecedent. Rows that are equal
    // there are next to each other, so that it does not matter whether they are one.
    bool share_out(Threshold threshold, int64_t needed) {
        auto left = [&](int32_t r) { return rows_.weight(r) * threshold.unit() - shared_[r]; };
        auto take = [&](int32_t r) {
            const int64_t share = std::min(needed, left(r));
            if (share > 0 && shared_[r] == 0) sharing_.push_back(r);
            shared_[r] += share;
            needed -= share;
        };
        for (const Other& other : others_) {
            if (needed == 0) return true;
            if (holds_just(other.row, itemset_.size())) take(other.row);
        }
        std::erase_if(others_, [&](const Other& other) { return left(other.row) == 0; });
        for (Other& other : others_)
            for (int32_t item : rows_.row(other.row)) {
                if (with_[item] == 0) continue;
                ++other.length;
                other.hash = (other.hash ^ (uint64_t(item) + 1)) * 0x9E3779B97F4A7C15U;
            }
        auto later = [&](const Other& a, const Other& b) { return comes_first(b, a); };
        std::ranges::make_heap(others_, later);
        for (auto end = others_.end(); needed > 0 && end != others_.begin(); --end) {
            std::ranges::pop_heap(others_.begin(), end, later);
            take(std::prev(end)->row);
        }
        return needed == 0;
    }
    // Whether a row has no more than so many of the items met.
    bool holds_just(int32_t r, Index size) const {
        const auto items = rows_.row(r);
        if (items.size() == size) return true;
        Index met = 0;
        return std::ranges::all_of(items, [&](int32_t item) { return with_[item] == 0 || ++met <= size; });
    }
    bool comes_first(const Other& a, const Other& b) const {
        if (a.length != b.length) return a.length < b.length;
        if (a.hash != b.hash) return a.hash < b.hash;
        const auto met = std::views::filter([&](int32_t item) { return with_[item] > 0; });
        return std::ranges::lexicographical_compare(rows_.row(a.row) | met, rows_.row(b.row) | met);
    }

    // For rules that differ in one item, put into the antecedent.
    static void keep_more_severe(int32_t item, int64_t with, int64_t without, Rule& most) {
        Rule rule{with, without, {}};
        if (most.surer_than(rule)) return;
        rule.items.push_back(item);
        if (more_severe(rule, most)) most = std::move(rule);
    }

    // The most severe rule from what this cover has in common and one of these items; only that item is named.
    Rule surest_in(View<int32_t> cover, const List<int32_t>& items) {
        for (int32_t r : cover)
            for (int32_t item : rows_.row(r)) (is_positive_[r] ? cover_with_ : cover_without_)[item] += rows_.weight(r);
        Rule most;
        for (int32_t item : items) keep_more_severe(item, cover_with_[item], cover_without_[item], most);
        for (int32_t r : cover)
            for (int32_t item : rows_.row(r)) cover_with_[item] = cover_without_[item] = 0;
        return most;
    }

    Rule counted(const List<int32_t>& itemset) const {
        Rule rule{0, 0, itemset};
        rows_.for_each_holder(itemset, [&](int32_t r) {
            (is_positive_[r] ? rule.with : rule.without) += rows_.weight(r);
            return true;
        });
        return rule;
    }

    const MergedRows& rows_;
    Work& work_;
    Control& control_;
    int32_t sensitive_ = none;
    Vector<uint8_t> is_positive_;  // by row: whether it holds the sensitive item
    Vector<int64_t> with_;         // by item: the weight of those rows
    Vector<int32_t> met_;          // the items in them
    Vector<Positive> positives_;
    Vector<Other> others_;     // that hold the antecedent which is looked at
    Vector<int64_t> shared_;   // by row without it: how much of its weight the positives have got
    Vector<int32_t> sharing_;  // the rows of which they have got something
    Vector<int64_t> cover_with_, cover_without_;
    List<int32_t> itemset_;
    ClosedSearch search_;
    int64_t checked_ = 0;
};

}  // namespace veilset::auditing
