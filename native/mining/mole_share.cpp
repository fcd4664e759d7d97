// A share of the search for minimal moles: those of one size in some branches, for data that no machine holds as a
// whole. And the rows that hold any of some itemsets.
//
// Items are ranks, the rarest first; `publics` of them are walked, the others are sensitive. A branch, all itemsets
// with the same rarest item, needs the rows that hold this item, without rarer ones; equal rows come as one, with a
// weight. An itemset that contains no minimal mole of a smaller size is safe or a minimal mole itself. So a share that
// is given all smaller ones need not count the one subset that lacks the rarest item, which it could not do.
//
// A branch may be too large for one share. Then a share walks those of its itemsets that have their second item in a
// range, and needs the rows with such an item: the item of the branch, and what follows from that one on.
//
// Only itemsets with a *fresh* item are asked for; of the others, the minimal moles are known. Rows without fresh items
// may be left out, so what is counted of an itemset without one is not its support.
#include "mining/known_moles.hpp"
#include "mining/limits.hpp"
#include "mining/rows.hpp"

namespace veilset {
namespace {

using namespace mining;

struct Range {
    int64_t first, end;
    bool has(int64_t item) const { return first <= item && item < end; }
};

class MoleShare {
public:
    MoleShare(const Csr& data, View<int64_t> weights, View<uint8_t> fresh, const Csr& known, Limits limits, Index size,
              int64_t most, int64_t work, Control& control)
        : rows_(data), weights_(weights), fresh_(fresh), publics_(int32_t(fresh.size())),
          things_(data.vocabulary - publics_), limits_(limits), size_(size), most_(most), work_(work),
          control_(control), known_(known, control), items_(control), supports_(control), weight_(publics_, 0),
          met_(publics_, 0), slot_(publics_, none), with_(things_, 0), seconds_{0, publics_} {}

    // Of the branches first .. end - 1, the itemsets with their second item in a range.
    void branches(int64_t first, int64_t end, Range seconds) {
        // Of a part of a branch, not all rows of its item are here.
        const bool whole = seconds.has(0) && seconds.has(publics_ - 1);
        seconds_ = seconds;
        Groups<Place> places(control_);
        places.fill(end - first, [&](auto put) {
            for (Index r = 0; r < rows_.rows(); ++r) {
                const auto row = rows_.row(r);
                for (Index i = 0; i < row.size() && row[i] < end; ++i)
                    if (row[i] >= first) put(row[i] - first, Place{int32_t(r), int32_t(i + 1)});
            }
        });
        for (int64_t x = first; x < end && !stopped(); ++x) {
            const auto holders = places[x - first];
            if (holders.empty()) continue;
            itemset_.assign(1, int32_t(x));
            if (size_ == 1) judge({}, int32_t(x), holders, weight_of(holders));
            else extend(holders, whole ? weight_of(holders) : unknown, fresh_[x]);
        }
    }

    // The ranks of the moles, their supports, whether an itemset of this size may be part of a larger mole, and how
    // many items were read: more than allowed means that the rest says nothing.
    nb::tuple result() {
        List<int32_t> items(items_.begin(), items_.end());
        List<int64_t> supports(supports_.begin(), supports_.end());
        return nb::make_tuple(to_numpy(std::move(items)), to_numpy(std::move(supports)), grows_, steps_);
    }

private:
    struct Extension {
        int32_t item;
        int64_t support;
        Index rows;
    };

    static constexpr int64_t unknown = -1;

    // One more than were asked for: it is known then that there are too many.
    bool stopped() const { return supports_.size() > most_ || steps_ > work_; }

    int64_t weight_of(View<Place> places) const {
        int64_t sum = 0;
        for (const Place& place : places) sum += weights_[place.row];
        return sum;
    }

