// The extension module: one register_* function per topic, each in a file of its own.
#include <nanobind/nanobind.h>

#include "control.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace veilset {
void register_text_fimi(nb::module_& m);
void register_text_spmf(nb::module_& m);
void register_text_delimited(nb::module_& m);
void register_text_wide(nb::module_& m);
void register_text_json(nb::module_& m);
void register_text_write(nb::module_& m);
void register_rows(nb::module_& m);
void register_gather(nb::module_& m);
void register_bits(nb::module_& m);
void register_audit_coherence(nb::module_& m);
void register_audit_rho(nb::module_& m);
void register_audit_patterns(nb::module_& m);
void register_audit_anatomy(nb::module_& m);
void register_audit_anatomy_attack(nb::module_& m);
void register_mining_frequent(nb::module_& m);
void register_mining_count(nb::module_& m);
void register_mining_moles(nb::module_& m);
void register_mining_keeping(nb::module_& m);
void register_mining_supports(nb::module_& m);
void register_mining_expected(nb::module_& m);
void register_mining_pairs(nb::module_& m);
void register_mining_rules(nb::module_& m);
void register_suppress_tree(nb::module_& m);
void register_suppress_search(nb::module_& m);
void register_suppress_rules(nb::module_& m);
void register_rules_keeping(nb::module_& m);
void register_generate(nb::module_& m);
void register_noise(nb::module_& m);
void register_hitting_bound(nb::module_& m);
void register_hiding_product(nb::module_& m);
void register_hiding_certified(nb::module_& m);
void register_anatomy_buckets(nb::module_& m);
void register_anatomy_rows(nb::module_& m);
void register_anatomy_values(nb::module_& m);
}  // namespace veilset

NB_MODULE(_native, m) {
    m.doc() = "Kernels of veilset: no policy, no Python objects inside loops.";
    nb::exception<veilset::OverBudget>(m, "OverBudget", PyExc_RuntimeError);
    nb::exception<veilset::ParseError>(m, "ParseError", PyExc_ValueError);
    veilset::register_text_fimi(m);
    veilset::register_text_spmf(m);
    veilset::register_text_delimited(m);
    veilset::register_text_wide(m);
    veilset::register_text_json(m);
    veilset::register_text_write(m);
    veilset::register_rows(m);
    veilset::register_gather(m);
    veilset::register_bits(m);
    veilset::register_audit_coherence(m);
    veilset::register_audit_rho(m);
    veilset::register_audit_patterns(m);
    veilset::register_audit_anatomy(m);
    veilset::register_audit_anatomy_attack(m);
    veilset::register_mining_frequent(m);
    veilset::register_mining_count(m);
    veilset::register_mining_moles(m);
    veilset::register_mining_keeping(m);
    veilset::register_mining_supports(m);
    veilset::register_mining_expected(m);
    veilset::register_mining_pairs(m);
    veilset::register_mining_rules(m);
    veilset::register_suppress_tree(m);
    veilset::register_suppress_search(m);
    veilset::register_suppress_rules(m);
    veilset::register_rules_keeping(m);
    veilset::register_generate(m);
    veilset::register_noise(m);
    veilset::register_hitting_bound(m);
    veilset::register_hiding_product(m);
    veilset::register_hiding_certified(m);
    veilset::register_anatomy_buckets(m);
    veilset::register_anatomy_rows(m);
    veilset::register_anatomy_values(m);
}
