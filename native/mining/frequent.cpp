// Frequent itemsets: all, closed (no superset has the same support) or maximal (no superset is frequent).
#include <nanobind/stl/string.h>

#include <limits>
#include <string>

#include "mining/found.hpp"
#include "mining/limits.hpp"
#include "mining/rows.hpp"
#include "mining/walk.hpp"

namespace veilset {
namespace {

using namespace mining;

constexpr Index any_number = std::numeric_limits<int64_t>::max();

class Collect {
public:
    Collect(const Rows& rows, Sizes sizes, Control& control, Index most)
        : rows_(rows), sizes_(sizes), control_(control), most_(most) {}
    void begin(Found& found) { found_ = &found; }
    void leave() {}

protected:
    // The codes of these go to fixed_ and loose_.
    void name(View<int32_t> itemset, View<int32_t> free) {
        fixed_.clear();
        loose_.clear();
        rows_.append_codes(itemset, fixed_);
        rows_.append_codes(free, loose_);
    }
    void report(const List<int32_t>& a, const List<int32_t>& b, int64_t support) {
        if (!sizes_.fit(a.size() + b.size())) return;
        if (found_->supports.size() >= most_) throw OutOfWork();
        const Index end = found_->items.size();
        found_->items.resize(end + a.size() + b.size());
        std::merge(a.begin(), a.end(), b.begin(), b.end(), found_->items.begin() + end);
        found_->sizes.push_back(int32_t(a.size() + b.size()));
        found_->supports.push_back(support);
    }

    const Rows& rows_;
    Sizes sizes_;
    Control& control_;
    Index most_;  // of one step
    Found* found_ = nullptr;
    List<int32_t> fixed_, loose_;
};

class All : public Collect {
public:
    static constexpr bool excludes = false, merges_excluded = false, looks_ahead = false, avoids = false;
    using Collect::Collect;

    bool enter(const List<int32_t>& itemset, const List<int32_t>& free, int64_t support, bool) {
        name(itemset, free);
        combine(support);
        return sizes_.small_enough(itemset.size() + 1);
    }

private:
    // The itemset with every choice of the free items. No recursion: there may be as many free items as a row is long.
    void combine(int64_t support) {
        chosen_.clear();
        places_.clear();
        report(fixed_, chosen_, support);
        for (Index next = 0;;) {
            const Index size = fixed_.size() + chosen_.size();
            const bool reaches = int64_t(size + loose_.size() - next) >= sizes_.min;  // with all that are left
            if (next < loose_.size() && reaches && sizes_.small_enough(size + 1)) {
                control_.poll();
                chosen_.push_back(loose_[next]);
                places_.push_back(next++);
                report(fixed_, chosen_, support);
            } else {
                if (places_.empty()) return;
                next = places_.back() + 1;
                places_.pop_back();
                chosen_.pop_back();
            }
        }
    }
    List<int32_t> chosen_;
    List<Index> places_;  // of the chosen ones among the free
};

class Closed : public Collect {
public:
    static constexpr bool excludes = true, merges_excluded = true, looks_ahead = false, avoids = false;
    using Collect::Collect;

    bool enter(const List<int32_t>& itemset, const List<int32_t>& free, int64_t support, bool) {
        name(itemset, free);
        report(fixed_, loose_, support);
        return sizes_.small_enough(itemset.size() + free.size() + 1);
    }
};

class Maximal : public Collect {
public:
    static constexpr bool excludes = true, merges_excluded = false, looks_ahead = true, avoids = false;
    using Collect::Collect;

