// The transactions as the auditor of ρ-uncertainty reads them: equal ones are one row with a weight, the longest rows
// first; items are numbered from the rarest to the most frequent, and each has the list of the rows that hold it.
#pragma once

#include <limits>

#include "core/csr.hpp"

namespace veilset::auditing {

class MergedRows {
public:
    MergedRows(const Csr& data, Control& control) : data_(data), control_(control) {}

    void load() {
        number_items();
        merge();
        index();
    }

    int32_t rows() const { return int32_t(weight_.size()); }
    int32_t items() const { return int32_t(code_.size()); }
    int64_t transactions() const { return data_.rows(); }
    View<int32_t> row(int32_t r) const { return part(items_, offsets_, r); }
    int64_t weight(int32_t r) const { return weight_[r]; }
    int32_t code(int32_t item) const { return code_[item]; }      // in the vocabulary
    int32_t number(int32_t code) const { return number_[code]; }  // the other way
    int64_t support(int32_t item) const { return support_[item]; }
    // The rows that hold an item, the longest first.
    View<int32_t> holders(int32_t item) const { return holders_[item]; }

    // body(row) for the rows that hold all of a non-empty itemset (ascending), until it answers false. They are among
    // the holders of the rarest item, and none is shorter than the itemset. Most others lack one of its bits.
    template <class Body>
    void for_each_holder(View<int32_t> itemset, Body body) const {
        const uint64_t bits = bits_of(itemset);
        for (int32_t r : holders(itemset.front())) {
            if (length(r) < itemset.size()) return;
            if ((bits & ~signature_[r]) == 0 && holds(r, itemset) && !body(r)) return;
        }
    }
    // The same rows, the shortest first.
    template <class Body>
    void for_each_holder_upwards(View<int32_t> itemset, Body body) const {
        const uint64_t bits = bits_of(itemset);
        const auto all = holders(itemset.front());
        auto r = std::ranges::partition_point(all, [&](int32_t row) { return length(row) >= itemset.size(); });
        while (r != all.begin())
            if (--r; (bits & ~signature_[*r]) == 0 && holds(*r, itemset) && !body(*r)) return;
    }

private:
    static constexpr int64_t polled_rows = 4096;

    Index length(int32_t r) const { return offsets_[r + 1] - offsets_[r]; }

    static uint64_t scattered(int32_t item) { return (uint64_t(item) + 1) * 0x9E3779B97F4A7C15U; }
    static uint64_t bits_of(View<int32_t> itemset) {
        uint64_t bits = 0;
        for (int32_t item : itemset) bits |= uint64_t(1) << (scattered(item) >> 58);
        return bits;
    }
    bool holds(int32_t r, View<int32_t> itemset) const {
        const auto items = row(r);
        auto at = items.begin();
        for (int32_t item : itemset) {
            at = std::lower_bound(at, items.end(), item);
            if (at == items.end() || *at != item) return false;
            ++at;
        }
        return true;
    }

    void number_items() {
        support_.assign(data_.vocabulary, 0);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            for (int32_t code : data_.row(r)) ++support_[code];
        }
        for (int32_t code = 0; code < data_.vocabulary; ++code) code_.push_back(code);
        std::stable_sort(code_.begin(), code_.end(), [&](int32_t a, int32_t b) { return support_[a] < support_[b]; });
        number_.resize(code_.size());
        for (Index i = 0; i < code_.size(); ++i) number_[code_[i]] = int32_t(i);
        std::sort(support_.begin(), support_.end());
    }

    // Sorted by length and a hash, equal rows lie side by side; rows that only share those are told apart by their
    // items.
    void merge() {
        struct Key {
            int64_t row;
            Index length;
            uint64_t hash;
        };
        Vector<Key> keys(control_);
        keys.reserve(data_.rows());
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            Key key{r, data_.row(r).size(), 0};
            for (int32_t code : data_.row(r)) key.hash = (key.hash ^ scattered(code)) * 0xD6E8FEB86659FD93U;
            keys.push_back(key);
        }
        std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
            control_.poll();
            if (a.length != b.length) return a.length > b.length;
            if (a.hash != b.hash) return a.hash < b.hash;
            return std::ranges::lexicographical_compare(data_.row(a.row), data_.row(b.row));
        });
        offsets_.push_back(0);
        for (Index k = 0; k < keys.size(); ++k) {
            if (k % polled_rows == 0) control_.poll();
            const auto codes = data_.row(keys[k].row);
            if (k > 0 && keys[k].hash == keys[k - 1].hash && std::ranges::equal(codes, data_.row(keys[k - 1].row))) {
                ++weight_.back();
                continue;
            }
            for (int32_t code : codes) items_.push_back(number(code));
            std::sort(items_.begin() + offsets_.back(), items_.end());
            offsets_.push_back(items_.size());
            weight_.push_back(1);
            if (weight_.size() > std::numeric_limits<int32_t>::max())
                throw std::invalid_argument("too many different transactions");
            signature_.push_back(bits_of(row(rows() - 1)));
        }
    }

    void index() {
        holders_.fill(items(), [&](auto put) {
            for (int32_t r = 0; r < rows(); ++r) {
                if (r % polled_rows == 0) control_.poll();
                for (int32_t item : row(r)) put(item, r);
            }
        });
    }

    const Csr& data_;
    Control& control_;
    Vector<int32_t> code_{control_}, number_{control_};
    Vector<int64_t> support_{control_};  // in transactions
    Vector<int64_t> offsets_{control_}, weight_{control_};
    Vector<int32_t> items_{control_};
    Vector<uint64_t> signature_{control_};  // of each row: a few bits of all its items
    Groups<int32_t> holders_{control_};     // by item
};

}  // namespace veilset::auditing
