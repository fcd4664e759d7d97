// The rows of one item, with what else they hold: takes rows away until no small itemset is left in fewer than k.
//
// An itemset that fewer than k rows hold loses all of them, whatever else happens: what is left in the end is the union
// of all sets of rows in which that is true of none. So rows may be taken away in any order, and the answer is unique.
// After a first look at all itemsets (or at those of rows that are in doubt), only itemsets of rows that were just
// taken away can have become too rare. Two ways of counting: along the rows, or, where those are long, with bitmaps.
#pragma once

#include <bit>

#include "core/control.hpp"
#include "mining/bits.hpp"

namespace veilset::partial {

class Thin {
public:
    explicit Thin(Control& control)
        : control_(control), offsets_(1, 0, control), items_(control), alive_(control), local_(control),
          names_(control), bits_(control), wanted_bits_(control), columns_(control), wanted_columns_(control) {}

    // Rows are added one by one, with items in ascending order. Only rows in doubt can go.
    void begin(Index vocabulary) {
        offsets_.assign(1, 0);
        items_.clear();
        alive_.clear();
        doubt_.clear();
        if (local_.size() < vocabulary) local_.assign(vocabulary, -1);
    }
    void push(int32_t item) { items_.push_back(item); }
    void close(bool in_doubt) {
        if (in_doubt) doubt_.push_back(int32_t(alive_.size()));
        offsets_.push_back(items_.size());
        alive_.push_back(1);
    }
    bool alive(Index row) const { return alive_[row]; }
    // How much was looked at so far, whatever the clock says.
    int64_t work() const { return work_; }

    // Takes rows away until every itemset of up to `size` items that occurs is in at least k rows.
    void run(int64_t k, int64_t size) {
        start(k, size);
        prune_all();
    }

protected:
    void start(int64_t k, int64_t size) {
        left_ = alive_.size();
        k_ = k;
        size_ = size;
        work_ += items_.size() + alive_.size();
        number();
    }

    void prune_all() {
        if (left_ < k_) return clear();
        if (single_items() && size_ > 1) prune(still_in_doubt());
    }

    List<int32_t> still_in_doubt() const {
        List<int32_t> rows;
        for (int32_t r : doubt_)
            if (alive_[r]) rows.push_back(r);
        return rows;
    }

    // Only itemsets of these rows may be too rare. All that go are added to `gone`.
    void prune(List<int32_t> suspects, List<int32_t>* gone = nullptr) {
        Index longest = 0;
        rows_.clear();  // from now on, only rows that are left are looked at
        for (Index r = 0; r < alive_.size(); ++r)
            if (alive_[r]) rows_.push_back(int32_t(r)), longest = std::max(longest, row(r).size());
        depth_ = std::min(size_, longest);
        const bool whole = size_ >= longest, dense = !whole && bitmaps_pay();
        if (dense) make_bitmaps();
        while (!suspects.empty() && left_ > 0 && depth_ > 0) {
            gone_.clear();
            if (whole) whole_rows();
            else if (dense) along_columns(suspects);
            else along_rows(suspects);
            suspects = whole ? List<int32_t>() : gone_;
            if (gone) gone->insert(gone->end(), gone_.begin(), gone_.end());
        }
        if (left_ < k_) clear();
    }

    struct Position {
        int32_t row;
        int64_t next;
    };
    struct Level {
        explicit Level(Control& c)
            : count(c), wanted(c), touched(c), begin(c), begin_wanted(c), positions(c), positions_wanted(c) {}
        Vector<int32_t> count, wanted, touched;
        Vector<int64_t> begin, begin_wanted;
        Vector<Position> positions, positions_wanted;
    };

    View<int32_t> row(Index r) const { return part(items_, offsets_, r); }
    void clear() {
        std::ranges::fill(alive_, uint8_t(0));
        left_ = 0;
    }
    void take_away(int32_t row) {
        alive_[row] = 0;
        --left_;
        gone_.push_back(row);
    }

    // Items that occur get numbers of their own, in their order.
    void number() {
        names_.clear();
        for (int32_t item : items_)
            if (local_[item] < 0) local_[item] = 0, names_.push_back(item);
        std::ranges::sort(names_);
        for (Index i = 0; i < names_.size(); ++i) local_[names_[i]] = int32_t(i);
        for (int32_t& item : items_) item = local_[item];
        for (int32_t name : names_) local_[name] = -1;
    }

    // False if nothing is left to look at.
    bool single_items() {
        List<int64_t> count(names_.size(), 0);
        for (int32_t item : items_) ++count[item];
        if (size_ < 1) return false;
        for (bool again = true; again;) {
            again = false;
            control_.poll();
            for (int32_t r : doubt_) {
                if (!alive_[r] || std::ranges::none_of(row(r), [&](int32_t item) { return count[item] < k_; }))
                    continue;
                alive_[r] = 0;
                --left_;
                again = true;
                for (int32_t item : row(r)) --count[item];
            }
        }
        if (left_ < k_) clear();
        return left_ > 0;
    }

