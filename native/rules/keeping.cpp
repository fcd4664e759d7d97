// A set of kept items, free of violating rules: would one more item bring one with it?
// A rule that does not hold the new item was there before, so only those that know it or infer it need a look.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <tuple>

#include "rules/rows.hpp"
#include "rules/search.hpp"

namespace veilset {
namespace {

using namespace rules;

// Sensitive items first, so that they are the first of every row.
List<int32_t> sensitive_first(View<uint8_t> sensitive) {
    List<int32_t> rank(sensitive.size());
    int32_t next = 0;
    for (const bool first : {true, false})
        for (Index item = 0; item < sensitive.size(); ++item)
            if (bool(sensitive[item]) == first) rank[item] = next++;
    return rank;
}

class RuleKeeping {
public:
    RuleKeeping(View<int64_t> offsets, View<int32_t> items, View<int64_t> weights, View<uint8_t> sensitive,
                int64_t population, int64_t rho_num, int64_t rho_den, int64_t memory_limit)
        : memory_(memory_limit, std::numeric_limits<int32_t>::max(), nb::none()), rank_(sensitive_first(sensitive)),
          code_(sensitive.size()),
          rows_(Csr(offsets, items, int32_t(sensitive.size())), weights, rank_, int32_t(sensitive.size()), memory_),
          kept_(sensitive.size(), 0), seen_(sensitive.size(), 0),
          search_(rows_, population, {rho_num, rho_den}, kept_) {
        if (rho_num < 1 || rho_den < rho_num) throw std::invalid_argument("rho is outside (0, 1]");
        for (Index item = 0; item < rank_.size(); ++item) {
            code_[rank_[item]] = int32_t(item);
            sensitive_ += sensitive[item] != 0;
        }
    }
    RuleKeeping(const RuleKeeping&) = delete;  // the search looks at this one

    void keep(int32_t item) { kept_[rank_.at(item)] = 1; }
    void drop(int32_t item) { kept_[rank_.at(item)] = 0; }

    using Told = std::pair<int, std::vector<int32_t>>;

    // 0: none; 1: this one (its antecedent, then what is inferred); 2: not known within the work allowed. And the work
    // it took.
    std::tuple<int, std::vector<int32_t>, int64_t> brings_rule(int32_t code, int64_t work, double time_limit) {
        const int32_t item = rank_.at(code);
        Control control(memory_.limit(), time_limit, nb::none());
        const bool before = std::exchange(kept_[item], 1);
        const int64_t spent = search_.spent() + looked_;
        Told answer{0, {}};
        try {
            const List<int32_t> inferable = inferable_with(item);
            // Most answers are found sooner than a thread is started.
            answer = asked(item, inferable, std::min(work, little), control);
            if (answer.first == 2 && work > little)
                control.single([&] { answer = asked(item, inferable, work, control); });
        } catch (...) {
            kept_[item] = before;
            throw;
        }
        kept_[item] = before;
        return {answer.first, answer.second, search_.spent() + looked_ - spent};
    }

private:
    static constexpr int64_t little = 200'000;  // items of rows: about a millisecond

    Told asked(int32_t item, View<int32_t> inferable, int64_t work, Control& control) {
        // What most items are refused for is seen at a first look.
        for (const auto until : {Search::Until::first_look, Search::Until::found})
            for (int32_t inferred : inferable) {
                const Answer answer = search_.run(inferred, {inferred == item ? none : item, 0}, work, until, control);
                if (answer != Answer::safe) return told(answer, inferred);
            }
        return {0, {}};
    }

    Told told(Answer answer, int32_t inferred) const {
        std::vector<int32_t> rule;
        if (answer == Answer::broken)
            for (int32_t item : search_.witness()) rule.push_back(code_[item]);
        rule.push_back(code_[inferred]);
        return {answer == Answer::broken ? 1 : 2, rule};
    }

