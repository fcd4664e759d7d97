// The extension module: one submodule per folder, one register_* function per topic, each in a file of its own.
#include <nanobind/nanobind.h>

#include "core/control.hpp"

namespace nb = nanobind;

namespace veilset {
using Register = void(nb::module_&);
Register register_core_generate, register_core_rows;
Register register_text_delimited, register_text_errors, register_text_fimi, register_text_gather, register_text_json,
    register_text_spmf, register_text_wide, register_text_write;
Register register_mining_bit_variants, register_mining_count, register_mining_expected, register_mining_frequent,
    register_mining_keeping, register_mining_mole_cover, register_mining_mole_share, register_mining_mole_tree,
    register_mining_moles, register_mining_pairs, register_mining_rules, register_mining_supports;
Register register_partial_anchor, register_partial_bound, register_partial_put_back, register_partial_sensitive,
    register_partial_soft;
Register register_rules_hitting_bound, register_rules_keeping, register_rules_noise, register_rules_suppress;
Register register_hiding_certified, register_hiding_product;
Register register_anatomy_buckets, register_anatomy_rows, register_anatomy_values;
Register register_audit_anatomy, register_audit_anatomy_attack, register_audit_anatomy_profiles,
    register_audit_coherence, register_audit_coherence_share, register_audit_in_original, register_audit_patterns,
    register_audit_rho, register_audit_rho_in_original, register_audit_rho_share, register_audit_row_sizes,
    register_audit_whole_rows_share;
Register register_joins_classes, register_joins_splits;
}  // namespace veilset

NB_MODULE(_native, m) {
    using namespace veilset;
    m.doc() = "Kernels of veilset: no policy, no Python objects inside loops.";
    const auto add = [&](const char* name, const char* doc, std::initializer_list<Register*> topics) {
        nb::module_ folder = m.def_submodule(name, doc);
        for (Register* topic : topics) topic(folder);
        return folder;
    };

    const nb::module_ core = add("core", "What every kernel stands on: limits, and rows as they are held.",
                                 {register_core_generate, register_core_rows});
    nb::exception<OverBudget> over_budget(core, "OverBudget", PyExc_RuntimeError);
    nb::exception<OutOfTime>(core, "OutOfTime", over_budget);
    nb::exception<OutOfMemory>(core, "OutOfMemory", over_budget);
    nb::exception<OutOfWork>(core, "OutOfWork", over_budget);
    add("text", "Text into rows, and rows into text.",
        {register_text_delimited, register_text_errors, register_text_fimi, register_text_gather, register_text_json,
         register_text_spmf, register_text_wide, register_text_write});
    add("mining", "Itemsets and moles: what the anonymizers count with.",
        {register_mining_bit_variants, register_mining_count, register_mining_expected, register_mining_frequent,
         register_mining_keeping, register_mining_mole_cover, register_mining_mole_share, register_mining_mole_tree,
         register_mining_moles, register_mining_pairs, register_mining_rules, register_mining_supports});
    add("partial", "Which single occurrences may stay.",
        {register_partial_anchor, register_partial_bound, register_partial_put_back, register_partial_sensitive,
         register_partial_soft});
    add("rules", "Sensitive rules: what ρ-uncertainty takes.",
        {register_rules_hitting_bound, register_rules_keeping, register_rules_noise, register_rules_suppress});
    add("hiding", "Patterns that must not be discoverable.", {register_hiding_certified, register_hiding_product});
    add("anatomy", "Values, buckets and rows of anatomies.",
        {register_anatomy_buckets, register_anatomy_rows, register_anatomy_values});
    add("audit", "What the auditors count with, and nobody else.",
        {register_audit_anatomy, register_audit_anatomy_attack, register_audit_anatomy_profiles,
         register_audit_coherence, register_audit_coherence_share, register_audit_in_original, register_audit_patterns,
         register_audit_rho, register_audit_rho_in_original, register_audit_rho_share, register_audit_row_sizes,
         register_audit_whole_rows_share});
    add("joins", "Decision trees over a join that is never computed: what a site does at home.",
        {register_joins_classes, register_joins_splits});
}
