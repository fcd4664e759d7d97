// The pairs of items that occur together, counted along the rows of the first one: only pairs that occur cost anything.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "control.hpp"
#include "csr.hpp"

namespace veilset {
namespace {

constexpr int32_t none = -1;

// The rows by their items that matter, in the order of the vocabulary; rows with fewer than two of them have no pairs.
class Kept {
public:
    struct Place {
        int32_t row, next;  // where in the row the items after this one begin
    };

    Kept(const Csr& data, std::span<const uint8_t> allowed, int64_t min_support, Control& control)
        : codes_(control), offsets_(control), items_(control), first_(control), places_(control) {
        Vector<int64_t> support(size_t(data.vocabulary), 0, control);
        for (int32_t item : data.items) ++support[size_t(item)];
        Vector<int32_t> number(size_t(data.vocabulary), none, control);
        for (int32_t i = 0; i < data.vocabulary; ++i)
            if (allowed[size_t(i)] && support[size_t(i)] >= min_support) {
                number[size_t(i)] = int32_t(codes_.size());
                codes_.push_back(i);
            }
        first_.assign(codes_.size() + 1, 0);
        offsets_.push_back(0);
        for (int64_t r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control.poll();
            const size_t begin = items_.size();
            for (int32_t item : data.row(r))
                if (number[size_t(item)] != none) items_.push_back(number[size_t(item)]);
            if (items_.size() < begin + 2) {
                items_.resize(begin);
                continue;
            }
            for (size_t i = begin; i < items_.size(); ++i) ++first_[size_t(items_[i]) + 1];
            offsets_.push_back(int64_t(items_.size()));
        }
        for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        places_.resize(items_.size());
        Vector<int64_t> next(first_.begin(), first_.end(), control);
        for (size_t r = 0; r + 1 < offsets_.size(); ++r) {
            if (r % 4096 == 0) control.poll();
            for (int64_t i = offsets_[r]; i < offsets_[r + 1]; ++i)
                places_[size_t(next[size_t(items_[size_t(i)])]++)] = {int32_t(r), int32_t(i - offsets_[r]) + 1};
        }
    }

    size_t items() const { return codes_.size(); }
    int32_t code(int32_t item) const { return codes_[size_t(item)]; }
    std::span<const Place> places(int32_t item) const { return {places_.data() + first_[size_t(item)], places_.data() + first_[size_t(item) + 1]}; }
    std::span<const int32_t> after(Place place) const {
        return {items_.data() + offsets_[size_t(place.row)] + place.next, items_.data() + offsets_[size_t(place.row) + 1]};
    }
    void fetch(Place place) const { __builtin_prefetch(items_.data() + offsets_[size_t(place.row)] + place.next); }

private:
    Vector<int32_t> codes_;
    Vector<int64_t> offsets_;
    Vector<int32_t> items_;
    Vector<int64_t> first_;  // item -> its part of places_
    Vector<Place> places_;
};

// Pairs of some first items, in the codes of the vocabulary.
struct Found {
    Vector<int32_t> items;
    Vector<int32_t> supports;
    explicit Found(Control& control) : items(control), supports(control) {}
};

// Counts the items that come after a first one in its rows.
class PairCounter {
public:
    PairCounter(const Kept& kept, int64_t min_support, Control& control)
        : kept_(kept), min_support_(min_support), control_(control), counts_(kept.items(), 0, control), met_(kept.items() + 1, control),
          marks_((kept.items() + 63) / 64, 0, control) {}