    // What a rule with this item can infer: itself, and the kept sensitive items that share a row with it.
    List<int32_t> inferable_with(int32_t item) {
        List<int32_t> found;
        looked_ += int64_t(rows_.holders(item).size());
        for (int32_t r : rows_.holders(item))
            for (int32_t other : rows_.row(r)) {
                if (other >= sensitive_) break;
                if (kept_[other] && !std::exchange(seen_[other], 1)) found.push_back(other);
            }
        for (int32_t other : found) seen_[other] = 0;
        std::ranges::sort(found, {}, [&](int32_t other) { return std::pair(other != item, other); });
        return found;
    }

    Control memory_;
    List<int32_t> rank_, code_;  // an item's number here, and back
    int32_t sensitive_ = 0;      // those below are
    Rows rows_;
    List<uint8_t> kept_, seen_;
    Search search_;
    int64_t looked_ = 0;
};

// Transactions that are asked again and again which of them hold something, and how some of them look under other
// names.
class WeightedRows {
public:
    WeightedRows(Array<int64_t> offsets, Array<int32_t> items, Array<int64_t> weights, int32_t vocabulary)
        : offsets_(std::move(offsets)), items_(std::move(items)), weights_(std::move(weights)),
          data_(offsets_, items_, vocabulary) {
        if (weights_.size() != data_.rows()) throw std::invalid_argument("one weight for each transaction, please");
    }

    // Some rows with their items renamed (none: left out) and equal ones merged.
    nb::tuple renamed(View<int64_t> rows, View<int32_t> names, int32_t vocabulary, int64_t memory_limit) const {
        if (int32_t(names.size()) != data_.vocabulary) throw std::invalid_argument("one name for each item, please");
        for (int32_t name : names)
            if (name < none || name >= vocabulary) throw std::invalid_argument("a name outside the vocabulary");
        Control control(memory_limit, std::numeric_limits<int32_t>::max(), nb::none());
        const Rows merged(data_, weights_, names, vocabulary, control, rows);
        List<int64_t> offsets(1, 0), weights;
        List<int32_t> items;
        for (int32_t r = 0; r < merged.rows(); ++r) {
            const auto row = merged.row(r);
            items.insert(items.end(), row.begin(), row.end());
            offsets.push_back(items.size());
            weights.push_back(merged.weight(r));
        }
        return to_tuple(offsets, items, weights);
    }

    // Those of some rows that hold a wanted item.
    Output<int64_t> holding(View<int64_t> rows, View<uint8_t> wanted) const {
        if (int32_t(wanted.size()) != data_.vocabulary) throw std::invalid_argument("one mark for each item, please");
        List<int64_t> found;
        for (int64_t r : rows) {
            if (r < 0 || r >= data_.rows()) throw std::invalid_argument("no such row");
            if (std::ranges::any_of(data_.row(r), [&](int32_t item) { return bool(wanted[item]); })) found.push_back(r);
        }
        return to_numpy(std::move(found));
    }

private:
    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<int64_t> weights_;
    Csr data_;
};

}  // namespace

void register_rules_keeping(nb::module_& m) {
    nb::class_<RuleKeeping>(m, "Keeping")
        .def(nb::init<View<int64_t>, View<int32_t>, View<int64_t>, View<uint8_t>, int64_t, int64_t, int64_t, int64_t>(),
             "offsets"_a, "items"_a, "weights"_a, "sensitive"_a, nb::kw_only(), "population"_a, "rho_num"_a,
             "rho_den"_a, "memory_limit"_a)
        .def("keep", &RuleKeeping::keep, "item"_a)
        .def("drop", &RuleKeeping::drop, "item"_a)
        .def("brings_rule", &RuleKeeping::brings_rule, "item"_a, nb::kw_only(), "work"_a, "time_limit"_a);
    nb::class_<WeightedRows>(m, "WeightedRows")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>, int32_t>(), "offsets"_a, "items"_a, "weights"_a,
             nb::kw_only(), "vocabulary"_a)
        .def("renamed", &WeightedRows::renamed, "rows"_a, "names"_a, nb::kw_only(), "vocabulary"_a, "memory_limit"_a)
        .def("holding", &WeightedRows::holding, "rows"_a, "wanted"_a);
}

}  // namespace veilset
