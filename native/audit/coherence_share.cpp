// A share of the auditor of coherence: some branches at one level, for data that no machine holds as a whole.
//
// A branch needs the rows that hold its item, without the rarer ones, and the safe itemsets of all smaller sizes
// (audit/branches.hpp). So what the branches first .. end - 1 find is the same wherever they are looked at, if the
// numbering, the supports and the trie are those of the whole data. src/veilset/audit/coherence_spread.py goes from
// level to level as audit/coherence.cpp does, and adds up what the shares found in the same order.
//
// A branch may be too large for one share. Then a share looks at those of its itemsets that have their second item in a
// range; it needs the rows with such an item, without those before the first one, except that of the branch.
//
// Rows that are equal after items were left out come as one, with a weight.
#include <nanobind/stl/vector.h>

#include "audit/batches.hpp"
#include "audit/branches.hpp"

namespace veilset {
namespace {

using namespace auditing;

// The safe itemsets of one size, as they came out of the shares.
struct FoundLevel {
    Array<int32_t> items;
    Array<int64_t> supports;
    Array<int32_t> children;
};

class CoherenceShare {
public:
    CoherenceShare(const Csr& data, View<int64_t> weights, View<int32_t> kind, int32_t kinds, Promise promise,
                   Index limit, int threads, Control& control)
        : promise_(promise), limit_(limit), control_(control), rows_(data, kind, kinds, control, weights),
          batches_(rows_, work_, 0, threads, control), before_(nothing()), judge_(promise, rows_, before_.worst),
          found_(nothing()) {}

    void number(View<int32_t> order, View<int64_t> supports, Index vocabulary) {
        Vector<int32_t> items(order.begin(), order.end(), control_);
        Vector<int64_t> support(vocabulary, 0, control_);
        for (Index i = 0; i < order.size(); ++i) support[order[i]] = supports[i];
        rows_.number(items, support);
    }
    void add_level(const FoundLevel& level) {
        Vector<int32_t> items(level.items.begin(), level.items.end(), control_);
        Vector<int64_t> supports(level.supports.begin(), level.supports.end(), control_);
        trie_.add(Level(std::move(items), std::move(supports), level.children, control_));
    }
    // What was met before: it prunes; an equal value met here is not told.
    void met(int64_t smallest_support, int64_t breach_with, int64_t breach_of, int64_t any_with, int64_t any_of) {
        before_.margins.smallest_support = smallest_support;
        before_.margins.breach = {breach_with, breach_of, none, {}};
        before_.margins.any = {any_with, any_of, none, {}};
    }

    // With no more than so many steps; if those are not enough, nothing is found.
    void look(int64_t level, int64_t first, int64_t end, Seconds seconds, int64_t steps) {
        work_.left = steps;
        const bool last = level == promise_.p;
        rows_.end_at(end);
        Vector<Found> found(control_);
        found.reserve(end - first);
        for (int64_t b = first; b < end; ++b) found.push_back(nothing());
        // Single items without enough holders, and those that give nothing away, are judged without a look at rows.
        int64_t b = first;
        for (; level == 1 && b < end && (rows_.support(b) < promise_.k || rows_.kinds() == 0); ++b) {
            Found& into = found[b - first];
            ++into.checked;
            if (judge_.safe({}, int32_t(b), rows_.support(b), none, 0, into))
                into.extended_by(int32_t(b), rows_.support(b));
        }
        try {
            batches_.each(
                level, b, level > 1, [&] { return BranchReader(judge_, rows_, trie_, work_, control_); },
                [&](int64_t branch, BranchReader& reader) {
                    reader.only_seconds(seconds);
                    Found& into = found[branch - first];
                    into.margins = before_.margins;
                    if (level == 1) reader.judge_single(branch, into);
                    else reader.judge_larger(branch, level, last, into);
                },
                [&](int64_t branch) { found[branch - first] = nothing(); });
        } catch (const OutOfWork&) {
            steps_ = steps + 1;
            return;
        }
        found_ = joined(std::move(found_), found, level == 1 || !last, control_);
        steps_ = steps - work_.left;
    }