    // itemset_ is P, a safe itemset of fewer than size_ items, `places` its rows and what follows P in them.
    void extend(View<Place> places, int64_t support, bool fresh) {
        control_.poll();
        const bool last = Index(itemset_.size()) + 1 == size_;
        const List<Extension> deeper = worth_a_look(places, support, fresh, last);
        if (deeper.empty() || stopped()) return;
        const Groups<Place> delivered = deliver(places, deeper);
        for (Index e = 0; e < deeper.size() && !stopped(); ++e) {
            if (last) {
                judge(itemset_, deeper[e].item, delivered[e], deeper[e].support);
                continue;
            }
            itemset_.push_back(deeper[e].item);
            extend(delivered[e], deeper[e].support, fresh || fresh_[deeper[e].item]);
            itemset_.pop_back();
        }
    }

    // The items e for which P + e is to be extended, or, of the largest size, needs a look at its sensitive items.
    List<Extension> worth_a_look(View<Place> places, int64_t support, bool fresh, bool last) {
        List<int32_t> met;
        for (const Place& place : places)
            for (int32_t item : rows_.row(place.row).subspan(place.next)) {
                if (item >= publics_) break;
                ++steps_;
                if (itemset_.size() == 1 && !seconds_.has(item)) continue;
                if (met_[item]++ == 0) met.push_back(item);
                weight_[item] += weights_[place.row];
            }
        std::ranges::sort(met);
        List<Extension> found;
        for (int32_t item : met) {
            const Extension e{item, std::exchange(weight_[item], 0), std::exchange(met_[item], 0)};
            if (stopped()) continue;  // the counters must be zeros again
            // An itemset with the rows of a subset is in no minimal mole.
            if (e.support == support && (fresh || !fresh_[item])) continue;
            if (!fresh && !fresh_[item]) {  // it is safe or known, and not all of its rows were counted
                if (known_.any_in(itemset_, item)) continue;
                if (last) grows_ = true;
                else found.push_back(e);
                continue;
            }
            const bool rare = limits_.rare(e.support);
            if (rare && !last) continue;  // a known mole, or around one
            if (!rare && last && things_ == 0) {
                grows_ = true;
                continue;
            }
            if ((last || things_ > 0) && known_.any_in(itemset_, item)) continue;
            if (rare) report(itemset_, item, e.support);
            else found.push_back(e);
        }
        return found;
    }

    // The rows of P with each of these items, and what follows it in them.
    Groups<Place> deliver(View<Place> places, const List<Extension>& extensions) {
        Groups<Place> delivered(control_);
        Index entries = 0;
        for (Index e = 0; e < extensions.size(); ++e) {
            slot_[extensions[e].item] = int32_t(e);
            delivered.first.push_back(entries += extensions[e].rows);
        }
        delivered.values.resize(entries);
        List<int64_t> next(delivered.first.begin(), delivered.first.end());
        for (const Place& place : places) {
            const auto row = rows_.row(place.row);
            for (Index i = place.next; i < row.size() && row[i] < publics_; ++i)
                if (const int32_t slot = slot_[row[i]]; slot != none)
                    delivered.values[next[slot]++] = {place.row, int32_t(i + 1)};
        }
        for (const Extension& e : extensions) slot_[e.item] = none;
        return delivered;
    }

    // P + item is not rare and contains no known mole: is it sure of a sensitive item?
    void judge(View<int32_t> itemset, int32_t item, View<Place> places, int64_t support) {
        bool breach = false;
        for (const Place& place : places) {
            const auto row = rows_.row(place.row);
            for (Index i = row.size(); i-- > place.next && row[i] >= publics_;)
                breach |= limits_.breach(with_[row[i] - publics_] += weights_[place.row], support);
        }
        for (const Place& place : places) {
            const auto row = rows_.row(place.row);
            for (Index i = row.size(); i-- > place.next && row[i] >= publics_;) with_[row[i] - publics_] = 0;
        }
        if (breach || limits_.rare(support)) report(itemset, item, support);
        else grows_ = true;
    }

