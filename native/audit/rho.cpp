// The auditor of ρ-uncertainty: its own counting, which shares nothing with the anonymizers but the CSR view.
//
// The promise is broken if for some sensitive item α and some χ that a row with α holds besides it, sensitive items and
// the empty set included, at least the share ρ of the rows that hold χ hold α (Cao et al., VLDB 2010, Definition 3.1).
// Every sensitive item is decided by itself, from what is cheap to what is dear:
//     1. χ = ∅ and single items;
//     2. χ = t∖α, all the rest of a row t: what an attacker knows who knows most (audit/rho_item.hpp);
//        everything between, by a search over closed antecedents (audit/rho_search.hpp, where its bounds are derived);
//     3. if no item is given away, the same search for the largest confidence there is.
#include <nanobind/stl/vector.h>

#include <deque>

#include "audit/rho_item.hpp"
#include "audit/rho_rows.hpp"
#include "audit/rho_search.hpp"

namespace veilset {
namespace {

using namespace auditing;

// What is known about one sensitive item.
struct Finding {
    int32_t sensitive;
    bool broken = false;
    Rule rule;  // a violation, or the surest rule met so far
};

class Auditor {
public:
    Auditor(const Csr& data, View<uint8_t> sensitive, Threshold limit, Control& control)
        : sensitive_(sensitive), limit_(limit), control_(control), rows_(data, control), findings_(control) {}

    void run(int threads) {
        if (std::ranges::none_of(sensitive_, [](uint8_t flag) { return flag != 0; })) return;
        control_.begin(1, 1);
        control_.single([&] { rows_.load(); });
        // The most frequent items first: the longest work is not left to the end, when the other threads are idle.
        for (int32_t item = rows_.items() - 1; item >= 0; --item)
            if (sensitive_[rows_.code(item)] && rows_.support(item) > 0) findings_.push_back({item, false, {}});
        if (findings_.empty()) return;
        for (int t = 0; t < Control::useful(threads, findings_.size()); ++t) examiners_.emplace_back(rows_, control_);

        each(1, 0, findings_.size(), [&](Finding& finding, Examiner& examiner) {
            finding.rule = examiner.simplest();
            finding.broken = limit_.reached(finding.rule);
        });
        each(2, 0, findings_.size(), [&](Finding& finding, Examiner& examiner) {
            if (!finding.broken) decide(finding, examiner);
        });
        if (all_hold()) find_surest();
    }

    nb::dict result(int64_t witness_limit) {
        nb::dict out;
        List<const Finding*> broken;
        for (Finding& finding : findings_) {
            name(finding.rule);
            if (finding.broken) broken.push_back(&finding);
        }
        const Index listed = std::min(witness_limit, broken.size());
        std::ranges::partial_sort(broken, broken.begin() + listed, [&](const Finding* a, const Finding* b) {
            if (more_severe(a->rule, b->rule)) return true;
            return !more_severe(b->rule, a->rule) && rows_.code(a->sensitive) < rows_.code(b->sensitive);
        });
        Witnesses witnesses;
        for (const Finding* finding : View(broken).first(listed))
            witnesses.add(finding->rule.items, finding->rule.support(), rows_.code(finding->sensitive),
                          finding->rule.with);
        witnesses.put_into(out);
        out["found"] = broken.size();
        out["checked"] = checked();
        out["largest"] = nb::none();
        if (broken.empty() && !findings_.empty()) {
            const Finding& most = surest();
            out["largest"] =
                nb::make_tuple(most.rule.with, most.rule.support(), rows_.code(most.sensitive), most.rule.items);
        }
        return out;
    }

private:
    // body(finding, examiner) for the sensitive items first .. last - 1. What is found about one does not depend on the
    // others.
    template <class Body>
    void each(int64_t stage, Index first, Index last, Body body) {
        control_.begin(stage, findings_.size(), first);
        control_.parallel(int(examiners_.size()), last - first, [&](int64_t index, int worker) {
            Finding& finding = findings_[first + index];
            Examiner& examiner = examiners_[worker];
            examiner.begin(finding.sensitive);
            body(finding, examiner);
            examiner.end();
        });
    }

    bool all_hold() const { return std::ranges::none_of(findings_, &Finding::broken); }

    // Of those that are equal, the first in this order.
    const Finding& surest() const {
        return *std::ranges::max_element(findings_,
                                         [](const Finding& a, const Finding& b) { return b.rule.surer_than(a.rule); });
    }
    static Threshold above(const Rule& rule) { return {rule.with, rule.support(), true}; }

    void decide(Finding& finding, Examiner& examiner) {
        Rule rule = examiner.whole_rows(limit_, false);
        if (!limit_.reached(rule)) {
            if (rule.surer_than(finding.rule)) finding.rule = std::move(rule);
            rule = examiner.search(limit_, false);
        }
        finding.broken = limit_.reached(rule);
        if (finding.broken) finding.rule = examiner.shortened(rule.items, limit_);
    }

    // Branch and bound: only what is surer than the surest rule met is looked for. The items of a batch all start from
    // what the batches before it have found, so that neither the rule found nor the work depends on the number of
    // threads.
    void find_surest() {
        constexpr Index batch = 64;
        for (Index first = 0; first < findings_.size(); first += batch) {
            const Threshold known = above(surest().rule);
            each(3, first, std::min(first + batch, findings_.size()), [&](Finding& finding, Examiner& examiner) {
                Threshold wanted = known;
                for (Rule rule; wanted.reached(rule = examiner.whole_rows(wanted, true)); wanted = above(finding.rule))
                    finding.rule = std::move(rule);
                if (Rule rule = examiner.search(wanted, true); rule.with > 0) finding.rule = std::move(rule);
            });
        }
    }

    // From numbers to codes of the vocabulary.
    void name(Rule& rule) const {
        for (int32_t& item : rule.items) item = rows_.code(item);
        std::sort(rule.items.begin(), rule.items.end());
    }

    int64_t checked() const {
        int64_t sum = 0;
        for (const Examiner& examiner : examiners_) sum += examiner.checked();
        return sum;
    }

    View<uint8_t> sensitive_;
    Threshold limit_;
    Control& control_;
    MergedRows rows_;
    Vector<Finding> findings_;
    std::deque<Examiner> examiners_;  // they stay where they are
};

nb::dict audit_rho(Control& control, View<int64_t> offsets, View<int32_t> items, View<uint8_t> sensitive,
                   int64_t rho_num, int64_t rho_den, int64_t witness_limit, int threads) {
    if (rho_num < 1 || rho_num > rho_den) throw std::invalid_argument("rho is no share");
    if (rho_den > 1'000'000) throw std::invalid_argument("rho is too fine");  // counts times rho must fit in 64 bits
    if (witness_limit < 0) throw std::invalid_argument("witness_limit is negative");
    Csr data(offsets, items, int32_t(sensitive.size()));
    Auditor auditor(data, sensitive, {rho_num, rho_den, false}, control);
    auditor.run(threads);
    return auditor.result(witness_limit);
}

}  // namespace

void register_audit_rho(nb::module_& m) {
    def_kernel(m, "rho", audit_rho, "offsets"_a, "items"_a, "sensitive"_a, nb::kw_only(), "rho_num"_a, "rho_den"_a,
               "witness_limit"_a, "threads"_a);
}

}  // namespace veilset
