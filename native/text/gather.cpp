// Pieces of a source put together: names numbered across pieces, and rows of one owner merged.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "core/arrays.hpp"
#include "text/text.hpp"

namespace veilset {
namespace {

// Distinct names, numbered in order of appearance, whichever piece they come in.
class Names {
public:
    // The number of each of these strings, given as offsets into one block of bytes.
    nb::object add(const Array<int64_t>& starts_, const Array<uint8_t>& bytes_) {
        auto starts = span_of(starts_);
        auto bytes = span_of(bytes_);
        if (starts.empty()) throw std::invalid_argument("no offsets");
        std::vector<int32_t> codes(starts.size() - 1);
        {
            nb::gil_scoped_release release;
            for (size_t i = 0; i < codes.size(); ++i) {
                if (starts[i] < 0 || starts[i + 1] < starts[i] || size_t(starts[i + 1]) > bytes.size())
                    throw std::invalid_argument("offsets do not frame the names");
                codes[i] = names_.code(
                    {reinterpret_cast<const char*>(bytes.data()) + starts[i], size_t(starts[i + 1] - starts[i])});
            }
        }
        return nb::cast(to_numpy(std::move(codes)));
    }
    size_t size() const { return names_.size(); }
    size_t bytes() const { return names_.bytes().size() + 40 * names_.size(); }  // with their places and slots, about
    // All names as offsets into one block of bytes; they are handed over, so this is the last call.
    nb::tuple take() { return names_.to_arrow(); }

private:
    Dictionary names_{std::string_view()};
};

// The codes that are used, in the order in which they appear first, and the codes as places in that order.
nb::tuple by_appearance(const Array<int32_t>& codes_, int64_t count) {
    auto codes = span_of(codes_);
    std::vector<int32_t> met, place(count, empty_field), numbered(codes.size());
    for (size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] < 0 || codes[i] >= count) throw std::invalid_argument("code out of range");
        int32_t& number = place[codes[i]];
        if (number == empty_field) {
            number = int32_t(met.size());
            met.push_back(codes[i]);
        }
        numbered[i] = number;
    }
    return nb::make_tuple(to_numpy(std::move(met)), to_numpy(std::move(numbered)));
}

// Gathers rows by owner into `out`, in the order given; -1 (an empty field) adds nothing. Gives the offsets.
nb::object group_rows(const Array<int64_t>& offsets_, const Array<int32_t>& codes_, const Array<int32_t>& owners_,
                      int64_t count, nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    auto offsets = span_of(offsets_);
    auto codes = span_of(codes_);
    auto owners = span_of(owners_);
    if (offsets.size() != owners.size() + 1 || offsets.front() != 0 || offsets.back() != int64_t(codes.size()))
        throw std::invalid_argument("offsets do not frame the items");
    std::vector<int64_t> begin(count + 1, 0);
    {
        nb::gil_scoped_release release;
        for (size_t r = 0; r < owners.size(); ++r) {
            if (owners[r] < 0 || owners[r] >= count) throw std::invalid_argument("owner out of range");
            if (offsets[r + 1] < offsets[r]) throw std::invalid_argument("offsets decrease");
            for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i) begin[owners[r] + 1] += codes[i] >= 0;
        }
        for (size_t g = 0; g < size_t(count); ++g) begin[g + 1] += begin[g];
        if (int64_t(out.size()) < begin.back()) throw std::invalid_argument("no room for the items");
        std::vector<int64_t> next(begin.begin(), begin.end() - 1);
        for (size_t r = 0; r < owners.size(); ++r)
            for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i)
                if (codes[i] >= 0) out.data()[next[owners[r]]++] = codes[i];
    }
    return nb::cast(to_numpy(std::move(begin)));
}

}  // namespace

void register_text_gather(nb::module_& m) {
    nb::class_<Names>(m, "Names")
        .def(nb::init<>())
        .def("add", &Names::add, nb::arg("starts").noconvert(), nb::arg("names").noconvert())
        .def("take", &Names::take)
        .def("__len__", &Names::size)
        .def_prop_ro("nbytes", &Names::bytes);
    m.def("by_appearance", &by_appearance, nb::arg("codes").noconvert(), nb::arg("count"));
    m.def("group_rows", &group_rows, nb::arg("offsets").noconvert(), nb::arg("codes").noconvert(),
          nb::arg("owners").noconvert(), nb::arg("count"), nb::arg("out").noconvert());
}

}  // namespace veilset
