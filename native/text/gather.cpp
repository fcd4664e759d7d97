// Pieces of a source put together: names numbered across pieces, and rows of one owner merged.
#include "text/text.hpp"

namespace veilset {
namespace {

// The number of each of these strings, given as offsets into one block of bytes, whichever piece they come in.
Output<int32_t> add(Dictionary& names, View<int64_t> starts, View<uint8_t> bytes) {
    if (starts.empty()) throw std::invalid_argument("no offsets");
    List<int32_t> codes(starts.size() - 1);
    {
        nb::gil_scoped_release release;
        for (Index i = 0; i < codes.size(); ++i) {
            if (starts[i] < 0 || starts[i + 1] < starts[i] || starts[i + 1] > bytes.size())
                throw std::invalid_argument("offsets do not frame the names");
            codes[i] = names.code(text_of(part(bytes, starts, i)));
        }
    }
    return to_numpy(std::move(codes));
}

// What they take with their places and slots, about.
Index bytes_of(const Dictionary& names) { return names.bytes().size() + 40 * names.size(); }

// The codes that are used, in the order in which they appear first, and the codes as places in that order.
nb::tuple by_appearance(View<int32_t> codes, int64_t count) {
    List<int32_t> met, place(count, empty_field), numbered;
    numbered.reserve(codes.size());
    for (int32_t code : codes) {
        if (code < 0 || code >= count) throw std::invalid_argument("code out of range");
        int32_t& number = place[code];
        if (number == empty_field) {
            number = int32_t(met.size());
            met.push_back(code);
        }
        numbered.push_back(number);
    }
    return nb::make_tuple(to_numpy(std::move(met)), to_numpy(std::move(numbered)));
}

// Gathers rows by owner into `out`, in the order given; -1 (an empty field) adds nothing. Gives the offsets.
Output<int64_t> group_rows(View<int64_t> offsets, View<int32_t> codes, View<int32_t> owners, int64_t count,
                           nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    if (offsets.size() != owners.size() + 1 || offsets.front() != 0 || offsets.back() != codes.size())
        throw std::invalid_argument("offsets do not frame the items");
    List<int64_t> begin(count + 1, 0);
    {
        nb::gil_scoped_release release;
        for (Index r = 0; r < owners.size(); ++r) {
            if (owners[r] < 0 || owners[r] >= count) throw std::invalid_argument("owner out of range");
            if (offsets[r + 1] < offsets[r]) throw std::invalid_argument("offsets decrease");
            for (int32_t code : part(codes, offsets, r)) begin[owners[r] + 1] += code >= 0;
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        if (Index(out.size()) < begin.back()) throw std::invalid_argument("no room for the items");
        List<int64_t> next(begin.begin(), begin.end() - 1);
        for (Index r = 0; r < owners.size(); ++r)
            for (int32_t code : part(codes, offsets, r))
                if (code >= 0) out.data()[next[owners[r]]++] = code;
    }
    return to_numpy(std::move(begin));
}

}  // namespace

void register_text_gather(nb::module_& m) {
    nb::class_<Dictionary>(m, "Names")
        .def(nb::init<>())
        .def("add", &add, "starts"_a, "names"_a)
        .def("take", nb::overload_cast<>(&Dictionary::to_arrow))
        .def("__len__", &Dictionary::size)
        .def_prop_ro("nbytes", &bytes_of);
    m.def("by_appearance", &by_appearance, "codes"_a, "count"_a);
    m.def("group_rows", &group_rows, "offsets"_a, "codes"_a, "owners"_a, "count"_a, "out"_a.noconvert());
}

}  // namespace veilset
