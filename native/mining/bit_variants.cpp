// For tests: every variant of the loops in bits.cpp that this machine can run, on the same words.
#include <nanobind/stl/string.h>

#include <bit>
#include <string>

#include "core/arrays.hpp"
#include "mining/bits.hpp"

namespace veilset {
namespace {

// The number of ones of a & b, after all loops of a variant have shown that they agree on it.
int64_t and_count_with(const std::string& variant, View<uint64_t> a, View<uint64_t> b) {
    const Loops* loops = loops_named(variant);
    if (!loops) throw std::invalid_argument("this machine has no " + variant);
    if (a.size() != b.size()) throw std::invalid_argument("the bitmaps differ in length");
    List<uint64_t> out(a.size()), shifts(a.size());
    const auto told = [&](Loop* loop) { return loop(a.data(), b.data(), shifts.data(), out.data(), a.size()); };
    const auto check_stored = [&] {
        for (Index i = 0; i < out.size(); ++i)
            if (out[i] != (a[i] & b[i])) throw std::logic_error("the loops of " + variant + " store wrong");
        std::fill(out.begin(), out.end(), 0);
    };
    int64_t counted = 0, weighed = 0;
    for (Index i = 0; i < shifts.size(); ++i) {
        const int64_t ones = std::popcount(a[i] & b[i]);
        counted += ones;
        weighed += ones << (shifts[i] = i * 7 % 31);
    }
    const bool stores_count = told(loops->and_store_count) == counted;
    check_stored();
    if (!stores_count || told(loops->and_count) != counted)
        throw std::logic_error("the loops of " + variant + " disagree");
    const bool stores_weight = told(loops->and_store_weigh) == weighed;
    check_stored();
    if (!stores_weight || told(loops->and_weigh) != weighed)
        throw std::logic_error("the loops of " + variant + " weigh wrong");
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
    m.def("and_count_with", &and_count_with, "variant"_a, "a"_a, "b"_a);
}

}  // namespace veilset
