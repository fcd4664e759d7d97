// The attacker that the auditor of anatomies simulates. Of a target he knows the values in some columns. A bucket that
// has all of them may be the target's; how many of its members are likely to have them together is its weight. What he
// believes of another column is the mixture, by these weights, of the values that the buckets have there.
#include <cmath>
#include <deque>
#include <optional>

#include "audit/anatomy.hpp"

namespace veilset {
namespace {

// What is guessed, as Python hands it over: of the row targets[g], the columns known_columns[known_offsets[g] ..) are
// known, and wanted[g] is not.
struct Guesses {
    Array<int64_t> targets;
    Array<int32_t> wanted;
    Array<int64_t> known_offsets;
    Array<int32_t> known_columns;
};

// What is known of targets, and which columns are wanted. Known values are numbered: a value that is known of many is
// asked once.
class Questions {
public:
    Questions(const CutRows& rows, const Guesses& guesses, Control& control)
        : asked(control), nothing(control), is_asked(rows.columns, 0, control), wanted(guesses.wanted),
          offsets_(guesses.known_offsets), numbers_(control) {
        Splitter splitter(rows, control);
        numbers_.reserve(guesses.known_columns.size());
        for (Index g = 0; g < guesses.targets.size(); ++g) {
            control.poll();
            splitter.split(guesses.targets[g]);
            for (int32_t column : part(guesses.known_columns, offsets_, g)) {
                const auto value = splitter.value(column);
                const auto before = asked.all().size();
                numbers_.push_back(number_of(asked.add(column, value)));
                if (value.empty() && asked.all().size() > before) nothing.push_back({numbers_.back(), column});
                is_asked[column] = 1;
            }
        }
    }

    Index count() const { return wanted.size(); }
    View<int32_t> known(int64_t guess) const { return part(numbers_, offsets_, guess); }
    int32_t number_of(const Values<uint8_t>::Entry& entry) const { return int32_t(&entry - asked.all().data()); }

    Values<uint8_t> asked;
    Vector<std::pair<int32_t, int32_t>> nothing;  // the numbers and columns of those that are to have nothing
    Vector<uint8_t> is_asked;                     // of each column, whether anything is known of it
    View<int32_t> wanted;

private:
    View<int64_t> offsets_;
    Vector<int32_t> numbers_;
};

struct Match {
    int64_t guess, bucket;
    double log_weight;
};

// Finds, bucket by bucket, whose target may be in it.
class Matcher {
public:
    Matcher(const CutRows& rows, const Questions& questions, Control& control)
        : matches(control), rows_(rows), questions_(questions), control_(control), splitter_(rows, control),
          counts_(questions.asked.all().size(), 0, control), touched_(control), holders_(rows.columns, 0, control),
          held_(control) {}

    void read(int64_t bucket) {
        for (int64_t r = rows_.starts[bucket]; r < rows_.starts[bucket + 1]; ++r) {
            control_.poll();
            splitter_.split(r);
            for (int32_t column : splitter_.columns())
                if (questions_.is_asked[column]) {
                    if (holders_[column]++ == 0) held_.push_back(column);
                    if (const auto* value = questions_.asked.find(column, splitter_.value(column)))
                        add(questions_.number_of(*value), 1);
                }
        }
        const int64_t size = rows_.size(bucket);
        for (auto [number, column] : questions_.nothing)
            if (int64_t without = size - holders_[column]) add(number, without);
        for (int64_t guess = 0; guess < questions_.count(); ++guess) {
            const auto known = questions_.known(guess);
            if (!std::ranges::all_of(known, [&](int32_t number) { return counts_[number] > 0; })) continue;
            // |B| times the product of the shares, as a logarithm: of many columns it would be too small a number
            double weight = std::log(double(size));
            for (int32_t number : known) weight += std::log(double(counts_[number]) / double(size));
            matches.push_back({guess, bucket, weight});
        }
        for (int32_t number : touched_) counts_[number] = 0;
        touched_.clear();
        for (int32_t column : held_) holders_[column] = 0;
        held_.clear();
    }

    Vector<Match> matches;

private:
    void add(int32_t number, int64_t count) {
        if (counts_[number] == 0) touched_.push_back(number);
        counts_[number] += count;
    }

