// All minimal moles, level by level: those of one item, then those of two.
#pragma once

#include "audit/branches.hpp"
#include "audit/tally.hpp"

namespace veilset::auditing {

class Levels {
public:
    // support: of single items, by code.
    Levels(const Asked& asked, Rows& rows, View<int64_t> support, Tally& tally)
        : asked_(asked), promise_(asked.promise), control_(asked.control), rows_(rows), support_(support),
          tally_(tally), batches_(rows_, work_, asked.batch_limit, asked.threads, control_),
          judge_(promise_, rows_, tally.all.worst) {}

    // Single items. Their support is known; what those of k holders or more give away is judged from the holders.
    void first() {
        Vector<int32_t> items(control_);
        for (int32_t i = 0; i < asked_.data.vocabulary; ++i)
            if (asked_.kind[i] == none && support_[i] > 0) items.push_back(i);
        std::stable_sort(items.begin(), items.end(), [&](int32_t a, int32_t b) { return support_[a] < support_[b]; });
        rows_.number(items, support_);

        Vector<Found> found = nothing_in(rows_.items());
        int64_t first = 0;
        for (; first < rows_.items() && (rows_.support(first) < promise_.k || rows_.kinds() == 0); ++first) {
            ++found[first].checked;
            if (judge_.safe({}, int32_t(first), rows_.support(first), none, 0, found[first]))
                found[first].extended_by(int32_t(first), rows_.support(first));
        }
        look(1, first, false, found,
             [](BranchReader& reader, int64_t branch, Found& into) { reader.judge_single(branch, into); });

        // What all rows hold is no generator: nothing is known that is not known without it.
        Vector<int32_t> kept(control_);
        for (int64_t b = 0; b < rows_.items(); ++b)
            if (!found[b].items.empty() && rows_.support(b) < asked_.data.rows())
                kept.push_back(rows_.item(int32_t(b)));
        absorb(found, true);  // level 1 of the trie is the numbering itself
        if (kept.size() < rows_.items()) rows_.number(kept, support_);
    }

    // The next levels; false if they take more steps. It can be asked again, and goes on with the level that it left.
    // Once there is a mole, as many steps do as counting may take.
    bool count(int64_t steps, int64_t counting) {
        work_.left = steps;
        try {
            for (; has_level(level_); ++level_) {
                const bool last = level_ == promise_.p;
                if (!tally_.no_mole() && work_.left > counting) work_.left = counting;
                Vector<Found> found = nothing_in(rows_.items());
                look(level_, 0, true, found, [&](BranchReader& reader, int64_t branch, Found& into) {
                    reader.judge_larger(branch, level_, last, into);
                });
                absorb(found, last);
            }
        } catch (const OutOfWork&) {
            return false;
        }
        return true;
    }
    // No more levels: their memory is free.
    void end() { trie_ = Trie(); }

private:
    Vector<Found> nothing_in(int64_t branches) {
        Vector<Found> found(control_);
        found.reserve(branches);
        for (int64_t b = 0; b < branches; ++b) found.push_back(asked_.nothing());
        return found;
    }
    bool has_level(int64_t level) const {
        return (promise_.p == 0 || level <= promise_.p) && rows_.items() > 0 && trie_.reaches(level - 1);
    }

    // body(reader, branch, found) for the branches of a level. All parts of a mole were met in the levels before it: at
    // a limit, the moles met so far are minimal.
    template <class Body>
    void look(int64_t level, int64_t first, bool with_later, Vector<Found>& found, Body body) {
        auto all_branches = [&] {
            batches_.each(
                level, first, with_later, [&] { return BranchReader(judge_, rows_, trie_, work_, control_); },
                [&](int64_t branch, BranchReader& reader) {
                    // It prunes; an equal value met later does not replace the first.
                    found[branch].margins = tally_.all.margins;
                    body(reader, branch, found[branch]);
                },
                [&](int64_t branch) { found[branch] = asked_.nothing(); });
        };
        try {
            all_branches();
        } catch (const OutOfWork&) {
            throw;
        } catch (const OverBudget&) {
            end();
            const Index counted = tally_.identity_by_size.size();
            keep_moles(found);
            if (tally_.no_mole()) tally_.forget_sizes(counted);
            throw;
        }
    }

    // The moles of a level; false if not all fit into the memory.
    bool keep_moles(Vector<Found>& found) {
        int64_t identity = 0, attribute = 0;
        bool fits = true;
        try {
            for (Found& branch : found) {
                tally_.all.worst.merge(std::move(branch.worst));
                identity += branch.identity;
                attribute += branch.attribute;
            }
        } catch (const OutOfMemory&) {
            fits = false;
        }
        if (!fits && identity + attribute == 0) return false;
        tally_.identity_by_size.push_back(identity);
        tally_.attribute_by_size.push_back(attribute);
        return fits;
    }

    void absorb(Vector<Found>& found, bool last) {
        if (!keep_moles(found)) throw OutOfMemory();
        Found all = joined(asked_.nothing(), found, !last, control_);
        tally_.checked += all.checked;
        tally_.all.margins.merge(all.margins);
        if (!last) trie_.add(Level(std::move(all.items), std::move(all.supports), all.children, control_));
    }

    const Asked& asked_;
    Promise promise_;
    Control& control_;
    Rows& rows_;
    View<int64_t> support_;
    Tally& tally_;
    Work work_;
    Batches batches_;
    Judge judge_;
    Trie trie_;
    int64_t level_ = 2;  // the next one
};

}  // namespace veilset::auditing
