// What a site knows: its table, and which of its rows reach each node of the tree, with their class counts (Cls).
//
// A count is a number of joined rows. It is a whole number that fits 64 bits, or else 128.
#pragma once

#include <limits>
#include <unordered_map>

#include "core/arrays.hpp"
#include "core/control.hpp"
#include "joins/log2.hpp"

namespace veilset::joins {

// More joined rows than a count can hold.
struct TooManyRows : std::overflow_error {
    TooManyRows() : std::overflow_error("the join has more rows than can be counted") {}
};

template <class Count>
Count sum(Count a, Count b) {
    Count result;
    if (__builtin_add_overflow(a, b, &result)) throw TooManyRows();
    return result;
}

// Summaries that contradict what a site knows: whoever sent them has other keys, or is not honest.
struct Contradiction : std::invalid_argument {
    Contradiction() : std::invalid_argument("a summary contradicts the counts of this site") {}
};

// count * part / whole, which is a whole number: docs/joins.md proves it. In lowest terms part / whole = a / b. As
// count * a / b is whole and b has no factor in common with a, b divides count: nothing larger than the result appears.
inline Wide rescaled(Wide count, Wide part, Wide whole) {
    if (count == 0) return 0;
    if (whole == 0) throw Contradiction();
    if (part == whole) return count;
    if (part == 0) return 0;
    Wide divisor = part, rest = whole;
    while (rest != 0) divisor = std::exchange(rest, divisor % rest);  // the greatest common one
    const Wide a = part / divisor, b = whole / divisor;
    if (count % b != 0) throw Contradiction();
    Wide result;
    if (__builtin_mul_overflow(count / b, a, &result)) throw TooManyRows();
    return result;
}
inline uint64_t rescaled(uint64_t count, uint64_t part, uint64_t whole) {
    if (count == 0) return 0;
    if (whole == 0) throw Contradiction();
    if (part == whole) return count;
    if (part == 0) return 0;
    const Wide product = Wide(count) * part, result = product / whole;
    if (result * whole != product) throw Contradiction();
    if (result > std::numeric_limits<uint64_t>::max()) throw TooManyRows();
    return uint64_t(result);
}

// Rows of a table, each with its class counts: those of row number i lie from i * classes on.
template <class Count>
struct Cls {
    List<int32_t> rows;
    List<Count> counts;

    void push(int32_t row, View<Count> of) {
        rows.push_back(row);
        counts.insert(counts.end(), of.begin(), of.end());
    }
    void reserve(Index entries, Index classes) {
        rows.reserve(entries);
        counts.reserve(entries * classes);
    }
    void shrink() {
        rows.shrink_to_fit();
        counts.shrink_to_fit();
    }
    Index bytes() const { return rows.size() * Index(sizeof(int32_t)) + counts.size() * Index(sizeof(Count)); }
};

template <class Count_>
struct Site {
    using Count = Count_;

    Site(Index rows_, Index classes_, const List<Array<int32_t>>& codes_, const List<int64_t>& distinct_,
         const List<bool>& ordered_, const List<Array<int32_t>>& keys_, const List<int64_t>& key_counts_);

    Index rows, classes;
    List<Array<int32_t>> codes;  // of each attribute, by row
    List<int64_t> distinct;
    List<bool> ordered;         // split as x ≤ v; else as x = v
    List<Array<int32_t>> keys;  // of each edge, by row; -1 joins nothing
    List<int64_t> key_counts;
    std::unordered_map<int64_t, Cls<Count>> nodes;
    List<List<Count>> sent;  // the last class summary sent on each edge, by key

    View<Count> counts(const Cls<Count>& cls, Index entry) const {
        return View(cls.counts).subspan(entry * classes, classes);
    }
    const Cls<Count>& at(int64_t node) const {
        const auto found = nodes.find(node);
        if (found == nodes.end()) throw std::invalid_argument("this site has no such node");
        return found->second;
    }
    void check_edge(Index edge) const {
        if (edge < 0 || edge >= keys.size()) throw std::invalid_argument("this site has no such edge");
    }
};

// Counts in and out: 64-bit words, the lower one first.
template <class Count>
List<uint64_t> to_words(View<Count> counts) {
    List<uint64_t> out;
    out.reserve(counts.size() * (sizeof(Count) / sizeof(uint64_t)));
    for (Count count : counts) {
        out.push_back(uint64_t(count));
        if constexpr (sizeof(Count) > sizeof(uint64_t)) out.push_back(uint64_t(count >> 64));
    }
    return out;
}
template <class Count>
List<Count> from_words(View<uint64_t> given) {
    constexpr Index words = sizeof(Count) / sizeof(uint64_t);
    if (given.size() % words != 0) throw std::invalid_argument("half a count");
    List<Count> counts(given.size() / words);
    for (Index i = 0; i < counts.size(); ++i) {
        counts[i] = given[i * words];
        if constexpr (words > 1) counts[i] |= Count(given[i * words + 1]) << 64;
    }
    return counts;
}

template <class Count>
bool any(View<Count> counts) {
    return std::ranges::any_of(counts, [](Count count) { return count != 0; });
}

}  // namespace veilset::joins