    const CutRows& rows_;
    const Questions& questions_;
    Control& control_;
    Splitter splitter_;
    Vector<int64_t> counts_;  // of each known value, in this bucket
    Vector<int32_t> touched_;
    Vector<int64_t> holders_;  // of each column, how many have something there
    Vector<int32_t> held_;     // the columns where somebody has
};

struct Guess {
    double probability = 0;
    int64_t row = -1;  // that has the guessed value
};

// The most probable value of a column in the buckets that match, were all arrangements possible: that nobody's row is
// empty changes little, and the best guesses are looked at again. Where having nothing is free, it is that of those who
// have something; of sensitive items, it is to have any.
Guess guess_of(const CutRows& rows, int32_t wanted, uint8_t rule, View<Match> matches, Control& control) {
    if (matches.empty()) return {};
    const double largest = std::ranges::max_element(matches, {}, &Match::log_weight)->log_weight;
    Values<Guess> believed(control);
    Vector<int32_t> value(control);
    double all = 0;
    for (const Match& match : matches) {
        const double each = std::exp(match.log_weight - largest) / double(rows.size(match.bucket));
        for (int64_t r = rows.starts[match.bucket]; r < rows.starts[match.bucket + 1]; ++r) {
            control.poll();
            value.clear();
            for (int32_t item : rows.data.row(r))
                if (rows.column_of[item] == wanted) value.push_back(item);
            if (rule == Rule::free && value.empty()) continue;
            all += each;
            if (rule == Rule::sensitive && value.empty()) continue;
            Guess& guess = believed.add(wanted, rule == Rule::sensitive ? View<int32_t>() : View(value)).tally;
            if (guess.row < 0) guess.row = r;
            guess.probability += each;
        }
    }
    if (believed.all().empty()) return {};
    const auto likely = [](const auto& entry) { return entry.tally.probability; };
    const Guess& surest = std::ranges::max_element(believed.all(), {}, likely)->tally;
    return {surest.probability / all, surest.row};
}

void check(const CutRows& rows, const Guesses& guesses) {
    const auto& [targets, wanted, known_offsets, known_columns] = guesses;
    const auto wrong_column = [&](int32_t column) { return column < 0 || column >= rows.columns; };
    if (wanted.size() != targets.size() || known_offsets.size() != targets.size() + 1)
        throw std::invalid_argument("guesses of different numbers");
    if (known_offsets.front() != 0 || known_offsets.back() != known_columns.size() ||
        !std::ranges::is_sorted(known_offsets))
        throw std::invalid_argument("offsets do not frame the known columns");
    if (std::ranges::any_of(targets, [&](int64_t row) { return row < 0 || row >= rows.data.rows(); }))
        throw std::invalid_argument("a target is no row");
    if (std::ranges::any_of(wanted, wrong_column) || std::ranges::any_of(known_columns, wrong_column))
        throw std::invalid_argument("there is no such column");
}

// For each guess its probability and a row with the guessed value, as far as row_limit rows of matching buckets go, but
// at least for the first; then the buckets that match each of these.
nb::tuple anatomy_guesses(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> starts,
                          View<int32_t> column_of, View<uint8_t> rules, const Guesses& asked, int64_t row_limit,
                          int threads) {
    const CutRows rows(offsets, items, starts, column_of, rules.size());
    check(rows, asked);
    std::optional<Questions> questions;
    std::deque<Matcher> matchers;  // they stay where they are
    control.single([&] {
        questions.emplace(rows, asked, control);
        for (int t = 0; t < rows.useful(threads); ++t) matchers.emplace_back(rows, *questions, control);
    });
    rows.each_bucket(control, 2, int(matchers.size()),
                     [&](int64_t bucket, int worker) { matchers[worker].read(bucket); });

    Vector<Match>& matches = matchers.front().matches;
    List<int64_t> first;  // match of each guess that is looked at
    control.single([&] {
        for (; matchers.size() > 1; matchers.pop_back())
            matches.insert(matches.end(), matchers.back().matches.begin(), matchers.back().matches.end());
        std::ranges::sort(matches, {}, [](const Match& match) { return std::pair(match.guess, match.bucket); });
        int64_t left = row_limit;
        Index next = 0;
        for (int64_t guess = 0; guess < questions->count() && (guess == 0 || left > 0); ++guess) {
            first.push_back(next);
            for (; next < matches.size() && matches[next].guess == guess; ++next)
                left -= rows.size(matches[next].bucket);
        }
        first.push_back(next);
    });
    const auto of_guess = [&](int64_t guess) { return part(matches, first, guess); };
    List<Guess> guesses(first.size() - 1);
    control.begin(3, guesses.size());
    control.parallel(threads, guesses.size(), [&](int64_t guess, int) {
        const int32_t column = questions->wanted[guess];
        guesses[guess] = guess_of(rows, column, rules[column], of_guess(guess), control);
    });

    const View<Match> looked_at = View(matches).first(first.back());
    return nb::make_tuple(to_numpy(guesses, &Guess::probability), to_numpy(guesses, &Guess::row),
                          to_numpy(std::move(first)), to_numpy(looked_at, &Match::bucket));
}

}  // namespace

void register_audit_anatomy_attack(nb::module_& m) {
    nb::class_<Guesses>(m, "Guesses")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>, Array<int32_t>>(), nb::kw_only(), "targets"_a,
             "wanted"_a, "known_offsets"_a, "known_columns"_a);
    def_kernel(m, "anatomy_guesses", anatomy_guesses, "offsets"_a, "items"_a, "starts"_a, "column_of"_a, "rules"_a,
               "guesses"_a, nb::kw_only(), "row_limit"_a, "threads"_a);
}

}  // namespace veilset
