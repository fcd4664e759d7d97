// Class propagation (thesis §3.3.1): what a site does with the class summaries of its neighbours.
#include "joins/site.hpp"

namespace veilset::joins {

constexpr int64_t root = 0;

template <class Count>
Site<Count>::Site(Index rows_, Index classes_, const List<Array<int32_t>>& codes_, const List<int64_t>& distinct_,
                  const List<bool>& ordered_, const List<Array<int32_t>>& keys_, const List<int64_t>& key_counts_)
    : rows(rows_), classes(classes_), codes(codes_), distinct(distinct_), ordered(ordered_), keys(keys_),
      key_counts(key_counts_), sent(keys_.size()) {
    if (classes < 1 || rows < 0 || rows > std::numeric_limits<int32_t>::max() || codes.size() != distinct.size() ||
        codes.size() != ordered.size() || keys.size() != key_counts.size())
        throw std::invalid_argument("a site needs a class, and as many sizes as columns");
    const auto check = [&](const Array<int32_t>& column, Index least, Index count) {
        if (count < 0 || column.size() != rows)
            throw std::invalid_argument("a column has another length than its table");
        for (int32_t code : column)
            if (code < least || code >= count) throw std::invalid_argument("a code is out of range");
    };
    for (Index a = 0; a < codes.size(); ++a) check(codes[a], 0, distinct[a]);
    for (Index e = 0; e < keys.size(); ++e) check(keys[e], -1, key_counts[e]);
}

namespace {

// The target table: a row counts once for its class. Rows of class -1 have none, and take no part.
template <class Count>
void start(Control& control, Site<Count>& site, View<int32_t> classes) {
    if (classes.size() != site.rows) throw std::invalid_argument("every row needs a class");
    control.charge(site.rows * Index(sizeof(int32_t) + site.classes * sizeof(Count)));
    Cls<Count> cls;
    List<Count> counts(site.classes);
    for (Index row = 0; row < site.rows; ++row) {
        if (classes[row] < 0) continue;
        if (classes[row] >= site.classes) throw std::invalid_argument("a class is out of range");
        counts[classes[row]] = 1;
        cls.push(int32_t(row), counts);
        counts[classes[row]] = 0;
    }
    site.nodes[root] = std::move(cls);
}

// CS(this → the neighbour on this edge): the class counts of all rows of each join value (Definition 3).
template <class Count>
nb::tuple class_summary(Control& control, Site<Count>& site, Index edge) {
    site.check_edge(edge);
    const Cls<Count>& cls = site.at(root);
    List<Count>& sums = site.sent[edge];
    control.charge(site.key_counts[edge] * site.classes * Index(sizeof(Count)));
    List<int32_t> keys;
    List<Count> told;
    control.single([&] {
        sums.assign(site.key_counts[edge] * site.classes, 0);
        for (Index entry = 0; entry < cls.rows.size(); ++entry) {
            control.poll();
            const int32_t key = site.keys[edge][cls.rows[entry]];
            if (key < 0) continue;
            const View<Count> counts = site.counts(cls, entry);
            for (Index c = 0; c < site.classes; ++c)
                sums[key * site.classes + c] = sum(sums[key * site.classes + c], counts[c]);
        }
        for (Index key = 0; key < site.key_counts[edge]; ++key) {
            const auto counts = View<Count>(sums).subspan(key * site.classes, site.classes);
            if (!any(counts)) continue;
            keys.push_back(int32_t(key));
            told.insert(told.end(), counts.begin(), counts.end());
        }
    });
    List<uint64_t> words = to_words(View<Count>(told));
    return to_tuple(keys, words);
}

// Formula (1) at the first visit, else formula (2): a row's share of its join value stays, and the sum becomes what was
// told. ClsSum' of the formula is the last summary that this site sent on the edge. Rows without joined rows are
// dropped.
template <class Count>
void receive_classes(Control& control, Site<Count>& site, Index edge, View<int32_t> keys, View<uint64_t> words) {
    site.check_edge(edge);
    const List<Count> told = from_words<Count>(words);
    const Index classes = site.classes;
    if (told.size() != keys.size() * classes) throw std::invalid_argument("every key needs its class counts");
    const bool first_visit = !site.nodes.contains(root);
    control.charge(site.key_counts[edge] * classes * Index(sizeof(Count)) +
                   site.rows * Index(sizeof(int32_t) + classes * sizeof(Count)));
    control.single([&] {
        List<Count> sums(site.key_counts[edge] * classes, 0);
        for (Index i = 0; i < keys.size(); ++i) {
            if (keys[i] < 0 || keys[i] >= site.key_counts[edge]) throw std::invalid_argument("a key is out of range");
            std::ranges::copy(View<Count>(told).subspan(i * classes, classes), sums.begin() + keys[i] * classes);
        }
        Cls<Count> now;
        if (first_visit) {
            for (Index row = 0; row < site.rows; ++row) {
                control.poll();
                const int32_t key = site.keys[edge][row];
                if (key < 0) continue;
                const auto counts = View<Count>(sums).subspan(key * classes, classes);
                if (any(counts)) now.push(int32_t(row), counts);
            }
        } else {
            const Cls<Count>& before = site.at(root);
            const List<Count>& sent = site.sent[edge];
            if (sent.size() != sums.size()) throw std::invalid_argument("nothing was sent on this edge yet");
            List<Count> counts(classes);
            for (Index entry = 0; entry < before.rows.size(); ++entry) {
                control.poll();
                const int32_t key = site.keys[edge][before.rows[entry]];
                if (key < 0) continue;
                for (Index c = 0; c < classes; ++c)
                    counts[c] =
                        rescaled(site.counts(before, entry)[c], sums[key * classes + c], sent[key * classes + c]);
                if (any(View<Count>(counts))) now.push(before.rows[entry], counts);
            }
        }
        site.nodes[root] = std::move(now);
    });
}

template <class Count>
void bind(nb::module_& m, const char* name) {
    using S = Site<Count>;
    nb::class_<S>(m, name).def(nb::init<Index, Index, const List<Array<int32_t>>&, const List<int64_t>&,
                                        const List<bool>&, const List<Array<int32_t>>&, const List<int64_t>&>(),
                               nb::kw_only(), "rows"_a, "classes"_a, "codes"_a, "distinct"_a, "ordered"_a, "keys"_a,
                               "key_counts"_a);
    def_kernel(m, "start", start<Count>, "site"_a, "classes"_a, nb::kw_only());
    def_kernel(m, "class_summary", class_summary<Count>, "site"_a, "edge"_a, nb::kw_only());
    def_kernel(m, "receive_classes", receive_classes<Count>, "site"_a, "edge"_a, "keys"_a, "counts"_a, nb::kw_only());
}

}  // namespace

template struct Site<uint64_t>;
template struct Site<Wide>;

}  // namespace veilset::joins

namespace veilset {

void register_joins_classes(nb::module_& m) {
    nb::exception<joins::TooManyRows>(m, "TooManyRows", PyExc_OverflowError);
    joins::bind<uint64_t>(m, "Site");
    joins::bind<joins::Wide>(m, "WideSite");
}

}  // namespace veilset