    bool enter(const List<int32_t>& itemset, const List<int32_t>& free, int64_t support, bool maximal) {
        if (maximal) {
            name(itemset, free);
            report(fixed_, loose_, support);
        }
        return sizes_.small_enough(itemset.size() + free.size() + 1);
    }
    void whole(const List<int32_t>& itemset, const List<int32_t>& free, View<Column> tail, int64_t support) {
        List<int32_t> all(free);
        for (const Column& column : tail) all.push_back(column.item);
        name(itemset, all);
        report(fixed_, loose_, support);
    }
};

template <class Mode>
void walk(const Rows& rows, int64_t min_support, Sizes sizes, int threads, Control& control, Vector<Found>& found) {
    struct Worker {
        Mode mode;
        Walk<Mode> walk;
        Worker(const Rows& r, int64_t s, Sizes z, Control& c) : mode(r, z, c, any_number), walk(r, s, c, mode) {}
    };
    List<std::unique_ptr<Worker>> workers(Control::useful(threads, Walk<Mode>::steps(rows)));
    control.begin(1, Walk<Mode>::steps(rows));
    control.parallel(int(workers.size()), Walk<Mode>::steps(rows), [&](int64_t step, int number) {
        auto& worker = workers[number];
        if (!worker) worker = std::make_unique<Worker>(rows, min_support, sizes, control);
        worker->mode.begin(found[step]);
        worker->walk.step(step);
    });
}

// Maximal itemsets at a support of 1 are the rows that no other row holds: nothing needs to be walked.
void maximal_rows(const Rows& rows, Sizes sizes, int threads, Control& control, Vector<Found>& found) {
    control.begin(1, rows.distinct());
    control.parallel(threads, found.size(), [&](int64_t step, int) {
        for (int64_t r = step; r < rows.distinct(); r += found.size()) {
            control.poll();
            const auto row = rows.row(int32_t(r));
            int64_t support = 0;
            for (const Place& place : rows.places(row.front())) {  // few hold its rarest item
                const auto other = rows.row(place.row);
                if (other.size() < row.size() || !std::includes(other.begin(), other.end(), row.begin(), row.end()))
                    continue;
                support += rows.weight(place.row);
                if (other.size() == row.size() && place.row >= r) continue;  // rows that were not merged may be equal
                support = 0;
                break;
            }
            if (support == 0 || !sizes.fit(row.size())) continue;
            Found& into = found[step];
            rows.append_codes(row, into.items);
            into.sizes.push_back(int32_t(row.size()));
            into.supports.push_back(support);
        }
    });
}

nb::tuple frequent(Control& control, View<int64_t> offsets, View<int32_t> items, View<uint8_t> allowed,
                   int64_t min_support, const std::string& kind, int64_t min_size, int64_t max_size, int threads) {
    Csr data(offsets, items, int32_t(allowed.size()));
    const int64_t at_least = std::max<int64_t>(1, min_support);
    const Rows rows =
        control.single([&] { return Rows(data, allowed, none_given, at_least, Rows::Order::rarest_first, control); });
    Vector<Found> found(rows.items() + 1, Found(control), control);
    const Sizes sizes{min_size, max_size};
    auto run = kind == "closed" ? walk<Closed> : kind == "maximal" ? walk<Maximal> : walk<All>;
    if (kind == "maximal" && min_support <= 1) maximal_rows(rows, sizes, threads, control, found);
    else run(rows, at_least, sizes, threads, control, found);
    return as_arrays(found, control);
}

// The steps first .. end - 1 of a walk, in data that no machine holds as a whole, and their itemsets if these are no
// more than `most`.
template <class Mode>
bool walk_share(const Rows& rows, int64_t min_support, Sizes sizes, int64_t first, int64_t end, int64_t most,
                Control& control, Vector<Found>& found) {
    return control.single([&] {
        try {
            Mode mode(rows, sizes, control, most);
            Walk<Mode> walk(rows, min_support, control, mode);
            for (int64_t step = first; step < std::min(end, Walk<Mode>::steps(rows)); ++step) {
                mode.begin(found[step - first]);
                walk.step(step);
                most -= found[step - first].supports.size();
                if (most < 0) return false;
            }
        } catch (const OutOfWork&) {
            return false;
        }
        return true;
    });
}

nb::object frequent_share(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                          View<int32_t> order, View<int64_t> supports, int32_t vocabulary, int64_t transactions,
                          int64_t min_support, const std::string& kind, int64_t min_size, int64_t max_size,
                          int64_t first, int64_t end, int64_t most) {
    const Csr data(offsets, items, vocabulary);
    if (weights.size() != data.rows()) throw std::invalid_argument("not one weight for each row");
    if (transactions > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 transactions");
    if (supports.size() != order.size()) throw std::invalid_argument("not one support for each item");
    if (first < 0 || end < first || end > order.size() + 1) throw std::invalid_argument("these are not steps");
    for (int32_t item : order)
        if (item < 0 || item >= vocabulary) throw std::invalid_argument("an item is not in the vocabulary");
    const Rows rows = control.single([&] { return Rows(data, weights, order, supports, transactions, control); });
    Vector<Found> found(end - first, Found(control), control);
    auto run = kind == "closed" ? walk_share<Closed> : kind == "maximal" ? walk_share<Maximal> : walk_share<All>;
    if (!run(rows, min_support, {min_size, max_size}, first, end, most, control, found)) return nb::none();
    return as_arrays(found, control);
}

}  // namespace

void register_mining_frequent(nb::module_& m) {
    def_kernel(m, "frequent", frequent, "offsets"_a, "items"_a, "allowed"_a, nb::kw_only(), "min_support"_a, "kind"_a,
               "min_size"_a, "max_size"_a, "threads"_a);
    def_kernel(m, "frequent_share", frequent_share, "offsets"_a, "items"_a, "weights"_a, "order"_a, "supports"_a,
               nb::kw_only(), "vocabulary"_a, "transactions"_a, "min_support"_a, "kind"_a, "min_size"_a, "max_size"_a,
               "first"_a, "end"_a, "most"_a);
}

}  // namespace veilset
