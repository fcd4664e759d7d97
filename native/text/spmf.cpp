// SPMF: ids separated by blanks, one transaction a line; comments (#, %) and metadata (@) on lines of their own. In a
// sequence -1 ends an itemset and -2 the line: its items become one transaction, and the caller learns that an order
// was dropped.
#include "text/ids.hpp"

namespace veilset {
namespace {

struct Spmf : IdLines {
    List<std::pair<int64_t, std::string_view>> metadata;
    int64_t sequences = 0;

    using IdLines::IdLines;

    void read() {
        IdLines::read([&] { other(); });
    }

private:
    int64_t last_sequence_ = 0;  // its line

    void other() {
        if (at == line_start && (*at == '#' || *at == '%' || *at == '@')) return skip_remark();
        const std::string_view mark = word();
        if (mark != "-1" && mark != "-2") refuse_word(mark);
        at += mark.size();
        sequences += last_sequence_ != line;
        last_sequence_ = line;
        if (mark == "-1") return;
        while (!done() && is_blank(*at)) ++at;
        if (!line_ends()) refuse(" follows -2, which ends a sequence; begin a line for each sequence");
    }

    void skip_remark() {
        const char* first = at;
        while (!line_ends()) ++at;
        if (*first == '@') metadata.emplace_back(line, std::string_view(first, at));
        if (!done()) skip_line_end();
        line_start = at;
    }

    [[noreturn]] void refuse_word(std::string_view mark) const {
        if (mark.find(':') != mark.npos)
            refuse(" holds a colon: this is SPMF's form with utilities, which are not read");
        refuse(" is not an item id (a whole number; only -1 and -2 have a sign, in sequences)");
    }
};

nb::tuple parse_spmf(const nb::bytes& input, int64_t start, int64_t line, bool last) {
    Spmf lines(Block(input, start, line, last));
    {
        nb::gil_scoped_release release;
        lines.read();
    }
    nb::list metadata;
    for (auto [number, text] : lines.metadata)
        metadata.append(nb::make_tuple(number, nb::bytes(text.data(), text.size())));
    return nb::make_tuple(to_numpy(std::move(lines.offsets)), to_numpy(std::move(lines.codes)),
                          to_numpy(std::move(lines.ids)), lines.consumed(), lines.line, metadata, lines.sequences);
}

}  // namespace

void register_text_spmf(nb::module_& m) { m.def("parse_spmf", &parse_spmf, "text"_a, "start"_a, "line"_a, "last"_a); }

}  // namespace veilset
