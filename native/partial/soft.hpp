// Soft search: what each row keeps is changed occurrence by occurrence, at random, and itemsets that some but fewer
// than k rows hold cost something. They cost little at first and more and more; in the end they are forbidden, the
// weakest first, until none is left.
//
// A change that makes things worse is made with a chance that falls as the search cools down (simulated annealing). An
// itemset in s < k rows costs as a hill over 0 .. k: near 0 it is better to give it up, near k it is better to
// complete it. No row ever holds an itemset that is in fewer than k rows of the data.
//
// The work is counted, not timed. The result need not keep the promise: larger itemsets than those that are listed were
// not looked at, nor was h. It says where occurrences should return (partial/put_back.hpp).
#pragma once

#include <cmath>

#include "core/csr.hpp"
#include "partial/hashes.hpp"

namespace veilset::partial {

class Soft {
public:
    // `may`: the items that take part, all of which k rows hold; 2: it stays everywhere. `sets`: the itemsets of two to
    // `size` such items that k rows hold.
    Soft(const Csr& data, View<uint8_t> may, View<int64_t> worth, const Csr& sets, int64_t k, int64_t size,
         uint64_t seed, Control& control)
        : control_(control), k_(k), size_(size), dice_(mix(seed + random_step)), offsets_(1, 0, control),
          places_(control), rows_(control), items_(control), kept_(control), slots_(control), parts_(control) {
        Index free = 0;
        int64_t total = 0;
        for (Index r = 0; r < data.rows(); ++r) {
            for (int64_t at = data.offsets[r]; at < data.offsets[r + 1]; ++at) {
                const int32_t item = data.items[at];
                if (!may[item]) continue;
                free += may[item] == 1;
                total += worth[item];
                places_.push_back(at);
                rows_.push_back(int32_t(r));
                items_.push_back(item);
                kept_.push_back(may[item] == 2 ? fixed : 0);
            }
            offsets_.push_back(items_.size());
        }
        free_ = free;
        weight_.assign(data.vocabulary, 0);
        hash_.assign(data.vocabulary, 0);
        const double unit = std::max(1.0, double(total) / double(std::max<Index>(1, items_.size())));
        for (int32_t item = 0; item < data.vocabulary; ++item) {
            weight_[item] = double(worth[item]) / unit;
            hash_[item] = stirred(item);
        }
        double heaviest = 0;
        for (Index r = 0; r + 1 < offsets_.size(); ++r) {
            double all = 0;
            for (int64_t at = offsets_[r]; at < offsets_[r + 1]; ++at) all += weight_[items_[at]];
            heaviest = std::max(heaviest, all);
        }
        barrier_ = 2 * heaviest + 50;
        list(may, sets);
        for (Index r = 0; r + 1 < offsets_.size(); ++r) start(r);
    }

    // Which occurrences of the data are kept, where those of all other items are; `work` says how long it may take.
    // False: that is not enough for each occurrence to have a fair number of turns.
    bool run(int64_t work, uint8_t* kept) {
        cool(0);
        if (free_ > 0 && !change(work / fewest_turns, 1)) return false;
        for (int step = 0; step < steps && free_ > 0; ++step) {
            cool(double(step) / (steps - 1));
            change(work * 3 / 4 * (step + 1) / steps, most_turns);
            control_.advance();
        }
        if (free_ > 0) forbid_the_weakest(work);
        for (Index at = 0; at < items_.size(); ++at) kept[places_[at]] = kept_[at] != 0;
        return true;
    }

    static constexpr int steps = 400;

private:
    static constexpr uint8_t fixed = 2;
    // Found by trying on Groceries, BMS-WebView-2 and Retail; none of them matters much.
    static constexpr double hot = 0.5, cold = 0.15, cheap = 0.1, dear = 1.5, slope = 0.7;
    static constexpr int64_t forbidding_steps = 150, weakest = 10;  // one in ten at each step
    static constexpr int64_t most_turns = 5;                        // of each occurrence in one step
    static constexpr int64_t fewest_turns = 20;                     // in all

