// Which transactions hold which hidden patterns, and what of a transaction matters for that.
//
// A pattern is found in the transactions that hold all of it. A *claim* is one such transaction for one pattern; an
// occurrence is *contested* if some claim needs it. No other occurrence makes a difference to what is hidden.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "core/csr.hpp"

namespace veilset::hiding {

constexpr int64_t rows_per_block = 1024;

// Itemsets that are looked for in rows by their rarest item.
class ByRarest {
public:
    ByRarest(const Csr& sets, std::span<const int64_t> support)
        : sets_(sets), first_(support.size() + 1, 0), order_(sets.rows()) {
        std::vector<int32_t> rarest(order_.size(), -1);
        for (size_t s = 0; s < order_.size(); ++s) {
            const auto items = sets.row(int64_t(s));
            if (items.empty()) continue;  // found nowhere
            rarest[s] = *std::ranges::min_element(items, {}, [&](int32_t i) { return std::pair(support[i], i); });
            ++first_[rarest[s] + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        std::vector<size_t> next(first_.begin(), first_.end() - 1);
        for (size_t s = 0; s < order_.size(); ++s)
            if (rarest[s] >= 0) order_[next[rarest[s]]++] = int32_t(s);
    }

    const Csr& sets() const { return sets_; }
    bool any(int32_t item) const { return first_[item] < first_[item + 1]; }

    // body(set) for each set whose rarest item this is, and that the row holds; `there` tells which items it does.
    template <class There, class Body>
    void held(int32_t item, There there, Body body) const {
        for (size_t at = first_[item]; at < first_[item + 1]; ++at)
            if (std::ranges::all_of(sets_.row(order_[at]), there)) body(order_[at]);
    }

private:
    Csr sets_;
    std::vector<size_t> first_;
    std::vector<int32_t> order_;
};

// Numbers by which something is looked up: `of` holds those of key k from first[k] to first[k + 1].
struct Lists {
    Vector<int64_t> first, of;
    explicit Lists(Control& control) : first(control), of(control) {}

    // each(put) calls put(key, number) for all of them, twice.
    template <class Each>
    void fill(size_t keys, Each each, Control& control) {
        first.assign(keys + 1, 0);
        each([&](size_t key, int64_t) { ++first[key + 1]; });
        std::partial_sum(first.begin(), first.end(), first.begin());
        of.resize(first.back());
        Vector<int64_t> next(first.begin(), first.end(), control);
        each([&](size_t key, int64_t number) { of[next[key]++] = number; });
        control.poll();
    }
    std::span<const int64_t> operator[](size_t key) const {
        return {of.data() + first[key], of.data() + first[key + 1]};
    }
};

// All claims on patterns, and on the antecedents of rules where something of them is contested: the antecedent of
// pattern p is claimed as p + number of patterns.
class Claims {
public:
    Claims(const Csr& data, const ByRarest& patterns, const ByRarest& antecedents, int threads, Control& control)
        : place(control), row(control), wants(control), needs(control), of_occurrence(control), of_pattern(control),
          rows(control), always(patterns.sets().rows(), 0), data_(data) {
        find(patterns, antecedents, threads, control);
        control.single([&] { index(control); });
    }

    size_t occurrences() const { return place.size(); }
    size_t size() const { return wants.size(); }
    int32_t item(size_t occurrence) const { return data_.items[place[occurrence]]; }

    Vector<int64_t> place;        // contested occurrence -> where it is among all
    Vector<int64_t> row;          // contested occurrence -> its row; ascending
    Vector<int32_t> wants;        // claim -> its pattern
    Lists needs;                  // claim -> contested occurrences
    Lists of_occurrence;          // contested occurrence -> claims
    Lists of_pattern;             // pattern -> claims
    Vector<int64_t> rows;         // where the contested occurrences of each row that has any begin, and the last end
    std::vector<int64_t> always;  // pattern -> rows with its antecedent, of which nothing is contested

private:
    // What a block of rows adds.
    struct Part {
        Vector<int64_t> place, row, needed, ends;
        Vector<int32_t> wants;
        explicit Part(Control& c) : place(c), row(c), needed(c), ends(c), wants(c) {}

        void claim(std::span<const int32_t> sets, const Csr& items, int32_t shift, std::span<const int64_t> number) {
            for (int32_t s : sets) {
                wants.push_back(s + shift);
                for (int32_t i : items.row(s))
                    if (number[i] >= 0) needed.push_back(number[i]);
                ends.push_back(int64_t(needed.size()));
            }
        }
    };
    struct Worker {
        std::vector<int64_t> last;    // item -> the last row that holds it
        std::vector<int64_t> number;  // item -> its number among the contested ones of this part, in this row; or -1
        std::vector<int64_t> always;
        std::vector<int32_t> held, led;
    };

    void find(const ByRarest& patterns, const ByRarest& antecedents, int threads, Control& control) {
        const int64_t blocks = (data_.rows() + rows_per_block - 1) / rows_per_block;
        std::vector<Part> parts;
        for (int64_t block = 0; block < blocks; ++block) parts.emplace_back(control);
        std::vector<Worker> workers(Control::useful(threads, blocks));
        for (Worker& w : workers) {
            w.last.assign(data_.vocabulary, -1);
            w.number.assign(data_.vocabulary, -1);
            w.always.assign(always.size(), 0);
        }
        control.begin(1, blocks);
        control.parallel(int(workers.size()), blocks, [&](int64_t block, int number) {
            for (int64_t r = block * rows_per_block; r < std::min(data_.rows(), (block + 1) * rows_per_block); ++r) {
                control.poll();
                look(r, patterns, antecedents, workers[number], parts[block]);
            }
        });
        for (const Worker& w : workers) std::ranges::transform(always, w.always, always.begin(), std::plus<>{});
        needs.first.push_back(0);
        for (const Part& part : parts) {
            const int64_t before = int64_t(place.size()), used = int64_t(needs.of.size());
            place.insert(place.end(), part.place.begin(), part.place.end());
            row.insert(row.end(), part.row.begin(), part.row.end());
            wants.insert(wants.end(), part.wants.begin(), part.wants.end());
            for (int64_t end : part.ends) needs.first.push_back(used + end);
            for (int64_t occurrence : part.needed) needs.of.push_back(before + occurrence);
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
        for (size_t at = 0; at < items.size(); ++at)
            if (int64_t& mine = w.number[items[at]]; mine == contested) {
                mine = int64_t(part.place.size());
                part.place.push_back(data_.offsets[r] + int64_t(at));
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

    void index(Control& control) {
        of_occurrence.fill(
            occurrences(),
            [&](auto put) {
                for (size_t claim = 0; claim < size(); ++claim)
                    for (int64_t occurrence : needs[claim]) put(occurrence, int64_t(claim));
            },
            control);
        of_pattern.fill(
            2 * always.size(),
            [&](auto put) {
                for (size_t claim = 0; claim < size(); ++claim) put(wants[claim], int64_t(claim));
            },
            control);
        for (size_t c = 0; c < occurrences(); ++c)
            if (c == 0 || row[c] != row[c - 1]) rows.push_back(int64_t(c));
        rows.push_back(int64_t(occurrences()));
    }

    Csr data_;
};

}  // namespace veilset::hiding