    // If itemsets may be as large as rows, it is enough to look at whole rows: their parts are in no fewer rows.
    void whole_rows() {
        Groups<int32_t> holders(control_);
        holders.fill(names_.size(), [&](auto put) {
            for (int32_t r : rows_)
                for (int32_t item : row(r)) put(item, r);
        });
        for (bool again = true; again && left_ >= k_;) {
            again = false;
            for (int32_t r : doubt_) {
                if (!alive_[r] || alike(r, holders)) continue;
                take_away(r);
                again = true;
            }
        }
        if (left_ < k_) clear();
    }

    // Whether k rows have all items of this one.
    bool alike(int32_t r, const Groups<int32_t>& holders) {
        control_.poll();
        const auto items = row(r);
        if (items.empty()) return left_ >= k_;
        const auto fewest = [&](int32_t item) { return holders[item].size(); };
        int64_t found = 0;
        for (int32_t other : holders[*std::ranges::min_element(items, {}, fewest)])
            if (alive_[other] && std::ranges::includes(row(other), items) && ++found >= k_) return true;
        return false;
    }

    bool bitmaps_pay() const {
        const auto choose = [](double n, int64_t of) {
            double ways = 1;
            for (int64_t i = 0; i < of; ++i) ways *= std::max(0.0, n - double(i)) / double(i + 1);
            return ways;
        };
        double along = 0;
        List<uint8_t> there(names_.size(), 0);
        for (int32_t r : rows_) {
            along += choose(double(row(r).size()), depth_);
            for (int32_t item : row(r)) there[item] = 1;
        }
        const double items = double(std::ranges::count(there, 1));
        return choose(items, depth_) * double(rows_.size()) / 512 < along;
    }

    void along_rows(const List<int32_t>& suspects) {
        while (Index(levels_.size()) < depth_) levels_.emplace_back(control_);
        List<Position> all, wanted;
        for (int32_t r : rows_)
            if (alive_[r]) all.push_back({r, offsets_[r]});
        for (int32_t r : suspects) wanted.push_back({r, offsets_[r]});
        const bool every = wanted.size() == all.size() && gone_.empty() && alive_[suspects.front()];
        walk_rows(View(all), every ? View<Position>() : View(wanted), every, 0);
    }