    struct Slot {
        uint64_t hash;
        int32_t rows;  // that hold it now
        int16_t size;  // 0: no itemset
        bool forbidden;
    };
    struct Part {
        uint64_t hash;
        int64_t size;
    };

    Index place(uint64_t hash) const {
        const Index mask = slots_.size() - 1;
        Index at = Index(mix(hash)) & mask;
        while (slots_[at].size > 0 && slots_[at].hash != hash) at = (at + 1) & mask;
        return at;
    }
    Slot* find(uint64_t hash) {
        Slot& slot = slots_[place(hash)];
        return slot.size > 0 ? &slot : nullptr;
    }

    void list(View<uint8_t> may, const Csr& sets) {
        Index many = 1024;
        while (many < 2 * (sets.rows() + may.size())) many *= 2;
        slots_.assign(many, Slot{0, 0, 0, false});
        const auto add = [&](uint64_t hash, Index size) { slots_[place(hash)] = {hash, 0, int16_t(size), false}; };
        for (Index item = 0; item < may.size(); ++item)
            if (may[item]) add(hash_[item], 1);
        for (Index s = 0; s < sets.rows(); ++s) {
            uint64_t hash = 0;
            for (int32_t item : sets.row(s)) hash += hash_[item];
            add(hash, sets.row(s).size());
        }
    }

    // What stays everywhere is counted.
    void start(Index row) {
        control_.poll();
        parts_.assign(1, {0, 0});
        for (int64_t at = offsets_[row]; at < offsets_[row + 1]; ++at)
            if (kept_[at]) extend(hash_[items_[at]], size_);
        for (const Part& part : parts_)
            if (Slot* slot = part.size > 0 ? find(part.hash) : nullptr) ++slot->rows;
    }

    void extend(uint64_t hash, int64_t size) {
        const Index before = parts_.size();
        for (Index p = 0; p < before; ++p)
            if (parts_[p].size < size) parts_.push_back({parts_[p].hash + hash, parts_[p].size + 1});
    }

    // Of what a row keeps apart from one occurrence, the parts that make a small itemset with one item more.
    void parts_without(int32_t row, int64_t without) {
        parts_.assign(1, {0, 0});
        for (int64_t at = offsets_[row]; at < offsets_[row + 1]; ++at)
            if (kept_[at] && at != without) extend(hash_[items_[at]], size_ - 1);
        work_ += parts_.size() + 2;
    }

    double hill(int64_t size, int64_t rows) const {
        if (rows <= 0 || rows >= k_) return 0;
        const double share = double(rows) / double(k_);
        return price_ * std::exp2(double(size - 2)) * std::pow(4 * share * (1 - share), slope) * double(k_) / 4;
    }

    // From 0 (hot, and itemsets below k cost little) to 1.
    void cool(double progress) {
        heat_ = hot * std::pow(cold / hot, progress);
        price_ = cheap * std::pow(dear / cheap, progress);
        up_.assign(size_ + 1, List<double>(k_, 0));
        for (int64_t size = 1; size <= size_; ++size)
            for (int64_t rows = 0; rows < k_; ++rows) up_[size][rows] = hill(size, rows + 1) - hill(size, rows);
    }

    // What one row more or less costs; the itemsets are in touched_. More is infinite if one of them is not listed.
    double more(int32_t item) {
        touched_.clear();
        double cost = -weight_[item];
        for (const Part& part : parts_) {
            Slot* slot = find(part.hash + hash_[item]);
            if (!slot) return std::numeric_limits<double>::infinity();
            touched_.push_back(slot);
            if (slot->forbidden) cost += barrier_;
            else if (slot->rows < k_) cost += up_[slot->size][slot->rows];
        }
        return cost;
    }
    double less(int32_t item) {
        touched_.clear();
        double cost = weight_[item];
        for (const Part& part : parts_) {
            Slot* slot = find(part.hash + hash_[item]);
            if (!slot) continue;
            touched_.push_back(slot);
            if (slot->forbidden) cost -= barrier_;
            else if (slot->rows <= k_) cost -= up_[slot->size][slot->rows - 1];
        }
        return cost;
    }
    void count(int change) {
        for (Slot* slot : touched_) slot->rows += change;
    }

