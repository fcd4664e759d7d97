// The auditor of hidden patterns: its own counting, which shares nothing with the anonymizers but the CSR view.
//
// It goes along the rows. An item says which patterns have it; a row that holds some item of a pattern holds a part of
// it, its *intersection* with the pattern. What comes out is, for each pattern, the different intersections and how
// many rows have each. The support of every part of the pattern follows: the rows whose intersection contains it.
#include <bit>
#include <deque>
#include <optional>

#include "audit/sequences.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

constexpr int64_t rows_per_block = 4096;
constexpr Index short_pattern = 6;  // items: up to here every part has a counter of its own, which is found at once

// Which patterns have an item, and at which place. A set of places is a bitmap of as many words as the pattern needs.
class Patterns {
public:
    Patterns(const Csr& asked, Control& control)
        : first_word_(asked.rows() + 1, 0, control), first_counter_(asked.rows() + 1, 0, control), places_(control) {
        for (int64_t p = 0; p < asked.rows(); ++p) {
            control.poll();
            const auto items = asked.row(p);
            if (std::ranges::adjacent_find(items, std::ranges::greater_equal()) != items.end())
                throw std::invalid_argument("the items of a pattern do not ascend");
            first_word_[p + 1] = first_word_[p] + (items.size() + 63) / 64;
            first_counter_[p + 1] =
                first_counter_[p] + (items.size() <= short_pattern ? int64_t(1) << items.size() : 0);
        }
        places_.fill(asked.vocabulary, [&](auto put) {
            for (int64_t p = 0; p < asked.rows(); ++p) {
                control.poll();
                int32_t place = 0;
                for (int32_t item : asked.row(p)) put(item, Place{int32_t(p), place++});
            }
        });
    }

    struct Place {
        int32_t pattern, place;
    };
    Index count() const { return first_word_.size() - 1; }
    View<Place> with(int32_t item) const { return places_[item]; }
    // The words of a pattern in an array of those of all patterns.
    Index first_word(int32_t pattern) const { return first_word_[pattern]; }
    Index words(int32_t pattern) const { return first_word_[pattern + 1] - first_word_[pattern]; }
    Index words() const { return first_word_.back(); }
    // The counters of a short pattern, one for each value of its only word, in an array of those of all; others have
    // none.
    Index first_counter(int32_t pattern) const { return first_counter_[pattern]; }
    Index counters(int32_t pattern) const { return first_counter_[pattern + 1] - first_counter_[pattern]; }
    Index counters() const { return first_counter_.back(); }

private:
    Vector<int64_t> first_word_, first_counter_;
    Groups<Place> places_;  // by item
};

// The different intersections and their rows, which are tallied.
class Intersections {
public:
    using Entry = auditing::Sequences<uint64_t, int64_t>::Entry;

    Intersections(const Patterns& patterns, Control& control)
        : patterns_(patterns), counters_(patterns.counters(), 0, control), others_(control) {}

    void add(int32_t pattern, View<uint64_t> held, int64_t rows) {
        if (patterns_.counters(pattern)) counters_[patterns_.first_counter(pattern) + Index(held[0])] += rows;
        else others_.add(pattern, held).tally += rows;
    }
    void add(const Intersections& other) {
        for (Index i = 0; i < counters_.size(); ++i) counters_[i] += other.counters_[i];
        for (const Entry& entry : other.others_.all()) add(entry.key, other.words(entry), entry.tally);
    }

    View<uint64_t> words(const Entry& entry) const { return others_.of(entry); }

    // By pattern, and then by what they hold: whatever order they were met in. Nothing can be added afterwards.
    View<Entry> sorted() {
        for (int32_t p = 0; p < patterns_.count(); ++p)
            for (Index held = 0; held < patterns_.counters(p); ++held)
                if (int64_t rows = counters_[patterns_.first_counter(p) + held]) {
                    const auto word = uint64_t(held);
                    others_.add(p, {&word, 1}).tally = rows;
                }
        return others_.sorted([&](const Entry& a, const Entry& b) {
            if (a.key != b.key) return a.key < b.key;
            return std::ranges::lexicographical_compare(words(a), words(b));
        });
    }

private:
    const Patterns& patterns_;
    Vector<int64_t> counters_;                       // of short patterns
    auditing::Sequences<uint64_t, int64_t> others_;  // of long ones; in the end, of all
};

