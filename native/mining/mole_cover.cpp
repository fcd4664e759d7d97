// Which items can be kept together, over a list of minimal moles: putting items back, and a local search for better
// sets. Every mole knows how many of its items are suppressed, so that a change costs no more than the moles of one
// item.
#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() { return mix(state_ += random_step); }
    Index below(Index bound) { return Index(next() % uint64_t(bound)); }
    double unit() { return double(next() >> 11) * 0x1p-53; }

private:
    uint64_t state_;
};

// An item that costs so many times its worth is seldom worth a try: only every so many steps, to get out of a dead end.
constexpr int64_t hopeless = 3, kick = 16;

class MoleCover {
public:
    MoleCover(Array<int64_t> offsets, Array<int32_t> items, Array<int64_t> weight, Array<uint8_t> keep,
              int64_t memory_limit)
        : offsets_(std::move(offsets)), items_(std::move(items)), weight_array_(std::move(weight)),
          keep_(std::move(keep)), control_(memory_limit, 1e9, nb::none()),
          moles_(offsets_, items_, int32_t(weight_array_.size())), weight_(weight_array_), of_item_(control_),
          gone_(control_), gone_items_(control_), blocked_(weight_.size(), 0), kept_(weight_.size(), 0),
          count_(weight_.size(), 0) {
        if (keep_.size() != weight_array_.size()) throw std::invalid_argument("one mark for each item, please");
        if (moles_.rows() >= int64_t(1) << 31) throw OutOfMemory();
        const Index count = moles_.rows();
        of_item_.fill(weight_.size(), [&](auto put) {
            for (Index m = 0; m < count; ++m)
                for (int32_t item : moles_.row(m)) put(item, int32_t(m));
        });
        gone_.resize(count);
        gone_items_.resize(count);
        List<bool> alone(weight_.size(), false);
        for (Index m = 0; m < count; ++m) {
            int32_t all = 0;
            const auto row = moles_.row(m);
            if (row.size() > 65535) throw std::invalid_argument("a mole of more than 65,535 items");
            for (int32_t item : row) all ^= item;
            gone_[m] = uint16_t(row.size());
            gone_items_[m] = all;
            if (row.size() == 1) {
                alone[all] = true;
                ++blocked_[all];
            }
        }
        for (Index i = 0; i < weight_.size(); ++i)
            if (!alone[i] && !of_item_[i].empty() && !keep_[i]) movable_.push_back(int32_t(i));
    }

    // Puts items back in this order, each unless a mole would be complete.
    void insert(View<int32_t> order) {
        for (int32_t item : order) {
            if (item < 0 || item >= weight_.size()) throw std::invalid_argument("item outside the vocabulary");
            if (!kept_[item] && blocked_[item] == 0) put_back(item);
        }
    }

    void clear() {
        for (Index i = 0; i < weight_.size(); ++i)
            if (kept_[i]) suppress(int32_t(i));
    }

    Output<uint8_t> kept() const { return to_numpy(List<uint8_t>(kept_.begin(), kept_.end())); }

    // Local search: forces one item in (what blocks it goes) or one out, fills up with whatever became free, and takes
    // it all back if less is kept than before. Ends after `patience` steps in a row that gained nothing, or when it has
    // looked at `work` moles: by the clock, the same question would have other answers. Where the time limit stops it,
    // it stops between two steps.
    void search(int64_t patience, int64_t work, uint64_t seed, int64_t memory_limit, double time_limit,
                nb::object progress) {
        Control control(memory_limit, time_limit, std::move(progress));
        control.single([&] {
            Random random(seed);
            control.begin(0, work);
            work_ = 0;
            for (int64_t done = 0, in_vain = 0; in_vain < patience && work_ < work && !movable_.empty(); ++done) {
                control.poll();
                control.begin(0, work, work_);
                const int32_t item = movable_[random.below(movable_.size())];
                log_.clear();
                freed_.clear();
                const int64_t most = done % kick == 0 ? INT64_MAX : hopeless * weight(item);
                const int64_t gained = kept_[item] ? take_out(item) : force_in(item, most, random);
                in_vain = gained > 0 ? 0 : in_vain + 1;
                if (gained >= 0) continue;
                for (Index i = log_.size(); i-- > 0;) kept_[log_[i]] ? suppress(log_[i]) : put_back(log_[i]);
            }
        });
    }

private:
    // What is gained (or, below 0, lost) by taking an item out and filling up without it; it returns last, if at all.
    int64_t take_out(int32_t item) {
        // At best, every item that only this one blocks comes in.
        int64_t at_best = -weight(item);
        freed_.clear();
        for (int32_t mole : moles_with(item)) {
            if (gone_[mole] != 1) continue;
            const int32_t other = gone_items_[mole];
            if (++count_[other] == blocked_[other]) at_best += weight(other);
            freed_.push_back(other);
        }
        for (int32_t other : freed_) count_[other] = 0;
        freed_.clear();
        if (at_best < 0) return 0;
        change_to(item, false);
        return fill(item) - weight(item);
    }