    void report(View<int32_t> itemset, int32_t item, int64_t support) {
        items_.insert(items_.end(), itemset.begin(), itemset.end());
        items_.push_back(item);
        supports_.push_back(support);
    }

    Csr rows_;
    View<int64_t> weights_;
    View<uint8_t> fresh_;
    int32_t publics_, things_;
    Limits limits_;
    Index size_;
    int64_t most_, work_, steps_ = 0;
    Control& control_;
    KnownMoles known_;
    Vector<int32_t> items_;
    Vector<int64_t> supports_;
    bool grows_ = false;
    List<int32_t> itemset_;
    List<int64_t> weight_, met_;  // item -> the weight and the number of rows; zeros in between
    List<int32_t> slot_;          // item -> its place among extensions
    List<int64_t> with_;          // sensitive item -> weight; zeros in between
    Range seconds_;
};

nb::tuple mole_share(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                     View<uint8_t> fresh, View<int64_t> known_offsets, View<int32_t> known_items, int32_t things,
                     int64_t h_num, int64_t h_den, int64_t k, int64_t size, int64_t first, int64_t end, int64_t second,
                     int64_t second_end, int64_t most, int64_t work) {
    const Csr data(offsets, items, int32_t(fresh.size() + things)),
        known(known_offsets, known_items, int32_t(fresh.size()));
    if (data.rows() > INT32_MAX) throw std::invalid_argument("more than 2^31 - 1 rows in one share");
    if (weights.size() != data.rows()) throw std::invalid_argument("not one weight for each row");
    if (first < 0 || end < first || end > fresh.size()) throw std::invalid_argument("these are not branches");
    if (second < 0 || second_end < second || second_end > fresh.size())
        throw std::invalid_argument("these are not second items");
    if (size < 1) throw std::invalid_argument("an itemset needs an item");
    MoleShare share(data, weights, fresh, known, {h_num, h_den, k, size}, size, most, work, control);
    control.single([&] { share.branches(first, end, {second, second_end}); });
    return share.result();
}

Output<uint8_t> rows_with_any(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                              View<int64_t> asked_offsets, View<int32_t> asked_items) {
    const Csr data(offsets, items, vocabulary), asked(asked_offsets, asked_items, vocabulary);
    List<uint8_t> found(data.rows(), 0);
    control.single([&] {
        Groups<int32_t> beginning(control);  // item -> the itemsets that begin with it
        beginning.fill(vocabulary, [&](auto put) {
            for (Index a = 0; a < asked.rows(); ++a)
                if (!asked.row(a).empty()) put(asked.row(a)[0], int32_t(a));
        });
        List<uint8_t> held(vocabulary, 0);
        for (Index r = 0; r < data.rows(); ++r) {
            control.poll();
            const auto row = data.row(r);
            for (int32_t item : row) held[item] = 1;
            found[r] = std::ranges::any_of(row, [&](int32_t item) {
                return std::ranges::any_of(beginning[item], [&](int32_t a) {
                    return std::ranges::all_of(asked.row(a), [&](int32_t other) { return held[other]; });
                });
            });
            for (int32_t item : row) held[item] = 0;
        }
    });
    return to_numpy(std::move(found));
}

}  // namespace

void register_mining_mole_share(nb::module_& m) {
    def_kernel(m, "mole_share", mole_share, "offsets"_a, "items"_a, "weights"_a, "fresh"_a, "known_offsets"_a,
               "known_items"_a, nb::kw_only(), "things"_a, "h_num"_a, "h_den"_a, "k"_a, "size"_a, "first"_a, "end"_a,
               "second"_a, "second_end"_a, "most"_a, "work"_a);
    def_kernel(m, "rows_with_any", rows_with_any, "offsets"_a, "items"_a, "vocabulary"_a, "asked_offsets"_a,
               "asked_items"_a);
}

}  // namespace veilset
