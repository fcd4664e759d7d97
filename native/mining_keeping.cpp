// A set of kept public items, free of moles: would one more item bring a mole with it?
// Every itemset of kept items is safe already, so only itemsets with the new item need a look: those inside its cohort.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "csr.hpp"
#include "mining_limits.hpp"
#include "mining_rows.hpp"

namespace veilset {
namespace {

using namespace mining;

class Keeping {
public:
    Keeping(Array<int64_t> offsets, Array<int32_t> items, Array<uint8_t> sensitive, int64_t h_num, int64_t h_den, int64_t k, int64_t p)
        : offsets_(std::move(offsets)), items_(std::move(items)), sensitive_(std::move(sensitive)), data_(offsets_, items_, int32_t(sensitive_.size())),
          limits_{h_num, h_den, k, p}, kept_(sensitive_.size(), false), begin_(sensitive_.size() + 1, 0), rows_(data_.items.size()),
          local_(sensitive_.size(), none) {
        for (int32_t item : data_.items) ++begin_[size_t(item) + 1];
        for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
        for (int64_t r = 0; r < data_.rows(); ++r)
            for (int32_t item : data_.row(r)) rows_[size_t(next[size_t(item)]++)] = int32_t(r);
    }

    void keep(int32_t item) { kept_.at(size_t(item)) = true; }
    void drop(int32_t item) { kept_.at(size_t(item)) = false; }

    bool brings_mole(int32_t item, int64_t memory_limit, double time_limit) {
        if (item < 0 || item >= data_.vocabulary || sensitive_.data()[item]) throw std::invalid_argument("not a public item");
        if (limits_.allow_everything()) return false;
        const int64_t first = begin_[size_t(item)], support = begin_[size_t(item) + 1] - first;
        if (support < limits_.k) return true;
        Control control(memory_limit, time_limit, nb::none());
        bool found = false;
        control.single([&] { found = Cohort(*this, std::span(rows_).subspan(size_t(first), size_t(support)), control).has_mole(); });
        return found;
    }

private:
    // The rows that hold the new item, with their kept and their sensitive items renumbered from 0.
    class Cohort {
    public:
        Cohort(Keeping& owner, std::span<const int32_t> rows, Control& control)
            : limits_(owner.limits_), control_(control), offsets_(control), items_(control), sens_offsets_(control), sens_(control) {
            std::vector<int32_t> met;
            int32_t items = 0, sensitive = 0;
            offsets_.push_back(0);
            sens_offsets_.push_back(0);
            for (int32_t row : rows) {
                for (int32_t item : owner.data_.row(row)) {
                    const bool hidden = owner.sensitive_.data()[item];
                    if (!hidden && !owner.kept_[size_t(item)]) continue;
                    int32_t& local = owner.local_[size_t(item)];
                    if (local == none) {
                        local = hidden ? sensitive++ : items++;
                        met.push_back(item);
                    }
                    (hidden ? sens_ : items_).push_back(local);
                }
                std::sort(items_.begin() + offsets_.back(), items_.end());
                offsets_.push_back(int64_t(items_.size()));
                sens_offsets_.push_back(int64_t(sens_.size()));
            }
            for (int32_t item : met) owner.local_[size_t(item)] = none;
            item_count_ = size_t(items);
            with_.assign(size_t(sensitive), 0);
        }

        bool has_mole() {
            Places everybody(control_);
            for (size_t r = 0; r + 1 < offsets_.size(); ++r) everybody.push_back({int32_t(r), offsets_[r]});
            return mole_at_or_above(everybody, 1);
        }

    private:
        struct Place {
            int32_t row;
            int64_t next;
        };
        using Places = Vector<Place>;

        // `places`: the rows of an itemset of `size` items. Extensions take items in ascending order.
        bool mole_at_or_above(const Places& places, size_t size) {
            control_.poll();
            if (int64_t(places.size()) < limits_.k || breach(places)) return true;
            if (!limits_.may_grow(size)) return false;
            std::vector<int64_t> count(item_count_, 0);
            for_each_item(places, [&](int32_t item, Place) { ++count[size_t(item)]; });
            if (std::any_of(count.begin(), count.end(), [&](int64_t c) { return c > 0 && c < limits_.k; })) return true;
            if (with_.empty() && !limits_.may_grow(size + 1)) return false;
            std::vector<Places> deeper(item_count_, Places(control_));
            for (size_t i = 0; i < item_count_; ++i) deeper[i].reserve(size_t(count[i]));
            for_each_item(places, [&](int32_t item, Place place) { deeper[size_t(item)].push_back(place); });
            for (Places& extension : deeper) {
                if (!extension.empty() && mole_at_or_above(extension, size + 1)) return true;
                Places(control_).swap(extension);
            }
            return false;
        }

        bool breach(const Places& places) {
            bool found = false;
            auto for_each_sensitive = [&](auto body) {
                for (const Place& place : places)
                    for (int64_t i = sens_offsets_[size_t(place.row)]; i < sens_offsets_[size_t(place.row) + 1]; ++i) body(size_t(sens_[size_t(i)]));
            };
            for_each_sensitive([&](size_t s) { found |= limits_.breach(++with_[s], int64_t(places.size())); });
            for_each_sensitive([&](size_t s) { with_[s] = 0; });
            return found;
        }

        template <class Body>
        void for_each_item(const Places& places, Body body) const {
            for (const Place& place : places)
                for (int64_t i = place.next; i < offsets_[size_t(place.row) + 1]; ++i) body(items_[size_t(i)], Place{place.row, i + 1});
        }

        Limits limits_;
        Control& control_;
        Vector<int64_t> offsets_;
        Vector<int32_t> items_;
        Vector<int64_t> sens_offsets_;
        Vector<int32_t> sens_;
        size_t item_count_ = 0;
        std::vector<int64_t> with_;
    };

    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<uint8_t> sensitive_;
    Csr data_;
    Limits limits_;
    std::vector<bool> kept_;
    std::vector<int64_t> begin_;  // item -> its part of rows_
    std::vector<int32_t> rows_;
    std::vector<int32_t> local_;
};

}  // namespace

void register_mining_keeping(nb::module_& m) {
    nb::class_<Keeping>(m, "Keeping")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<uint8_t>, int64_t, int64_t, int64_t, int64_t>(), nb::arg("offsets").noconvert(),
             nb::arg("items").noconvert(), nb::arg("sensitive").noconvert(), nb::kw_only(), nb::arg("h_num"), nb::arg("h_den"), nb::arg("k"),
             nb::arg("p"))
        .def("keep", &Keeping::keep, nb::arg("item"))
        .def("drop", &Keeping::drop, nb::arg("item"))
        .def("brings_mole", &Keeping::brings_mole, nb::arg("item"), nb::kw_only(), nb::arg("memory_limit"), nb::arg("time_limit"));
}

}  // namespace veilset