    nb::dict result() {
        nb::dict out;
        Witnesses witnesses;
        for (const Mole& m : found_.worst.sorted()) witnesses.add(m.items, m.support, m.sensitive, m.with);
        witnesses.put_into(out);
        const Margins& margins = found_.margins;
        auto share = [](const Share& s) { return nb::make_tuple(s.with, s.support, s.sensitive, s.items); };
        out["steps"] = steps_;
        out["identity"] = found_.identity;
        out["attribute"] = found_.attribute;
        out["checked"] = found_.checked;
        out["smallest_support"] = nb::make_tuple(margins.smallest_support, margins.smallest_items);
        out["largest_breach"] = share(margins.breach);
        out["largest_any"] = share(margins.any);
        auto array = [](const auto& values) {
            return to_numpy(List<std::ranges::range_value_t<decltype(values)>>(values.begin(), values.end()));
        };
        out["items"] = array(found_.items);
        out["supports"] = array(found_.supports);
        out["children"] = array(found_.children);
        return out;
    }

private:
    Found nothing() {
        return {{promise_, limit_, control_}, {}, 0, 0, 0, Vector<int32_t>(control_), Vector<int64_t>(control_),
                Vector<int32_t>(control_)};
    }

    Promise promise_;
    Index limit_;
    Control& control_;
    Rows rows_;
    Work work_;
    Batches batches_;
    Trie trie_;
    Found before_;
    Judge judge_;
    Found found_;
    int64_t steps_ = 0;  // one more than allowed: they were not enough
};

nb::dict audit_coherence_share(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                               View<int32_t> kind, View<int32_t> order, View<int64_t> supports,
                               std::vector<Array<int32_t>> level_items, std::vector<Array<int64_t>> level_supports,
                               std::vector<Array<int32_t>> level_children, std::vector<int64_t> met, int32_t kinds,
                               int64_t h_num, int64_t h_den, int64_t k, int64_t p, int64_t level, int64_t first,
                               int64_t end, int64_t second, int64_t second_end, int64_t witness_limit,
                               int64_t work_limit, int threads) {
    for (int32_t which : kind)
        if (which < none || which >= kinds) throw std::invalid_argument("there is no such sensitive thing");
    const Index vocabulary = View(kind).size();
    for (int32_t item : order)
        if (item < 0 || item >= vocabulary || kind[item] != none)
            throw std::invalid_argument("a numbered item is not a public one of the vocabulary");
    Csr data(offsets, items, int32_t(vocabulary));
    if (!weights.empty() && weights.size() != data.rows()) throw std::invalid_argument("not one weight for each row");
    if (supports.size() != order.size() || first < 0 || end < first || end > order.size())
        throw std::invalid_argument("these are not branches of the numbering");
    if (second < 0 || second_end < second || second_end > order.size())
        throw std::invalid_argument("these are not second items of the numbering");
    if (met.size() != 5 || level < 1 || level_items.size() != size_t(std::max<int64_t>(0, level - 2)) ||
        level_supports.size() != level_items.size() || level_children.size() != level_items.size())
        throw std::invalid_argument("a level needs all levels before it");

    CoherenceShare share(data, weights, kind, kinds, {h_num, h_den, k, p}, witness_limit, threads, control);
    share.number(order, supports, vocabulary);
    Index above = order.size();
    for (size_t i = 0; i < level_items.size(); ++i) {
        const FoundLevel one{level_items[i], level_supports[i], level_children[i]};
        const Index children = std::accumulate(one.children.begin(), one.children.end(), Index(0));
        if (one.children.size() != above || children != one.items.size() || children != one.supports.size())
            throw std::invalid_argument("the levels do not fit together");
        above = children;
        share.add_level(one);
    }
    share.met(met[0], met[1], met[2], met[3], met[4]);
    share.look(level, first, end, {second, second_end}, work_limit);
    return share.result();
}

}  // namespace

void register_audit_coherence_share(nb::module_& m) {
    def_kernel(m, "coherence_share", audit_coherence_share, "offsets"_a, "items"_a, "weights"_a, "kind"_a, "order"_a,
               "supports"_a, "level_items"_a, "level_supports"_a, "level_children"_a, "met"_a, nb::kw_only(), "kinds"_a,
               "h_num"_a, "h_den"_a, "k"_a, "p"_a, "level"_a, "first"_a, "end"_a, "second"_a, "second_end"_a,
               "witness_limit"_a, "work_limit"_a, "threads"_a);
}

}  // namespace veilset
