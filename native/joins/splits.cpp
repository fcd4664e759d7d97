// Splits of nodes: the best one of a site by its AVC sets (thesis §3.3), and split propagation (§3.3.2).
#include "joins/gain.hpp"
#include "joins/met.hpp"
#include "joins/site.hpp"

namespace veilset::joins {
namespace {

// The class counts of all rows together. Their sum can be counted, too: the gains need it.
template <class Count>
List<Count> total(const Site<Count>& site, const Cls<Count>& cls) {
    List<Count> sums(site.classes, 0);
    for (Index entry = 0; entry < cls.rows.size(); ++entry)
        for (Index c = 0; c < site.classes; ++c) sums[c] = sum(sums[c], cls.counts[entry * site.classes + c]);
    std::accumulate(sums.begin(), sums.end(), Count(0), sum<Count>);
    return sums;
}

struct Best {
    int64_t gain = 0;
    int32_t attribute = -1, code = -1;
};

// One attribute's AVC set at one node, and the best split by it.
template <class Count>
class AvcSet {
public:
    AvcSet(Control& control, const Site<Count>& site, Index codes)
        : control_(control), site_(site), met_(control, codes), counts_(control), left_(site.classes, 0, control) {}

    Best best(const Cls<Count>& cls, const Gains<Count>& gains, Index attribute, Count min_leaf) {
        const Index classes = site_.classes;
        const bool ordered = site_.ordered[attribute];
        std::ranges::fill(left_, 0);
        Count left_rows = 0;
        Best best{.attribute = int32_t(attribute)};
        __int128 largest = 0;
        each_value(cls, attribute, [&](int32_t code, const Count* counts) {
            if (!ordered) {
                std::ranges::fill(left_, 0);
                left_rows = 0;
            }
            for (Index c = 0; c < classes; ++c) {
                left_[c] += counts[c];
                left_rows += counts[c];
            }
            // All rows on one side is no split.
            if (left_rows < min_leaf || gains.rows() - left_rows < min_leaf) return;
            const __int128 gain = gains.of(left_, left_rows);
            if (gain <= largest) return;
            largest = gain;
            const int64_t told = gains.per_row(gain);
            if (told > best.gain) best.gain = told, best.code = code;
        });
        return best;
    }

private:
    // Calls each(code, its class counts) for the values that occur, in order. If they are many, they have places of
    // their own; else they are noted as they are met, so that time depends on the rows of the node only.
    template <class Each>
    void each_value(const Cls<Count>& cls, Index attribute, Each each) {
        const Index classes = site_.classes, codes = site_.distinct[attribute];
        counts_.clear();
        if (cls.rows.size() >= codes / 4) {
            counts_.resize(codes * classes, 0);
            add_up(cls, attribute, [](int32_t code) { return Index(code); });
            for (Index code = 0; code < codes; ++code) {
                const Count* counts = counts_.data() + code * classes;
                if (std::any_of(counts, counts + classes, [](Count count) { return count != 0; }))
                    each(int32_t(code), counts);
            }
        } else {
            add_up(cls, attribute, [&](int32_t code) {
                const Index slot = met_.slot(code);
                if (slot * classes == counts_.size()) counts_.resize((slot + 1) * classes, 0);
                return slot;
            });
            met_.drain([&](int32_t code, Index slot) { each(code, counts_.data() + slot * classes); });
        }
    }

    template <class Place>
    void add_up(const Cls<Count>& cls, Index attribute, Place place) {
        const Index classes = site_.classes;
        const int32_t* const codes = site_.codes[attribute].data();
        const Count* from = cls.counts.data();
        for (Index entry = 0; entry < cls.rows.size(); ++entry, from += classes) {
            if (entry % 4096 == 0) control_.poll();
            const Index at = place(codes[cls.rows[entry]]) * classes;  // may move the counts
            Count* const to = counts_.data() + at;
            if (classes == 2) {  // the usual case, without a loop
                to[0] += from[0];
                to[1] += from[1];
            } else {
                for (Index c = 0; c < classes; ++c) to[c] += from[c];
            }
        }
    }