    // The same for putting an item in and, of every mole that would be complete, another item out.
    int64_t force_in(int32_t item, int64_t most, Random& random) {
        victims_.clear();
        int64_t price = 0;
        bool possible = true;
        for (int32_t mole : moles_with(item)) {
            if (gone_[mole] != 1) continue;
            const auto row = moles_.row(mole);
            if (std::any_of(row.begin(), row.end(), [&](int32_t other) { return count_[other] > 0; })) continue;
            int32_t victim = -1;
            double lowest = 0;
            for (int32_t other : row) {
                if (other == item || keep_[other]) continue;
                // The cheapest as a rule, now and then another.
                const double asked = double(weight(other)) * (0.5 + random.unit());
                if (victim < 0 || asked < lowest) {
                    victim = other;
                    lowest = asked;
                }
            }
            if (victim < 0 || (price += weight(victim)) > most) {
                possible = false;
                break;
            }
            count_[victim] = 1;
            victims_.push_back(victim);
        }
        for (int32_t victim : victims_) count_[victim] = 0;
        if (!possible) return 0;
        for (int32_t victim : victims_) change_to(victim, false);
        change_to(item, true);
        return weight(item) - price + fill(-1);
    }

    // Puts back what became free, what is worth most first; `last` only behind all others.
    int64_t fill(int32_t last) {
        List<int32_t> free = std::exchange(freed_, {});
        std::ranges::sort(free, {}, [&](int32_t item) { return std::pair(-weight(item), item); });
        int64_t gained = 0;
        auto offer = [&](int32_t item) {
            if (kept_[item] || blocked_[item] > 0) return;
            gained += weight(item);
            change_to(item, true);
        };
        for (int32_t item : free)
            if (item != last) offer(item);
        if (last >= 0) offer(last);
        return gained;
    }

    void change_to(int32_t item, bool keep) {
        keep ? put_back(item) : suppress(item);
        log_.push_back(item);
    }

    void put_back(int32_t item) {
        kept_[item] = 1;
        for (int32_t mole : moles_with(item)) {
            gone_items_[mole] ^= item;
            if (--gone_[mole] == 1) ++blocked_[gone_items_[mole]];
        }
    }

    void suppress(int32_t item) {
        kept_[item] = 0;
        for (int32_t mole : moles_with(item)) {
            if (gone_[mole]++ == 1) {
                const int32_t other = gone_items_[mole];
                if (--blocked_[other] == 0) freed_.push_back(other);
            }
            gone_items_[mole] ^= item;
        }
        freed_.push_back(item);
    }

    int64_t weight(int32_t item) const { return weight_[item]; }
    View<int32_t> moles_with(int32_t item) {
        const auto moles = of_item_[item];
        work_ += moles.size();
        return moles;
    }

    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<int64_t> weight_array_;
    Array<uint8_t> keep_;
    Control control_;
    Csr moles_;
    View<int64_t> weight_;
    Groups<int32_t> of_item_;     // item -> its moles
    Vector<uint16_t> gone_;       // mole -> how many of its items are suppressed
    Vector<int32_t> gone_items_;  // mole -> these items, joined by xor: the item itself where it is only one
    List<int32_t> blocked_;       // item -> the moles of which it is the only suppressed item
    List<uint8_t> kept_;
    int64_t work_ = 0;
    List<int32_t> count_, movable_, log_, freed_, victims_;
};

}  // namespace

void register_mining_mole_cover(nb::module_& m) {
    nb::class_<MoleCover>(m, "MoleCover")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<int64_t>, Array<uint8_t>, int64_t>(), "offsets"_a,
             "items"_a, "weight"_a, "keep"_a, nb::kw_only(), "memory_limit"_a)
        .def("insert", &MoleCover::insert, "order"_a)
        .def("clear", &MoleCover::clear)
        .def("kept", &MoleCover::kept)
        .def("search", &MoleCover::search, nb::kw_only(), "patience"_a, "work"_a, "seed"_a, "memory_limit"_a,
             "time_limit"_a, "progress"_a.none());
}

}  // namespace veilset
