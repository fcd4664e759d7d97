// Which transactions hold which hidden patterns, and what of a transaction matters for that.
//
// A pattern is found in the transactions that hold all of it. A *claim* is one such transaction for one pattern; an
// occurrence is *contested* if some claim needs it. No other occurrence makes a difference to what is hidden.
#pragma once

#include <functional>

#include "core/csr.hpp"

namespace veilset::hiding {

constexpr Index rows_per_block = 1024;

// Itemsets that are looked for in rows by their rarest item.
class ByRarest {
public:
    ByRarest(const Csr& sets, View<int64_t> support) : sets_(sets), first_(support.size() + 1, 0) {
        List<int32_t> rarest(sets.rows(), -1);
        for (Index s = 0; s < rarest.size(); ++s) {
            const auto items = sets.row(s);
            if (items.empty()) continue;  // found nowhere
            rarest[s] = *std::ranges::min_element(items, {}, [&](int32_t i) { return std::pair(support[i], i); });
        }
        group(first_, order_, [&](auto put) {
            for (Index s = 0; s < rarest.size(); ++s)
                if (rarest[s] >= 0) put(rarest[s], int32_t(s));
        });
    }

    const Csr& sets() const { return sets_; }
    bool any(int32_t item) const { return first_[item] < first_[item + 1]; }

    // body(set) for each set whose rarest item this is, and that the row holds; `there` tells which items it does.
    template <class There, class Body>
    void held(int32_t item, There there, Body body) const {
        for (int32_t set : part(order_, first_, item))
            if (std::ranges::all_of(sets_.row(set), there)) body(set);
    }

private:
    Csr sets_;
    List<int64_t> first_;
    List<int32_t> order_;
};

// All claims on patterns, and on the antecedents of rules where something of them is contested: the antecedent of
// pattern p is claimed as p + number of patterns.
class Claims {
public:
    Claims(const Csr& data, const ByRarest& patterns, const ByRarest& antecedents, int threads, Control& control)
        : place(control), row(control), wants(control), needs(control), of_occurrence(control), of_pattern(control),
          rows(control), always(patterns.sets().rows(), 0), data_(data) {
        find(patterns, antecedents, threads, control);
        control.single([&] { index(); });
    }

    Index occurrences() const { return place.size(); }
    Index size() const { return wants.size(); }
    int32_t item(Index occurrence) const { return data_.items[place[occurrence]]; }

    Vector<int64_t> place;          // contested occurrence -> where it is among all
    Vector<int64_t> row;            // contested occurrence -> its row; ascending
    Vector<int32_t> wants;          // claim -> its pattern
    Groups<int64_t> needs;          // claim -> contested occurrences
    Groups<int64_t> of_occurrence;  // contested occurrence -> claims
    Groups<int64_t> of_pattern;     // pattern -> claims
    Vector<int64_t> rows;           // where the contested occurrences of each row that has any begin, and the last end
    List<int64_t> always;           // pattern -> rows with its antecedent, of which nothing is contested

private:
    // What a block of rows adds.
    struct Part {
        Vector<int64_t> place, row, needed, ends;
        Vector<int32_t> wants;
        explicit Part(Control& c) : place(c), row(c), needed(c), ends(c), wants(c) {}

        void claim(View<int32_t> sets, const Csr& items, int32_t shift, View<int64_t> number) {
            for (int32_t s : sets) {
                wants.push_back(s + shift);
                for (int32_t i : items.row(s))
                    if (number[i] >= 0) needed.push_back(number[i]);
                ends.push_back(needed.size());
            }
        }
    };
    struct Worker {
        List<int64_t> last;    // item -> the last row that holds it
        List<int64_t> number;  // item -> its number among the contested ones of this part, in this row; or -1
        List<int64_t> always;
        List<int32_t> held, led;
    };

    void find(const ByRarest& patterns, const ByRarest& antecedents, int threads, Control& control) {
        List<Part> parts(Control::blocks(data_.rows(), rows_per_block), Part(control));
        const List<int64_t> nowhere(data_.vocabulary, -1);
        List<Worker> workers(Control::useful(threads, parts.size()), {nowhere, nowhere, always, {}, {}});
        control.in_blocks(1, threads, data_.rows(), rows_per_block, [&](Index r, int worker) {
            look(r, patterns, antecedents, workers[worker], parts[r / rows_per_block]);
        });
        for (const Worker& w : workers) std::ranges::transform(always, w.always, always.begin(), std::plus<>{});
        for (const Part& part : parts) {
            const Index before = place.size(), used = needs.values.size();
            place.insert(place.end(), part.place.begin(), part.place.end());
            row.insert(row.end(), part.row.begin(), part.row.end());
            wants.insert(wants.end(), part.wants.begin(), part.wants.end());
            for (int64_t end : part.ends) needs.first.push_back(used + end);
            for (int64_t occurrence : part.needed) needs.values.push_back(before + occurrence);
        }
    }

    void look(int64_t r, const ByRarest& patterns, const ByRarest& antecedents, Worker& w, Part& part) const {
        const auto items = data_.row(r);
        if (std::ranges::none_of(items, [&](int32_t i) { return patterns.any(i) || antecedents.any(i); })) return;
        for (int32_t i : items) w.last[i] = r;
        const auto there = [&](int32_t i) { return w.last[i] == r; };
        w.held.clear(), w.led.clear();
        for (int32_t i : items) {
            patterns.held(i, there, [&](int32_t p) { w.held.push_back(p); });
            antecedents.held(i, there, [&](int32_t p) { w.led.push_back(p); });
        }
        constexpr int64_t contested = -2;
        for (int32_t p : w.held)
            for (int32_t i : patterns.sets().row(p)) w.number[i] = contested;
        for (Index at = 0; at < items.size(); ++at)
            if (int64_t& mine = w.number[items[at]]; mine == contested) {
                mine = part.place.size();
                part.place.push_back(data_.offsets[r] + at);
                part.row.push_back(r);
            }
        std::erase_if(w.led, [&](int32_t p) {
            const bool safe =
                std::ranges::all_of(antecedents.sets().row(p), [&](int32_t i) { return w.number[i] < 0; });
            w.always[p] += safe;
            return safe;
        });
        part.claim(w.held, patterns.sets(), 0, w.number);
        part.claim(w.led, antecedents.sets(), int32_t(always.size()), w.number);
        for (int32_t i : items) w.number[i] = -1;
    }

    void index() {
        of_occurrence.fill(occurrences(), [&](auto put) {
            for (Index claim = 0; claim < size(); ++claim)
                for (int64_t occurrence : needs[claim]) put(occurrence, claim);
        });
        of_pattern.fill(2 * always.size(), [&](auto put) {
            for (Index claim = 0; claim < size(); ++claim) put(wants[claim], claim);
        });
        for (Index c = 0; c < occurrences(); ++c)
            if (c == 0 || row[c] != row[c - 1]) rows.push_back(c);
        rows.push_back(occurrences());
    }

    Csr data_;
};

}  // namespace veilset::hiding