    Control& control_;
    const Site<Count>& site_;
    Met met_;
    Vector<Count> counts_;  // of each value, by its code or its slot
    Vector<Count> left_;
};

// Info(T_i) of each node, and the criterion behind it, which stays at the site. Ties go to the first column and value.
template <class Count>
nb::tuple best_splits(Control& control, const Site<Count>& site, View<int64_t> nodes, View<uint64_t> min_leaf,
                      int threads) {
    const Index attributes = site.codes.size(), tasks = nodes.size() * attributes;
    const Count least = from_words<Count>(min_leaf).at(0);
    List<const Cls<Count>*> at;
    List<List<Count>> totals;
    List<Gains<Count>> gains;
    for (int64_t node : nodes) {
        at.push_back(&site.at(node));
        totals.push_back(total(site, *at.back()));
    }
    for (const List<Count>& sums : totals) gains.emplace_back(View<Count>(sums));
    List<Best> best(tasks);
    const int workers = Control::useful(threads, tasks);
    const Index most = attributes ? *std::ranges::max_element(site.distinct) : 0;
    List<std::unique_ptr<AvcSet<Count>>> sets(workers);
    control.begin(0, tasks);
    control.parallel(workers, tasks, [&](Index task, int worker) {
        if (!sets[worker]) sets[worker] = std::make_unique<AvcSet<Count>>(control, site, most);
        const Index node = task / attributes;
        best[task] = sets[worker]->best(*at[node], gains[node], task % attributes, least);
    });
    List<int64_t> gain;
    List<int32_t> attribute, code;
    for (Index node = 0; node < nodes.size(); ++node) {
        Best chosen;
        for (Index a = 0; a < attributes; ++a)
            if (best[node * attributes + a].gain > chosen.gain) chosen = best[node * attributes + a];
        gain.push_back(chosen.gain);
        attribute.push_back(chosen.attribute);
        code.push_back(chosen.code);
    }
    return to_tuple(gain, attribute, code);
}

// Puts the children of nodes in place, once all are made: child(i, left, right) makes those of node i.
template <class Count, class Child>
void make_children(Control& control, Site<Count>& site, View<int64_t> nodes, View<int64_t> children, int threads,
                   Child child) {
    if (children.size() != 2 * nodes.size()) throw std::invalid_argument("every node needs two children");
    List<const Cls<Count>*> parents;
    for (int64_t node : nodes) parents.push_back(&site.at(node));
    List<std::pair<Cls<Count>, Cls<Count>>> made(nodes.size());
    control.begin(1, nodes.size());
    control.parallel(threads, nodes.size(), [&](Index i, int worker) {
        auto& [left, right] = made[i];
        control.charge(2 * parents[i]->bytes());
        left.reserve(parents[i]->rows.size(), site.classes);
        right.reserve(parents[i]->rows.size(), site.classes);
        child(i, *parents[i], left, right, worker);
        left.shrink();
        right.shrink();
    });
    for (Index i = 0; i < nodes.size(); ++i) {
        site.nodes[children[2 * i]] = std::move(made[i].first);
        site.nodes[children[2 * i + 1]] = std::move(made[i].second);
    }
}

// The winner splits its rows by its own criterion: each goes to one child. Gives the class counts of all children.
template <class Count>
nb::object split(Control& control, Site<Count>& site, View<int64_t> nodes, View<int64_t> children,
                 View<int32_t> attributes, View<int32_t> codes, int threads) {
    if (attributes.size() != nodes.size() || codes.size() != nodes.size())
        throw std::invalid_argument("every node needs a criterion");
    for (int32_t attribute : attributes)
        if (attribute < 0 || attribute >= site.codes.size()) throw std::invalid_argument("no such attribute");
    make_children(control, site, nodes, children, threads,
                  [&](Index i, const Cls<Count>& parent, Cls<Count>& left, Cls<Count>& right, int) {
                      const Array<int32_t>& column = site.codes[attributes[i]];
                      const bool ordered = site.ordered[attributes[i]];
                      for (Index entry = 0; entry < parent.rows.size(); ++entry) {
                          control.poll();
                          const int32_t code = column[parent.rows[entry]];
                          const bool first = ordered ? code <= codes[i] : code == codes[i];
                          (first ? left : right).push(parent.rows[entry], site.counts(parent, entry));
                      }
                  });
    List<Count> totals;
    for (int64_t child : children) {
        const List<Count> sums = total(site, site.at(child));
        totals.insert(totals.end(), sums.begin(), sums.end());
    }
    return nb::cast(to_numpy(to_words(View<Count>(totals))));
}

// SS(this → the neighbour on this edge) for each of these nodes: for each join value the class counts of its rows in
// both children (Definition 4), in the order of the keys: the order of rows is nobody's business.
template <class Count>
nb::tuple split_summary(Control& control, const Site<Count>& site, Index edge, View<int64_t> children, int threads) {
    site.check_edge(edge);
    if (children.size() % 2 != 0) throw std::invalid_argument("every node needs two children");
    const Index classes = site.classes, count = children.size() / 2, width = 2 * classes;
    struct Summary {
        List<int32_t> keys;
        List<Count> sums;
    };
    List<Summary> summaries(count);
    List<const Cls<Count>*> at;
    for (int64_t child : children) at.push_back(&site.at(child));
    const int workers = Control::useful(threads, count);
    List<std::unique_ptr<Met>> scratch(workers);
    control.begin(2, count);
    control.parallel(workers, count, [&](Index i, int worker) {
        if (!scratch[worker]) scratch[worker] = std::make_unique<Met>(control, site.key_counts[edge]);
        Met& met = *scratch[worker];
        Vector<Count> sums(control);
        for (Index side = 0; side < 2; ++side) {
            const Cls<Count>& cls = *at[2 * i + side];
            for (Index entry = 0; entry < cls.rows.size(); ++entry) {
                control.poll();
                const int32_t key = site.keys[edge][cls.rows[entry]];
                if (key < 0) throw std::invalid_argument("classes have not been propagated");
                const Index slot = met.slot(key) * width;
                if (slot == sums.size()) sums.resize(slot + width, 0);
                for (Index c = 0; c < classes; ++c) sums[slot + side * classes + c] += cls.counts[entry * classes + c];
            }
        }
        Summary& told = summaries[i];
        control.charge(met.size() * Index(sizeof(int32_t) + width * sizeof(Count)));
        met.drain([&](int32_t key, Index slot) {
            told.keys.push_back(key);
            const auto part = View<Count>(sums).subspan(slot * width, width);
            told.sums.insert(told.sums.end(), part.begin(), part.end());
        });
    });
    List<int64_t> offsets{0};
    List<int32_t> keys;
    List<Count> sums;
    for (Summary& summary : summaries) {
        keys.insert(keys.end(), summary.keys.begin(), summary.keys.end());
        sums.insert(sums.end(), summary.sums.begin(), summary.sums.end());
        offsets.push_back(keys.size());
        summary = {};
    }
    List<uint64_t> words = to_words(View<Count>(sums));
    return to_tuple(offsets, keys, words);
}

// Formulas (3) and (4): the counts of a row follow how those of its join value are divided, class by class. A row can
// enter both children.
template <class Count>
void follow(Control& control, Site<Count>& site, Index edge, View<int64_t> nodes, View<int64_t> children,
            View<int64_t> offsets, View<int32_t> keys, View<uint64_t> words, int threads) {
    site.check_edge(edge);
    const Index classes = site.classes, width = 2 * classes;
    const List<Count> sums = from_words<Count>(words);
    if (offsets.size() != nodes.size() + 1 || offsets.front() != 0 || offsets.back() != keys.size() ||
        sums.size() != keys.size() * width || !std::ranges::is_sorted(offsets))
        throw std::invalid_argument("every node needs a summary");
    for (Index i = 0; i < nodes.size(); ++i) {
        const View<int32_t> of_node = part(keys, offsets, i);
        if (std::ranges::adjacent_find(of_node, std::greater_equal()) != of_node.end() ||
            (!of_node.empty() && (of_node.front() < 0 || of_node.back() >= site.key_counts[edge])))
            throw std::invalid_argument("the keys of a node are out of range or out of order");
    }
    const int workers = Control::useful(threads, nodes.size());
    List<std::unique_ptr<Met>> scratch(workers);
    make_children(control, site, nodes, children, workers,
                  [&](Index i, const Cls<Count>& parent, Cls<Count>& left, Cls<Count>& right, int worker) {
                      if (!scratch[worker]) scratch[worker] = std::make_unique<Met>(control, site.key_counts[edge]);
                      Met& met = *scratch[worker];
                      for (int32_t key : part(keys, offsets, i)) met.slot(key);
                      List<Count> first(classes), second(classes);
                      for (Index entry = 0; entry < parent.rows.size(); ++entry) {
                          control.poll();
                          const int32_t key = site.keys[edge][parent.rows[entry]];
                          const Index slot = key < 0 ? -1 : met.find(key);
                          if (slot < 0) throw Contradiction();
                          const auto told = View<Count>(sums).subspan((offsets[i] + slot) * width, width);
                          for (Index c = 0; c < classes; ++c) {
                              const Count count = parent.counts[entry * classes + c];
                              first[c] = rescaled(count, told[c], sum(told[c], told[classes + c]));
                              second[c] = count - first[c];
                          }
                          if (any(View<Count>(first))) left.push(parent.rows[entry], first);
                          if (any(View<Count>(second))) right.push(parent.rows[entry], second);
                      }
                      met.clear();
                  });
}

template <class Count>
nb::tuple rows_at(const Site<Count>& site, int64_t node) {
    List<int32_t> rows = site.at(node).rows;
    List<uint64_t> words = to_words(View<Count>(site.at(node).counts));
    return to_tuple(rows, words);
}

template <class Count>
nb::object counts_at(const Site<Count>& site, int64_t node) {
    const List<Count> sums = total(site, site.at(node));
    return nb::cast(to_numpy(to_words(View<Count>(sums))));
}

// How many rows reach these nodes, once for each.
template <class Count>
Index size(const Site<Count>& site, View<int64_t> nodes) {
    Index sum = 0;
    for (int64_t node : nodes) sum += site.at(node).rows.size();
    return sum;
}

template <class Count>
void forget(Site<Count>& site, View<int64_t> nodes) {
    for (int64_t node : nodes) site.nodes.erase(node);
}

template <class Count>
void bind(nb::module_& m) {
    def_kernel(m, "best_splits", best_splits<Count>, "site"_a, "nodes"_a, nb::kw_only(), "min_leaf"_a, "threads"_a);
    def_kernel(m, "split", split<Count>, "site"_a, "nodes"_a, "children"_a, "attributes"_a, "codes"_a, nb::kw_only(),
               "threads"_a);
    def_kernel(m, "split_summary", split_summary<Count>, "site"_a, "edge"_a, "children"_a, nb::kw_only(), "threads"_a);
    def_kernel(m, "follow", follow<Count>, "site"_a, "edge"_a, "nodes"_a, "children"_a, "offsets"_a, "keys"_a,
               "counts"_a, nb::kw_only(), "threads"_a);
    m.def("rows_at", rows_at<Count>, "site"_a, "node"_a);
    m.def("counts_at", counts_at<Count>, "site"_a, "node"_a);
    m.def("size", size<Count>, "site"_a, "nodes"_a);
    m.def("forget", forget<Count>, "site"_a, "nodes"_a);
}

// The gain of a split in units of 2^-48 bits, 0 if it is none: what best_splits compares.
int64_t gain(View<uint64_t> left, View<uint64_t> both) {
    const List<Wide> some = from_words<Wide>(left), all = from_words<Wide>(both);
    if (some.size() != all.size()) throw std::invalid_argument("both need the same classes");
    const Gains<Wide> gains{View<Wide>(all)};
    return gains.per_row(gains.of(some, std::accumulate(some.begin(), some.end(), Wide(0))));
}

}  // namespace
}  // namespace veilset::joins

namespace veilset {

void register_joins_splits(nb::module_& m) {
    joins::bind<uint64_t>(m);
    joins::bind<joins::Wide>(m);
    m.def("gain", joins::gain, "left"_a, "both"_a);
}

}  // namespace veilset
