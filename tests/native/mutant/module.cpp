// The kernels that decide what is a mole, as an extension of their own.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace veilset {
void register_mining_keeping(nb::module_& m);
void register_mining_moles(nb::module_& m);
}  // namespace veilset

NB_MODULE(_mutant, m) {
    veilset::register_mining_keeping(m);
    veilset::register_mining_moles(m);
}
