// The transactions as the search for rules reads them: equal ones are one row with a weight, the longest rows first;
// items are numbered from the rarest to the most frequent, and each has the list of the rows that hold it.
//
// What is inferred is an item, or a *thing*: one that nobody knows, or a group of those. Things are in no row; they are
// numbered after the items, and have a list of rows, too. The last thing is any of them.
//
// What is loaded is what some questions need, so that data of any size is audited in a given memory, as long as one
// question fits. The antecedents of a rule about α are parts of the rows with α. So of all rows, only the items that
// share a row with α are read; rows without such an item are counted together. Those loaded keep their order and
// weights, whatever else is asked: no answer depends on what is loaded at the same time.
//
// Where no machine holds the data, the rows are a *share* of it: of each transaction, the items that share a row with
// something the share is asked about (audit/rho_share.cpp). What is equal then is one row with a weight, and nothing
// that is found may depend on how many rows it was.
#pragma once

#include <functional>
#include <limits>

#include "audit/findings.hpp"
#include "core/csr.hpp"

namespace veilset::auditing {

class MergedRows {
public:
    // thing[i]: which thing the item i is, none if it can be known.
    // weights: for how many transactions each row stands; empty: one each.
    MergedRows(const Csr& data, View<int32_t> thing, int32_t things, Control& control, View<int64_t> weights = {})
        : data_(data), thing_(thing), things_(things), weights_(weights), control_(control),
          transactions_(weights.empty() ? data.rows() : std::accumulate(weights.begin(), weights.end(), int64_t(0))) {}

    // Numbers the items and counts them: all that is known of the data at any time.
    void count() {
        Vector<int64_t> held(data_.vocabulary, 0, control_);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            for (int32_t code : data_.row(r)) held[code] += weight_of(r);
        }
        number_items(held);
        count_things();
    }
    // The same for a share, whose rows do not tell: how many of so many transactions hold each item, by code. Things
    // are one item each.
    void count_as(View<int64_t> held, int64_t transactions) {
        number_items(held);
        for (int32_t item = 0; item < data_.vocabulary; ++item)
            if (thing_[item] != none) support_[thing(thing_[item])] = held[item];
        transactions_ = transactions;
    }

    // Loads what rules about these items and things need, unless it is there already.
    void load(View<int32_t> asked) {
        if (!is_asked_.empty() && std::ranges::all_of(asked, [&](int32_t number) { return is_asked_[number] != 0; }))
            return;
        unload();
        is_asked_.assign(numbers(), 0);
        for (int32_t number : asked) is_asked_[number] = 1;
        // Any of them is asked about without more rows.
        if (std::all_of(&is_asked_[items()], &is_asked_[any()], [](uint8_t one) { return one != 0; }))
            is_asked_[any()] = 1;
        find_items();
        merge();
        index();
    }
    void unload() {
        for (auto* values : {&is_asked_, &is_read_}) Vector<uint8_t>(control_).swap(*values);
        for (auto* values : {&offsets_, &carried_offsets_, &weight_}) Vector<int64_t>(control_).swap(*values);
        for (auto* values : {&length_, &items_, &carried_}) Vector<int32_t>(control_).swap(*values);
        Vector<uint64_t>(control_).swap(signature_);
        holders_ = Groups<int32_t>(control_);
        elsewhere_ = 0;
    }
    int64_t bytes() const {
        return rows() * int64_t(4 * sizeof(int64_t) + sizeof(int32_t)) +
               2 * (items_.size() + carried_.size()) * int64_t(sizeof(int32_t));
    }

    int32_t rows() const { return int32_t(weight_.size()); }
    int32_t items() const { return int32_t(code_.size()); }
    int32_t thing(int32_t which) const { return items() + which; }
    int32_t any() const { return thing(things_); }
    int32_t numbers() const { return any() + 1; }  // of items and things
    int64_t transactions() const { return transactions_; }
    int64_t elsewhere() const { return elsewhere_; }  // how many of them are not loaded
    View<int32_t> row(int32_t r) const { return part(items_, offsets_, r); }
    int64_t weight(int32_t r) const { return weight_[r]; }
    int32_t code(int32_t item) const { return code_[item]; }  // in the vocabulary
    int32_t number_of(int32_t code) const { return thing_[code] == none ? number_[code] : thing(thing_[code]); }
    int64_t support(int32_t number) const { return support_[number]; }
    // The rows that hold an item or thing, the longest first.
    View<int32_t> holders(int32_t number) const { return holders_[number]; }

    // From numbers to codes of the vocabulary, ascending.
    void name(List<int32_t>& items) const {
        for (int32_t& item : items) item = code(item);
        std::ranges::sort(items);
    }

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

    Index length(int32_t r) const { return length_[r]; }

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

    int64_t weight_of(Index r) const { return weights_.empty() ? 1 : weights_[r]; }

