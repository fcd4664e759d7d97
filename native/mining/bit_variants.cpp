// For tests: every variant of the loops in bits.cpp that this machine can run, on the same words.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <bit>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/arrays.hpp"
#include "mining/bits.hpp"

namespace veilset {
namespace {

// The number of ones of a & b, after all loops of a variant have shown that they agree on it.
int64_t and_count_with(const std::string& variant, const Array<uint64_t>& a, const Array<uint64_t>& b) {
    const Loops* loops = loops_named(variant);
    if (!loops) throw std::invalid_argument("this machine has no " + variant);
    if (a.size() != b.size()) throw std::invalid_argument("the bitmaps differ in length");
    std::vector<uint64_t> out(a.size());
    const int64_t stored = loops->and_store_count(a.data(), b.data(), out.data(), a.size());
    const int64_t counted = loops->and_count(a.data(), b.data(), a.size());
    int64_t again = 0;
    for (size_t i = 0; i < out.size(); ++i) again += std::popcount(out[i]);
    if (stored != counted || again != counted) throw std::logic_error("the loops of " + variant + " disagree");
    std::vector<uint64_t> shifts(a.size());
    int64_t expected = 0;
    for (size_t i = 0; i < shifts.size(); ++i)
        expected += int64_t(std::popcount(a.data()[i] & b.data()[i])) << (shifts[i] = i * 7 % 31);
    if (loops->and_weigh(a.data(), b.data(), shifts.data(), a.size()) != expected ||
        loops->and_store_weigh(a.data(), b.data(), shifts.data(), out.data(), a.size()) != expected)
        throw std::logic_error("the loops of " + variant + " weigh wrong");
    for (size_t i = 0; i < out.size(); ++i)
        if (out[i] != (a.data()[i] & b.data()[i])) throw std::logic_error("the loops of " + variant + " store wrong");
    return counted;
}

nb::list bit_variants() {
    nb::list names;
    for (const char* name : {"portable", "popcnt", "avx512"})
        if (loops_named(name)) names.append(name);
    return names;
}

}  // namespace

void register_mining_bit_variants(nb::module_& m) {
    m.def("bit_variants", &bit_variants);
    m.def("and_count_with", &and_count_with, nb::arg("variant"), nb::arg("a").noconvert(), nb::arg("b").noconvert());
}

}  // namespace veilset