    uint64_t random() { return mix(dice_ += random_step); }
    int64_t any(int64_t of) { return int64_t(random() % uint64_t(of)); }
    bool accepts(double cost) {
        if (cost <= 0) return true;
        return cost < 40 * heat_ && double(random() >> 11) * 0x1p-53 < std::exp(-cost / heat_);
    }

    // Until every occurrence had so many turns, or so much work is done: false.
    bool change(int64_t until, int64_t most) {
        for (int64_t turns = 0; turns < most * items_.size(); turns += 64) {
            if (work_ >= until) return false;
            control_.poll();
            for (int i = 0; i < 64; ++i) change_one();
        }
        return true;
    }

    // An occurrence goes, or comes: alone, or for one that it cannot stand beside.
    void change_one() {
        const int64_t at = any(items_.size());
        ++work_;
        if (kept_[at] == fixed) return;
        const int32_t row = rows_[at], item = items_[at];
        if (kept_[at]) {
            parts_without(row, at);
            if (accepts(less(item))) count(-1), kept_[at] = 0;
            return;
        }
        int64_t rival = -1, rivals = 0, beside = 0;
        for (int64_t other = offsets_[row]; other < offsets_[row + 1] && rivals < 2; ++other) {
            if (!kept_[other]) continue;
            ++beside;
            const Slot* pair = size_ < 2 ? &slots_[0] : find(hash_[item] + hash_[items_[other]]);
            if (size_ >= 2 && (!pair || pair->forbidden)) rival = other, ++rivals;
        }
        work_ += beside;
        if (rivals > 1) return;
        if (rivals == 0) {
            parts_without(row, -1);
            const double cost = more(item);
            if (cost < barrier_ / 2) {
                if (accepts(cost)) count(1), kept_[at] = 1;
                return;
            }
            if (beside == 0) return;
            rival = one_kept(row, any(beside));  // a larger itemset is in the way
        }
        if (kept_[rival] != fixed) exchange(at, rival);
    }

    int64_t one_kept(int32_t row, int64_t number) const {
        int64_t at = offsets_[row];
        while (!kept_[at] || number-- > 0) ++at;
        return at;
    }

    void exchange(int64_t at, int64_t rival) {
        parts_without(rows_[at], rival);
        const double gone = less(items_[rival]);
        count(-1);
        back_.swap(touched_);
        const double come = more(items_[at]);
        if (accepts(gone + come)) {
            count(1);
            kept_[at] = 1;
            kept_[rival] = 0;
        } else {
            back_.swap(touched_);
            count(1);
        }
    }

    void forbid_the_weakest(int64_t work) {
        for (int64_t step = 0, before = work_; step < forbidding_steps; ++step) {
            List<Slot*> weak;
            bool some = false;
            for (Slot& slot : slots_) {
                if (slot.size == 0) continue;
                some |= slot.forbidden && slot.rows > 0;
                if (slot.forbidden || slot.rows >= k_) continue;
                if (slot.rows == 0) slot.forbidden = true;
                else weak.push_back(&slot);
            }
            if (weak.empty() && !some) return;
            std::ranges::sort(weak, {}, [](const Slot* slot) { return std::pair(slot->rows, slot->hash); });
            for (Index n = 0; n < (weak.size() + weakest - 1) / weakest; ++n) weak[n]->forbidden = true;
            change(before + (work - before) * (step + 1) / forbidding_steps, most_turns);
            control_.advance();
        }
    }

    Control& control_;
    int64_t k_, size_, work_ = 0;
    Index free_ = 0;
    uint64_t dice_;
    Vector<int64_t> offsets_, places_;
    Vector<int32_t> rows_, items_;
    Vector<uint8_t> kept_;
    List<double> weight_;
    List<uint64_t> hash_;
    Vector<Slot> slots_;
    Vector<Part> parts_;
    List<Slot*> touched_, back_;
    List<List<double>> up_;
    double heat_ = hot, price_ = cheap, barrier_ = 0;
};

}  // namespace veilset::partial
