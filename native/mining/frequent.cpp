// Frequent itemsets: all, closed (no superset has the same support) or maximal (no superset is frequent).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/control.hpp"
#include "core/csr.hpp"
#include "mining/found.hpp"
#include "mining/limits.hpp"
#include "mining/rows.hpp"
#include "mining/walk.hpp"

namespace veilset {
namespace {

using namespace mining;

class Collect {
public:
    Collect(const Rows& rows, Sizes sizes, Control& control) : rows_(rows), sizes_(sizes), control_(control) {}
    void begin(Found& found) { found_ = &found; }
    void leave() {}

protected:
    void codes_of(View<int32_t> items, List<int32_t>& codes) const {
        codes.clear();
        for (int32_t item : items) codes.push_back(rows_.code(item));
        std::sort(codes.begin(), codes.end());
    }
    void report(const List<int32_t>& a, const List<int32_t>& b, int64_t support) {
        if (!sizes_.fit(a.size() + b.size())) return;
        const Index end = found_->items.size();
        found_->items.resize(end + a.size() + b.size());
        std::merge(a.begin(), a.end(), b.begin(), b.end(), found_->items.begin() + end);
        found_->sizes.push_back(int32_t(a.size() + b.size()));
        found_->supports.push_back(support);
    }

    const Rows& rows_;
    Sizes sizes_;
    Control& control_;
    Found* found_ = nullptr;
    List<int32_t> fixed_, loose_;
};

class All : public Collect {
public:
    static constexpr bool excludes = false, merges_excluded = false, looks_ahead = false, avoids = false;
    using Collect::Collect;

    bool enter(const List<int32_t>& itemset, const List<int32_t>& free, int64_t support, bool) {
        codes_of(itemset, fixed_);
        codes_of(free, loose_);
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
        codes_of(itemset, fixed_);
        codes_of(free, loose_);
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
            codes_of(itemset, fixed_);
            codes_of(free, loose_);
            report(fixed_, loose_, support);
        }
        return sizes_.small_enough(itemset.size() + free.size() + 1);
    }
    void whole(const List<int32_t>& itemset, const List<int32_t>& free, View<Column> tail, int64_t support) {
        List<int32_t> all(free);
        for (const Column& column : tail) all.push_back(column.item);
        codes_of(itemset, fixed_);
        codes_of(all, loose_);
        report(fixed_, loose_, support);
    }
};

template <class Mode>
void walk(const Rows& rows, int64_t min_support, Sizes sizes, int threads, Control& control, Vector<Found>& found) {
    struct Worker {
        Mode mode;
        Walk<Mode> walk;
        Worker(const Rows& r, int64_t s, Sizes z, Control& c) : mode(r, z, c), walk(r, s, c, mode) {}
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
            const Index first = into.items.size();
            for (int32_t item : row) into.items.push_back(rows.code(item));
            std::sort(into.items.begin() + first, into.items.end());
            into.sizes.push_back(int32_t(row.size()));
            into.supports.push_back(support);
        }
    });
}

nb::tuple frequent(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<uint8_t>& allowed,
                   int64_t min_support, const std::string& kind, int64_t min_size, int64_t max_size, int threads,
                   int64_t memory_limit, double time_limit, nb::object progress) {
    Csr data(offsets, items, int32_t(allowed.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    std::unique_ptr<Rows> rows;
    Vector<Found> found(control);
    control.single([&] {
        rows = std::make_unique<Rows>(data, span_of(allowed), none_given, std::max<int64_t>(1, min_support),
                                      Rows::Order::rarest_first, control);
        found.assign(rows->items() + 1, Found(control));
    });
    const Sizes sizes{min_size, max_size};
    auto run = kind == "closed" ? walk<Closed> : kind == "maximal" ? walk<Maximal> : walk<All>;
    if (kind == "maximal" && min_support <= 1) maximal_rows(*rows, sizes, threads, control, found);
    else run(*rows, std::max<int64_t>(1, min_support), sizes, threads, control, found);
    return as_arrays(found, control);
}

}  // namespace

void register_mining_frequent(nb::module_& m) {
    m.def("frequent", &frequent, array("offsets"), array("items"), array("allowed"), nb::kw_only(),
          nb::arg("min_support"), nb::arg("kind"), nb::arg("min_size"), nb::arg("max_size"), nb::arg("threads"),
          nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
