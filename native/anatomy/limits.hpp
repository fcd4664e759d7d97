// What makes a bucket l-diverse: see models/l_diverse_anatomy.py, and docs/anatomy.md for the proofs.
#pragma once

#include <cmath>
#include <limits>

#include "core/control.hpp"

namespace veilset::anatomy {

// What limits the values of a column.
enum Rule : uint8_t { by_value, free_if_empty, sensitive };

// The rows' values in columns, 0 being to have no item there; the single items that are limited, too; and l.
struct Values {
    View<int32_t> values;
    View<uint8_t> rules;            // of each column
    View<int64_t> limited_offsets;  // of each row, in `limited`; empty if no item is
    View<int32_t> limited;          // items, from 0
    View<int32_t> limited_column;   // of each such item
    int64_t num, den;               // of l
    int64_t least_size;             // of a bucket

    int64_t columns() const { return rules.size(); }
    int64_t rows() const { return rules.empty() ? 0 : values.size() / rules.size(); }
    View<int32_t> row(int64_t r) const { return values.subspan(r * rules.size(), rules.size()); }
    View<int32_t> items(int64_t r) const {
        return limited_offsets.empty() ? View<int32_t>() : part(limited, limited_offsets, r);
    }
    bool has_sensitive() const { return std::ranges::count(rules, uint8_t(sensitive)) > 0; }

    // How many rows must count where `count` have the same.
    int64_t needed(int64_t count) const { return (count * num + den - 1) / den; }

    static constexpr int64_t never = int64_t(1) << 40;

    // How many more rows a public column needs at least, for all that its own values say.
    int64_t missing_in(Index column, int64_t size, int64_t holders, int64_t largest) const {
        return rules[column] == free_if_empty ? needed(largest) - holders
                                              : needed(std::max(largest, size - holders)) - size;
    }

    // How many more rows a bucket of `size` rows needs at least; 0: it is l-diverse, `never`: no more rows help.
    // holders: how many have something in each column; largest: how many have the commonest value, or limited item,
    // there. `too_many` or more are not counted exactly.
    int64_t missing(int64_t size, View<int64_t> holders, View<int64_t> largest, int64_t too_many = never) const {
        int64_t most = std::max<int64_t>(0, least_size - size), carriers = 0;
        if (num == den) return most;
        bool anchored = false;  // every row has something in some public column, so no arrangement leaves one empty
        for (Index c = 0; c < rules.size() && most < too_many; ++c) {
            if (rules[c] == sensitive) carriers += holders[c];
            else {
                anchored |= holders[c] == size;
                most = std::max(most, missing_in(c, size, holders[c], largest[c]));
            }
        }
        if (most >= too_many) return most;
        most = std::max(most, needed(carriers) - size);
        if (anchored) return most;
        return carriers ? never : std::max(most, missing_without_anchor(size, holders, largest));
    }

private:
    // Some arrangements leave a row empty, and nobody's is. Who is known to have nothing elsewhere has something here;
    // who is known to have something in all other columns has nothing here with a probability of at most
    // e / (size - E[T]), where e rows have nothing here, and T of the others nothing in all other columns.
    int64_t missing_without_anchor(int64_t size, View<int64_t> holders, View<int64_t> largest) const {
        int64_t most = 0, fewest = never, second = never;  // rows that have nothing in a column
        for (Index c = 0; c < rules.size(); ++c)
            if (rules[c] != sensitive) {
                const int64_t nothing = size - holders[c];
                second = std::min(second, std::max(fewest, nothing));
                fewest = std::min(fewest, nothing);
            }
        for (Index c = 0; c < rules.size(); ++c) {
            if (rules[c] != by_value) continue;
            const int64_t nothing = size - holders[c], slack = den * size - num * nothing;
            most = std::max(most, needed(largest[c]) - holders[c]);
            if (slack >= den * (nothing == fewest ? second : fewest)) continue;  // T is at most that
            const double lack = double(den) * empty_elsewhere(c, size, holders) - double(slack);
            if (lack > 0) most = std::max(most, std::max<int64_t>(1, int64_t(std::ceil(lack / double(den)))));
        }
        return most;
    }

    // E[T]; never 0, so that what is rounded is not taken for impossible.
    double empty_elsewhere(Index column, int64_t size, View<int64_t> holders) const {
        double expected = 0;  // the first factor is a number of rows, the others are shares: exact for two columns
        for (Index c = 0; c < rules.size(); ++c) {
            if (c == column || rules[c] == sensitive) continue;
            const auto nothing = double(std::min(size - holders[c], size - 1));
            expected = expected == 0 ? nothing : std::max(expected * (nothing / double(size - 1)), tiny);
        }
        return expected;
    }
    static constexpr double tiny = std::numeric_limits<double>::min();
};

}  // namespace veilset::anatomy