    void count(int32_t first, Found& found) {
        constexpr size_t ahead = 12;  // the rows lie far apart: those that come soon are fetched
        const auto places = kept_.places(first);
        size_t met = 0;
        for (size_t p = 0; p < places.size(); ++p) {
            control_.poll();
            if (p + ahead < places.size()) kept_.fetch(places[p + ahead]);
            for (int32_t second : kept_.after(places[p])) {
                met_[met] = second;
                met += counts_[size_t(second)]++ == 0;
            }
        }
        size_t often = 0;
        for (size_t m = 0; m < met; ++m) {
            const int32_t second = met_[m];
            met_[often] = second;
            if (counts_[size_t(second)] >= min_support_) ++often;
            else counts_[size_t(second)] = 0;
        }
        ascending(often, [&](int32_t second) {
            found.items.push_back(kept_.code(first));
            found.items.push_back(kept_.code(second));
            found.supports.push_back(std::exchange(counts_[size_t(second)], 0));
        });
    }

private:
    // body(item) for the first `count` that were met, in their order: sorted if they are few, else marked and looked up.
    template <class Body>
    void ascending(size_t count, Body body) {
        if (16 * count < marks_.size()) {
            std::sort(met_.begin(), met_.begin() + ptrdiff_t(count));
            for (size_t m = 0; m < count; ++m) body(met_[m]);
            return;
        }
        for (size_t m = 0; m < count; ++m) marks_[size_t(met_[m]) / 64] |= uint64_t(1) << (met_[m] % 64);
        for (size_t w = 0; w < marks_.size(); ++w)
            for (uint64_t left = std::exchange(marks_[w], 0); left; left &= left - 1) body(int32_t(64 * w) + __builtin_ctzll(left));
    }

    const Kept& kept_;
    int64_t min_support_;
    Control& control_;
    Vector<int32_t> counts_, met_;
    Vector<uint64_t> marks_;
};

nb::tuple pairs(const Array<int64_t>& offsets, const Array<int32_t>& items, const Array<uint8_t>& allowed, int64_t min_support, int threads,
                int64_t memory_limit, double time_limit, nb::object progress) {
    const Csr data(offsets, items, int32_t(allowed.size()));
    Control control(memory_limit, time_limit, std::move(progress));
    const int64_t at_least = std::max<int64_t>(1, min_support);
    std::unique_ptr<Kept> kept;
    std::vector<Found> found;
    int64_t block = 1, blocks = 0;
    control.single([&] {
        kept = std::make_unique<Kept>(data, span_of(allowed), at_least, control);
        const int64_t count = int64_t(kept->items());
        block = std::clamp<int64_t>(count / 64, 1, 16);
        blocks = (count + block - 1) / block;
        found.assign(size_t(blocks), Found(control));
    });
    std::vector<std::unique_ptr<PairCounter>> counters(static_cast<size_t>(threads));
    control.begin(1, blocks);
    control.parallel(threads, blocks, [&](int64_t number, int worker) {
        auto& counter = counters[size_t(worker)];
        if (!counter) counter = std::make_unique<PairCounter>(*kept, at_least, control);
        for (int64_t first = number * block; first < std::min((number + 1) * block, int64_t(kept->items())); ++first)
            counter->count(int32_t(first), found[size_t(number)]);
    });
    std::vector<int64_t> ends{0}, supports;
    std::vector<int32_t> both;
    control.single([&] {
        counters.clear();
        kept.reset();
        size_t count = 0;
        for (const Found& f : found) count += f.supports.size();
        control.charge(int64_t(count * 24));
        ends.reserve(count + 1);
        supports.reserve(count);
        both.reserve(2 * count);
        for (Found& f : found) {
            control.poll();
            both.insert(both.end(), f.items.begin(), f.items.end());
            supports.insert(supports.end(), f.supports.begin(), f.supports.end());
            for (size_t i = 0; i < f.supports.size(); ++i) ends.push_back(ends.back() + 2);
            f = Found(control);
        }
    });
    return nb::make_tuple(to_numpy(std::move(ends)), to_numpy(std::move(both)), to_numpy(std::move(supports)));
}

}  // namespace

void register_mining_pairs(nb::module_& m) {
    m.def("pairs", &pairs, nb::arg("offsets").noconvert(), nb::arg("items").noconvert(), nb::arg("allowed").noconvert(), nb::kw_only(),
          nb::arg("min_support"), nb::arg("threads"), nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

}  // namespace veilset
