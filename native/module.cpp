// The extension module: one submodule per folder, one register_* function per topic, each in a file of its own.
#include <nanobind/nanobind.h>

#include "core/control.hpp"
#include "text/text.hpp"

namespace nb = nanobind;

namespace veilset {
void register_core_generate(nb::module_& m);
void register_core_rows(nb::module_& m);
void register_text_delimited(nb::module_& m);
void register_text_fimi(nb::module_& m);
void register_text_gather(nb::module_& m);
void register_text_json(nb::module_& m);
void register_text_spmf(nb::module_& m);
void register_text_wide(nb::module_& m);
void register_text_write(nb::module_& m);
void register_mining_bit_variants(nb::module_& m);
void register_mining_count(nb::module_& m);
void register_mining_expected(nb::module_& m);
void register_mining_frequent(nb::module_& m);
void register_mining_keeping(nb::module_& m);
void register_mining_mole_cover(nb::module_& m);
void register_mining_mole_tree(nb::module_& m);
void register_mining_moles(nb::module_& m);
void register_mining_pairs(nb::module_& m);
void register_mining_rules(nb::module_& m);
void register_mining_supports(nb::module_& m);
void register_rules_hitting_bound(nb::module_& m);
void register_rules_keeping(nb::module_& m);
void register_rules_noise(nb::module_& m);
void register_rules_suppress(nb::module_& m);
void register_hiding_certified(nb::module_& m);
void register_hiding_product(nb::module_& m);
void register_anatomy_buckets(nb::module_& m);
void register_anatomy_rows(nb::module_& m);
void register_anatomy_values(nb::module_& m);
void register_audit_anatomy(nb::module_& m);
void register_audit_anatomy_attack(nb::module_& m);
void register_audit_coherence(nb::module_& m);
void register_audit_patterns(nb::module_& m);
void register_audit_rho(nb::module_& m);
void register_audit_row_sizes(nb::module_& m);
}  // namespace veilset

NB_MODULE(_native, m) {
    m.doc() = "Kernels of veilset: no policy, no Python objects inside loops.";

    nb::module_ core = m.def_submodule("core", "What every kernel stands on: limits, and rows as they are held.");
    nb::exception<veilset::OverBudget> over_budget(core, "OverBudget", PyExc_RuntimeError);
    nb::exception<veilset::OutOfTime>(core, "OutOfTime", over_budget);
    nb::exception<veilset::OutOfMemory>(core, "OutOfMemory", over_budget);
    nb::exception<veilset::OutOfWork>(core, "OutOfWork", over_budget);
    veilset::register_core_generate(core);
    veilset::register_core_rows(core);

    nb::module_ text = m.def_submodule("text", "Text into rows, and rows into text.");
    nb::exception<veilset::ParseError> parse_error(text, "ParseError", PyExc_ValueError);
    nb::exception<veilset::NoPerson>(text, "NoPerson", parse_error);
    nb::exception<veilset::WrongWidth>(text, "WrongWidth", parse_error);
    veilset::register_text_delimited(text);
    veilset::register_text_fimi(text);
    veilset::register_text_gather(text);
    veilset::register_text_json(text);
    veilset::register_text_spmf(text);
    veilset::register_text_wide(text);
    veilset::register_text_write(text);

    nb::module_ mining = m.def_submodule("mining", "Itemsets and moles: what the anonymizers count with.");
    veilset::register_mining_bit_variants(mining);
    veilset::register_mining_count(mining);
    veilset::register_mining_expected(mining);
    veilset::register_mining_frequent(mining);
    veilset::register_mining_keeping(mining);
    veilset::register_mining_mole_cover(mining);
    veilset::register_mining_mole_tree(mining);
    veilset::register_mining_moles(mining);
    veilset::register_mining_pairs(mining);
    veilset::register_mining_rules(mining);
    veilset::register_mining_supports(mining);

    nb::module_ rules = m.def_submodule("rules", "Sensitive rules: what ρ-uncertainty takes.");
    veilset::register_rules_hitting_bound(rules);
    veilset::register_rules_keeping(rules);
    veilset::register_rules_noise(rules);
    veilset::register_rules_suppress(rules);

    nb::module_ hiding = m.def_submodule("hiding", "Patterns that must not be discoverable.");
    veilset::register_hiding_certified(hiding);
    veilset::register_hiding_product(hiding);

    nb::module_ anatomy = m.def_submodule("anatomy", "Values, buckets and rows of anatomies.");
    veilset::register_anatomy_buckets(anatomy);
    veilset::register_anatomy_rows(anatomy);
    veilset::register_anatomy_values(anatomy);

    nb::module_ audit = m.def_submodule("audit", "What the auditors count with, and nobody else.");
    veilset::register_audit_anatomy(audit);
    veilset::register_audit_anatomy_attack(audit);
    veilset::register_audit_coherence(audit);
    veilset::register_audit_patterns(audit);
    veilset::register_audit_rho(audit);
    veilset::register_audit_row_sizes(audit);
}
