// FIMI: one transaction a line, ids separated by blanks.
#include "text/ids.hpp"

namespace veilset {
namespace {

nb::tuple parse_fimi(const nb::bytes& input, int64_t start, int64_t line, bool last) {
    IdLines lines(Block(input, start, line, last));
    {
        nb::gil_scoped_release release;
        lines.read([&] { lines.refuse(" is not an item id (a whole number without sign)"); });
    }
    return nb::make_tuple(to_numpy(std::move(lines.offsets)), to_numpy(std::move(lines.codes)),
                          to_numpy(std::move(lines.ids)), lines.consumed(), lines.line);
}

}  // namespace

void register_text_fimi(nb::module_& m) { m.def("parse_fimi", &parse_fimi, "text"_a, "start"_a, "line"_a, "last"_a); }

}  // namespace veilset
