// The auditor of ρ-uncertainty: its own counting, which shares nothing with the anonymizers but the CSR view.
//
// The promise is broken if for some sensitive item α and some χ that a row with α holds besides it, sensitive items and
// the empty set included, at least the share ρ of the rows that hold χ hold α (Cao et al., VLDB 2010, Definition 3.1).
// Every sensitive item is decided by itself, in batches that fit into the memory (audit/rho_rows.hpp), from what is
// cheap to what is dear:
//     1. χ = ∅ and single items;
//     2. χ = t∖α, all the rest of a row t: what an attacker knows who knows most (audit/rho_item.hpp);
//        everything between, by a search over closed antecedents (audit/rho_search.hpp, where its bounds are derived);
//     3. if no item is given away, the same search for the largest confidence there is.
#include <nanobind/stl/vector.h>

#include "audit/inferences.hpp"

namespace veilset {
namespace {

using namespace auditing;

class Auditor {
public:
    Auditor(const Csr& data, View<uint8_t> sensitive, Threshold limit, int64_t batch_limit, int64_t work_limit,
            Control& control)
        : sensitive_(sensitive), nothing_(sensitive.size(), none, control), control_(control),
          rows_(data, nothing_, 0, control), inferences_(rows_, limit, batch_limit, control) {
        inferences_.take_at_most(work_limit);
    }

    void run(int threads) {
        if (std::ranges::none_of(sensitive_, [](uint8_t flag) { return flag != 0; })) return;
        control_.begin(stage::loading, 1);
        control_.single([&] { rows_.count(); });
        for (int32_t item = rows_.items() - 1; item >= 0; --item)
            if (sensitive_[rows_.code(item)] && rows_.support(item) > 0) inferences_.ask(item);
        if (inferences_.findings().empty()) return;
        inferences_.decide(threads);
        if (inferences_.all_hold()) exact_ = inferences_.find_surest();
    }

    nb::dict result(int64_t witness_limit) {
        nb::dict out;
        List<const Finding*> broken;
        for (Finding& finding : inferences_.findings()) {
            rows_.name(finding.rule.items);
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
        out["checked"] = inferences_.checked();
        out["exact"] = exact_;
        const auto [proof, margin] = inferences_.steps();
        out["steps"] = nb::make_tuple(proof, margin);
        out["largest"] = nb::none();
        if (broken.empty() && !inferences_.findings().empty()) {
            const Finding& most = inferences_.surest();
            out["largest"] =
                nb::make_tuple(most.rule.with, most.rule.support(), rows_.code(most.sensitive), most.rule.items);
        }
        return out;
    }

private:
    View<uint8_t> sensitive_;
    Vector<int32_t> nothing_;  // that is not an item
    Control& control_;
    MergedRows rows_;
    Inferences inferences_;
    bool exact_ = true;  // the largest certainty
};

nb::dict audit_rho(Control& control, View<int64_t> offsets, View<int32_t> items, View<uint8_t> sensitive,
                   int64_t rho_num, int64_t rho_den, int64_t witness_limit, int64_t batch_limit, int64_t work_limit,
                   int threads) {
    if (rho_num < 1 || rho_num > rho_den) throw std::invalid_argument("rho is no share");
    if (rho_den > 1'000'000) throw std::invalid_argument("rho is too fine");  // counts times rho must fit in 64 bits
    if (witness_limit < 0) throw std::invalid_argument("witness_limit is negative");
    Csr data(offsets, items, int32_t(sensitive.size()));
    Auditor auditor(data, sensitive, {rho_num, rho_den, false}, batch_limit, work_limit, control);
    auditor.run(threads);
    return auditor.result(witness_limit);
}

}  // namespace

void register_audit_rho(nb::module_& m) {
    def_kernel(m, "rho", audit_rho, "offsets"_a, "items"_a, "sensitive"_a, nb::kw_only(), "rho_num"_a, "rho_den"_a,
               "witness_limit"_a, "batch_limit"_a, "work_limit"_a, "threads"_a);
}

}  // namespace veilset
