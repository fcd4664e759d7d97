#include <nanobind/nanobind.h>
namespace nb = nanobind;
namespace veilset {
void register_generate(nb::module_&) {}
}  // namespace veilset