    void number_items(View<int64_t> held) {
        for (int32_t code = 0; code < data_.vocabulary; ++code)
            if (thing_[code] == none) code_.push_back(code);
        std::ranges::stable_sort(code_, {}, [&](int32_t code) { return held[code]; });
        number_.assign(data_.vocabulary, none);
        for (Index i = 0; i < code_.size(); ++i) number_[code_[i]] = int32_t(i);
        support_.assign(numbers(), 0);
        for (int32_t item = 0; item < items(); ++item) support_[item] = held[code(item)];
    }

    // How many rows hold each, and any of them.
    void count_things() {
        if (things_ == 0) return;
        Vector<int64_t> last_row(numbers(), none, control_);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            for (int32_t code : data_.row(r)) {
                if (thing_[code] == none) continue;
                for (int32_t number : {thing(thing_[code]), any()})
                    if (std::exchange(last_row[number], r) != r) support_[number] += weight_of(r);
            }
        }
    }

    bool asks(View<int32_t> row) const {
        return std::ranges::any_of(row, [&](int32_t code) {
            return is_asked_[number_of(code)] || (thing_[code] != none && is_asked_[any()]);
        });
    }

    // Those that share a row with something that is asked about.
    void find_items() {
        is_read_.assign(items(), 0);
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            const auto row = data_.row(r);
            if (!asks(row)) continue;
            for (int32_t code : row)
                if (thing_[code] == none) is_read_[number_[code]] = 1;
        }
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
        for (int64_t r = 0; r < data_.rows(); ++r) {
            if (r % polled_rows == 0) control_.poll();
            Key key{r, 0, 0};
            bool some = false;
            for (int32_t code : data_.row(r)) {
                key.length += thing_[code] == none;
                key.hash = (key.hash ^ scattered(code)) * 0xD6E8FEB86659FD93U;
                some |= thing_[code] == none && is_read_[number_[code]];
            }
            if (some || asks(data_.row(r))) keys.push_back(key);
        }
        std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
            control_.poll();
            if (a.length != b.length) return a.length > b.length;
            if (a.hash != b.hash) return a.hash < b.hash;
            return std::ranges::lexicographical_compare(data_.row(a.row), data_.row(b.row));
        });
        offsets_.push_back(0);
        carried_offsets_.push_back(0);
        for (Index k = 0; k < keys.size(); ++k) {
            if (k % polled_rows == 0) control_.poll();
            const auto codes = data_.row(keys[k].row);
            if (k > 0 && keys[k].hash == keys[k - 1].hash && std::ranges::equal(codes, data_.row(keys[k - 1].row))) {
                weight_.back() += weight_of(keys[k].row);
                continue;
            }
            for (int32_t code : codes) {
                const int32_t number = number_of(code);
                if (thing_[code] != none) {
                    if (is_asked_[number]) carried_.push_back(number);
                } else if (is_read_[number]) {
                    items_.push_back(number);
                }
            }
            std::sort(items_.begin() + offsets_.back(), items_.end());
            offsets_.push_back(items_.size());
            const auto carried = carried_.begin() + carried_offsets_.back();
            std::sort(carried, carried_.end());
            carried_.erase(std::unique(carried, carried_.end()), carried_.end());
            if (is_asked_[any()] && std::ranges::any_of(codes, [&](int32_t code) { return thing_[code] != none; }))
                carried_.push_back(any());
            carried_offsets_.push_back(carried_.size());
            weight_.push_back(weight_of(keys[k].row));
            length_.push_back(int32_t(keys[k].length));
            if (weight_.size() > std::numeric_limits<int32_t>::max())
                throw std::invalid_argument("too many different transactions");
            signature_.push_back(bits_of(row(rows() - 1)));
        }
        elsewhere_ = std::accumulate(weight_.begin(), weight_.end(), transactions_, std::minus());
    }

    void index() {
        holders_.fill(numbers(), [&](auto put) {
            for (int32_t r = 0; r < rows(); ++r) {
                if (r % polled_rows == 0) control_.poll();
                for (int32_t item : row(r)) put(item, r);
                for (int32_t carried : part(carried_, carried_offsets_, r)) put(carried, r);
            }
        });
    }

    const Csr& data_;
    View<int32_t> thing_;
    int32_t things_;
    View<int64_t> weights_;
    Control& control_;
    int64_t transactions_;
    Vector<int32_t> code_{control_}, number_{control_};
    Vector<int64_t> support_{control_};  // in transactions
    // What is loaded: all below.
    Vector<uint8_t> is_asked_{control_}, is_read_{control_};  // by number
    int64_t elsewhere_ = 0;
    Vector<int64_t> offsets_{control_}, carried_offsets_{control_}, weight_{control_};
    Vector<int32_t> length_{control_};  // of each row, with the items that are not read
    Vector<int32_t> items_{control_}, carried_{control_};
    Vector<uint64_t> signature_{control_};  // of each row: a few bits of all its items
    Groups<int32_t> holders_{control_};     // by number
};

}  // namespace veilset::auditing