    // One node of the walk: the rows that hold some items, and those among the suspects. Only itemsets of suspects
    // matter.
    void walk_rows(View<Position> all, View<Position> wanted, bool every, int64_t depth) {
        control_.poll();
        work_ += 4 * all.size();
        Level& level = levels_[depth];
        level.count.resize(names_.size(), 0);
        level.wanted.resize(names_.size(), 0);
        level.touched.clear();
        for (const Position& at : wanted)
            for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i) {
                if (level.wanted[items_[i]]++ == 0) level.touched.push_back(items_[i]);
            }
        for (const Position& at : all) {
            if (!alive_[at.row]) continue;
            for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i) {
                const int32_t item = items_[i];
                if (every && level.count[item] == 0) level.touched.push_back(item);
                ++level.count[item];
            }
        }
        const auto rare = [&](int32_t item) { return level.count[item] < k_ && (every || level.wanted[item] > 0); };
        const bool some_rare = std::ranges::any_of(
            level.touched, [&](int32_t item) { return level.count[item] > 0 && level.count[item] < k_; });
        if (some_rare)
            for (const Position& at : all)
                if (alive_[at.row] &&
                    std::any_of(items_.begin() + at.next, items_.begin() + offsets_[at.row + 1], rare))
                    take_away(at.row);
        if (depth + 1 < depth_) deeper(all, wanted, every, depth);
        for (const Position& at : all)
            for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i) level.count[items_[i]] = 0;
        for (int32_t item : level.touched) level.wanted[item] = 0, level.count[item] = 0;
    }

    void deeper(View<Position> all, View<Position> wanted, bool every, int64_t depth) {
        Level& level = levels_[depth];
        std::ranges::sort(level.touched);
        List<int32_t> items;
        for (int32_t item : level.touched)
            if (level.count[item] >= k_) items.push_back(item);
        if (items.empty()) return;
        // Where the rows of each item lie; `count` becomes the place of the item among these, from 1.
        const auto place = [&](View<Position> rows, bool only_alive, Vector<int64_t>& begin,
                               Vector<Position>& positions) {
            begin.assign(items.size() + 1, 0);
            for (const Position& at : rows) {
                if (only_alive && !alive_[at.row]) continue;
                for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i)
                    if (const int32_t number = level.count[items_[i]]; number > 0) ++begin[number];
            }
            std::partial_sum(begin.begin(), begin.end(), begin.begin());
            positions.resize(begin.back());
            Vector<int64_t> next(begin);
            for (const Position& at : rows) {
                if (only_alive && !alive_[at.row]) continue;
                for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i)
                    if (const int32_t number = level.count[items_[i]]; number > 0)
                        positions[next[number - 1]++] = {at.row, i + 1};
            }
        };
        for (const Position& at : all)
            for (int64_t i = at.next; i < offsets_[at.row + 1]; ++i) level.count[items_[i]] = 0;
        for (Index n = 0; n < items.size(); ++n) level.count[items[n]] = int32_t(n + 1);
        place(all, true, level.begin, level.positions);
        if (!every) place(wanted, false, level.begin_wanted, level.positions_wanted);
        for (Index n = 0; n < items.size(); ++n) {
            const View<Position> with = part(level.positions, level.begin, n);
            if (with.empty()) continue;
            walk_rows(with, every ? View<Position>() : part(level.positions_wanted, level.begin_wanted, n), every,
                      depth + 1);
        }
    }

    void make_bitmaps() {
        words_ = (rows_.size() + 511) / 512 * 8;
        bits_.assign(words_ * names_.size(), 0);
        for (Index n = 0; n < rows_.size(); ++n)
            for (int32_t item : row(rows_[n])) bits_[item * words_ + n / 64] |= uint64_t(1) << n % 64;
    }

    void along_columns(const List<int32_t>& suspects) {
        wanted_words_ = (suspects.size() + 511) / 512 * 8;
        wanted_bits_.assign(wanted_words_ * names_.size(), 0);
        for (Index n = 0; n < suspects.size(); ++n)
            for (int32_t item : row(suspects[n])) wanted_bits_[item * wanted_words_ + n / 64] |= uint64_t(1) << n % 64;
        columns_.assign(depth_ * words_, 0);
        wanted_columns_.assign(depth_ * wanted_words_, 0);
        for (int32_t item = 0; item < names_.size(); ++item) {
            const uint64_t* bits = bits_.data() + item * words_;
            const uint64_t* wanted = wanted_bits_.data() + item * wanted_words_;
            if (best_loops->and_count(wanted, wanted, nullptr, nullptr, wanted_words_) == 0) continue;
            if (best_loops->and_count(bits, bits, nullptr, nullptr, words_) < k_) take_both(bits, bits, 0);
            else if (depth_ > 1) {
                std::copy(bits, bits + words_, columns_.data());
                std::copy(wanted, wanted + wanted_words_, wanted_columns_.data());
                walk_columns(item + 1, 1);
            }
        }
    }

    // The rows of some items are in column depth - 1.
    void walk_columns(int32_t first, int64_t depth) {
        control_.poll();
        work_ += (names_.size() - first) * words_;
        uint64_t* with = columns_.data() + (depth - 1) * words_;
        uint64_t* wanted = wanted_columns_.data() + (depth - 1) * wanted_words_;
        const bool last = depth + 1 == depth_;
        for (int32_t item = first; item < names_.size(); ++item) {
            const uint64_t* bits = bits_.data() + item * words_;
            const uint64_t* doubted = wanted_bits_.data() + item * wanted_words_;
            uint64_t* next_wanted = wanted + wanted_words_;
            if (last) {
                if (best_loops->and_count(wanted, doubted, nullptr, nullptr, wanted_words_) == 0) continue;
                const int64_t count = best_loops->and_count(with, bits, nullptr, nullptr, words_);
                if (count > 0 && count < k_) take_both(with, bits, depth);
                continue;
            }
            if (best_loops->and_store_count(wanted, doubted, nullptr, next_wanted, wanted_words_) == 0) continue;
            const int64_t count = best_loops->and_store_count(with, bits, nullptr, with + words_, words_);
            if (count >= k_) walk_columns(item + 1, depth + 1);
            else if (count > 0) take_both(with, bits, depth);
        }
    }

    void take_both(const uint64_t* a, const uint64_t* b, int64_t depth) {
        for (Index w = 0; w < words_; ++w)
            for (uint64_t both = a[w] & b[w]; both; both &= both - 1) {
                const Index n = 64 * w + std::countr_zero(both);
                take_away(rows_[n]);
                const uint64_t others = ~(uint64_t(1) << n % 64);
                for (int32_t item : row(rows_[n])) bits_[item * words_ + w] &= others;
                for (int64_t d = 0; d < depth; ++d) columns_[d * words_ + w] &= others;
            }
    }

    Control& control_;
    Vector<int64_t> offsets_;
    Vector<int32_t> items_;
    Vector<uint8_t> alive_;
    Vector<int32_t> local_, names_;
    List<int32_t> doubt_, rows_, gone_;
    int64_t left_ = 0, k_ = 0, size_ = 0, depth_ = 0, work_ = 0;
    std::vector<Level> levels_;
    Index words_ = 0, wanted_words_ = 0;
    Vector<uint64_t> bits_, wanted_bits_, columns_, wanted_columns_;
};

}  // namespace veilset::partial
