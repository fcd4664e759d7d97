// The minimal moles in an itemset that has one, however large it is.
#pragma once

#include "audit/inferences.hpp"
#include "audit/parts.hpp"

namespace veilset::auditing {

class MinimalMoles {
public:
    // weights: for how many transactions each row stands; empty: one each.
    MinimalMoles(const Csr& data, View<int32_t> kind, int32_t kinds, Promise promise, Control& control,
                 View<int64_t> weights = {})
        : data_(data), kind_(kind), kinds_(kinds), promise_(promise), control_(control), weights_(weights),
          place_(control) {}

    // All of them, if the items are few; else one. Items are codes of the vocabulary, ascending.
    Vector<Mole> within(Vector<int32_t> items) {
        while (items.size() > most_parted) {
            Vector<int32_t> part = smaller(items);
            if (part.empty()) {  // without any of its items it has no mole: it is minimal itself
                Vector<Mole> moles(control_);
                moles.push_back(counted(items));
                return moles;
            }
            items = std::move(part);
        }
        return moles_within(items, data_, kind_, promise_, control_, weights_);
    }

private:
    // A part with a mole; empty if there is none.
    Vector<int32_t> smaller(View<int32_t> items) {
        for (Index i = 0; i < items.size(); ++i) {
            Vector<int32_t> part(items.begin(), items.end(), control_);
            part.erase(part.begin() + i);
            if (counted(part).support < promise_.k) return part;
            if (Vector<int32_t> known = antecedent_in(part); !known.empty()) return known;
        }
        return Vector<int32_t>(control_);
    }

    // How many rows hold these items, and what most of them hold besides.
    Mole counted(View<int32_t> items) {
        mark(items);
        Vector<int64_t> with(kinds_, 0, control_), last_row(kinds_, none, control_);
        Mole mole{Vector<int32_t>(items.begin(), items.end(), control_), 0, none, 0};
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            const auto row = data_.row(r);
            if (std::ranges::count_if(row, [&](int32_t item) { return place_[item] != none; }) < items.size()) continue;
            const int64_t weight = weights_.empty() ? 1 : weights_[r];
            mole.support += weight;
            for (int32_t item : row)
                if (const int32_t thing = kind_[item]; thing != none)
                    if (std::exchange(last_row[thing], r) != r) with[thing] += weight;
        }
        if (mole.support < promise_.k) return mole;
        for (int32_t thing = 0; thing < kinds_; ++thing)
            if (with[thing] > mole.with) {
                mole.with = with[thing];
                mole.sensitive = thing;
            }
        return mole;
    }

    // Some of the items that give a sensitive thing away; empty if none do.
    Vector<int32_t> antecedent_in(View<int32_t> items) {
        Vector<int32_t> known(control_);
        if (!promise_.can_be_breached() || kinds_ == 0) return known;
        mark(items);
        Vector<int64_t> offsets(1, 0, control_);
        Vector<int32_t> left(control_);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % 4096 == 0) control_.poll();
            for (int32_t item : data_.row(r))
                if (place_[item] != none || kind_[item] != none) left.push_back(item);
            offsets.push_back(left.size());
        }
        const Csr rest(offsets, left, data_.vocabulary);
        MergedRows rows(rest, kind_, kinds_, control_, weights_);
        rows.count();
        Inferences things(rows, Threshold{promise_.h_num, promise_.h_den, true}, 0, control_);
        for (int32_t thing = 0; thing < kinds_; ++thing) things.ask(rows.thing(thing));
        things.decide_here();
        for (Finding& finding : things.findings()) {
            if (!finding.broken) continue;
            rows.name(finding.rule.items);
            known.assign(finding.rule.items.begin(), finding.rule.items.end());
            break;
        }
        return known;
    }

    void mark(View<int32_t> items) {
        place_.assign(data_.vocabulary, none);
        for (Index i = 0; i < items.size(); ++i) place_[items[i]] = int32_t(i);
    }

    const Csr& data_;
    View<int32_t> kind_;
    int32_t kinds_;
    Promise promise_;
    Control& control_;
    View<int64_t> weights_;
    Vector<int32_t> place_;
};

}  // namespace veilset::auditing