// Reads rows one after the other.
class Reader {
public:
    Reader(const Patterns& patterns, Control& control)
        : found(patterns, control), patterns_(patterns), held_(patterns.words(), 0, control),
          seen_(patterns.count(), 0, control), touched_(control) {}

    void read(View<int32_t> row) {
        for (int32_t item : row)
            for (auto [pattern, place] : patterns_.with(item)) {
                if (!seen_[pattern]) touched_.push_back(pattern);
                seen_[pattern] = 1;
                held_[patterns_.first_word(pattern) + place / 64] |= uint64_t(1) << (place % 64);
            }
        for (int32_t pattern : touched_) {
            const auto held =
                std::span<uint64_t>(held_).subspan(patterns_.first_word(pattern), patterns_.words(pattern));
            found.add(pattern, held, 1);
            std::ranges::fill(held, 0);
            seen_[pattern] = 0;
        }
        touched_.clear();
    }

    Intersections found;

private:
    const Patterns& patterns_;
    Vector<uint64_t> held_;  // of all patterns, what this row holds
    Vector<uint8_t> seen_;
    Vector<int32_t> touched_;
};

// What Python gets: intersections first[p] .. first[p + 1] are those of pattern p, as places in it.
struct Answer {
    List<int64_t> first{0}, offsets{0}, rows;
    List<int32_t> places;

    Answer(Intersections& found, const Patterns& patterns, Control& control) {
        const auto entries = found.sorted();
        Index all = 0;
        for (const auto& entry : entries)
            for (uint64_t word : found.words(entry)) all += std::popcount(word);
        control.charge(8 * patterns.count() + 16 * entries.size() + 4 * all);
        first.reserve(patterns.count() + 1);
        offsets.reserve(entries.size() + 1);
        rows.reserve(entries.size());
        places.reserve(all);
        for (const auto& entry : entries) {
            control.poll();
            first.resize(entry.key + 1, rows.size());
            const auto words = found.words(entry);
            for (int32_t w = 0; w < words.size(); ++w)
                for (uint64_t left = words[w]; left; left &= left - 1)
                    places.push_back(64 * w + std::countr_zero(left));
            offsets.push_back(places.size());
            rows.push_back(entry.tally);
        }
        first.resize(patterns.count() + 1, rows.size());
    }
};

nb::tuple audit_patterns(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                         View<int64_t> asked_offsets, View<int32_t> asked_items, int threads) {
    if (vocabulary < 0) throw std::invalid_argument("the vocabulary is negative");
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    if (asked.rows() > INT32_MAX) throw std::invalid_argument("too many patterns");
    const Index blocks = Control::blocks(data.rows(), rows_per_block);
    std::optional<Patterns> patterns;
    std::deque<Reader> readers;  // they stay where they are
    control.single([&] {
        patterns.emplace(asked, control);
        for (int t = 0; t < Control::useful(threads, blocks); ++t) readers.emplace_back(*patterns, control);
    });
    control.in_blocks(1, threads, data.rows(), rows_per_block,
                      [&](Index r, int worker) { readers[worker].read(data.row(r)); });
    std::optional<Answer> answer;
    control.single([&] {
        for (; readers.size() > 1; readers.pop_back()) readers.front().found.add(readers.back().found);
        answer.emplace(readers.front().found, *patterns, control);
    });
    return to_tuple(answer->first, answer->offsets, answer->places, answer->rows);
}

}  // namespace

void register_audit_patterns(nb::module_& m) {
    def_kernel(m, "patterns", audit_patterns, "offsets"_a, "items"_a, "vocabulary"_a, "asked_offsets"_a,
               "asked_items"_a, nb::kw_only(), "threads"_a);
}

}  // namespace veilset
