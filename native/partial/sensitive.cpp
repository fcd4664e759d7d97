// Partial suppression for ρ-uncertainty: all public occurrences stay, and sensitive ones are put back, row by row,
// where every rule inside the row stays below ρ.
//
// Short rows come first, in passes until nothing changes.
//
// An occurrence of α in a row that holds S adds one to the support of χα for every χ within S. So only rules χ -> α and
// χα -> β with χ, β within S can become surer, and looking at all parts of S decides. Supports are kept in a table of
// all parts of short rows; in a row that is too long for it, no sensitive item comes back. If it is to be truthful, the
// supports in the original have to keep every such rule below ρ, too.

#include "core/csr.hpp"
#include "core/random.hpp"

namespace veilset {
namespace {

struct Supports {
    int32_t before = 0;  // in the original
    int32_t now = 0;     // in the release
};

struct Rho {
    int64_t num, den;
    bool reached(int64_t with, int64_t of) const { return with * den >= num * of; }
};

// The hash of a set is the sum of those of its items. Two sets with the same hash would be counted together; an auditor
// looks at the result.
inline uint64_t stirred(int32_t item) { return mix(uint64_t(item) * random_step + random_step); }

// Supports by hash, with open addressing; 0 is the empty set, which has a place of its own.
class Table {
public:
    explicit Table(Control& control) : slots_(1024, {0, {}}, control) {}

    Supports& at(uint64_t hash) {
        if (hash == 0) return nothing_;
        return slots_[place(hash)].supports;
    }
    void add(uint64_t hash, Supports supports) {
        if (hash != 0 && 2 * ++used_ > slots_.size()) grow();
        const bool known = hash != 0;
        if (known) slots_[place(hash)].hash = hash;
        at(hash) = supports;
    }

private:
    struct Slot {
        uint64_t hash;
        Supports supports;
    };

    Index place(uint64_t hash) const {
        const Index mask = slots_.size() - 1;
        Index at = Index(mix(hash)) & mask;
        while (slots_[at].hash != 0 && slots_[at].hash != hash) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        Vector<Slot> old(2 * slots_.size(), {0, {}}, slots_.get_allocator());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.hash != 0) slots_[place(slot.hash)] = slot;
    }

    Vector<Slot> slots_;
    Supports nothing_;
    Index used_ = 0;
};

class Returning {
public:
    Returning(const Csr& data, View<uint8_t> returns, View<int64_t> worth, Rho rho, bool truthful, int64_t most_parts,
              Control& control)
        : data_(data), returns_(returns), worth_(worth), rho_(rho), truthful_(truthful), control_(control),
          table_(control) {
        by_length_ = ordered_by(data.rows(), [&](int32_t r) { return data.row(r).size(); });
        for (int32_t r : by_length_) {
            const Index length = data.row(r).size();
            if (length >= longest || parts_ + (int64_t(1) << length) > most_parts) break;
            parts_ += int64_t(1) << length;
            ++short_;
        }
    }

    List<uint8_t> run() {
        count();
        kept_.assign(data_.items.size(), 1);
        for (Index at = 0; at < kept_.size(); ++at) kept_[at] = !returns_[data_.items[at]];
        for (int64_t back = 1; back > 0;) {
            back = 0;
            for (Index n = 0; n < short_; ++n) {
                control_.poll();
                back += put_back(by_length_[n]);
            }
        }
        return std::move(kept_);
    }

private:
    static constexpr Index longest = 24;

    struct Position {
        int32_t row;
        int64_t next;
    };

    // All parts of short rows, with the rows that hold them: depth first, over the items in their order.
    void count() {
        List<Position> rows;
        List<uint8_t> is_short(data_.rows(), 0);
        for (Index n = 0; n < short_; ++n) is_short[by_length_[n]] = 1;
        for (Index r = 0; r < data_.rows(); ++r) rows.push_back({int32_t(r), data_.offsets[r]});
        is_short_ = std::move(is_short);
        walk(View(rows), 0, 0, false);
    }

    void walk(View<Position> rows, int64_t depth, uint64_t hash, bool returns) {
        control_.poll();
        table_.add(hash, {int32_t(rows.size()), returns ? 0 : int32_t(rows.size())});
        while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
        Level& at = *levels_[depth];
        at.number.resize(data_.vocabulary, -1);
        at.items.clear();
        for (const Position& one : rows)
            if (is_short_[one.row])
                for (int64_t i = one.next; i < data_.offsets[one.row + 1]; ++i)
                    if (at.number[data_.items[i]] < 0)
                        at.number[data_.items[i]] = 0, at.items.push_back(data_.items[i]);
        if (at.items.empty()) return;
        for (Index n = 0; n < at.items.size(); ++n) at.number[at.items[n]] = int32_t(n);
        at.begin.assign(at.items.size() + 1, 0);
        group(at.begin, at.rows, [&](auto put) {
            for (const Position& one : rows)
                for (int64_t i = one.next; i < data_.offsets[one.row + 1]; ++i)
                    if (const int32_t n = at.number[data_.items[i]]; n >= 0) put(n, Position{one.row, i + 1});
        });
        for (int32_t item : at.items) at.number[item] = -1;
        for (Index n = 0; n < at.items.size(); ++n) {
            const int32_t item = at.items[n];
            walk(part(at.rows, at.begin, n), depth + 1, hash + stirred(item), returns || returns_[item]);
        }
    }

    // The sensitive items of one row, those that are worth most first, then the most frequent; how many came
    // back.
    int64_t put_back(int32_t row) {
        List<int64_t> held;  // the sensitive items that the row has
        int64_t back = 0;
        List<int64_t> waiting;
        parts_of_row_.assign(1, {0, &table_.at(0)});
        for (int64_t at = data_.offsets[row]; at < data_.offsets[row + 1]; ++at) {
            const int32_t item = data_.items[at];
            if (!returns_[item]) extend(stirred(item));
            else if (!kept_[at]) waiting.push_back(at);
        }
        for (int64_t at = data_.offsets[row]; at < data_.offsets[row + 1]; ++at)
            if (returns_[data_.items[at]] && kept_[at]) {
                extend(stirred(data_.items[at]));
                held.push_back(data_.items[at]);
            }
        std::ranges::sort(waiting, {}, [&](int64_t at) {
            return std::tuple(-worth_[data_.items[at]], -table_.at(stirred(data_.items[at])).before, at);
        });
        for (int64_t at : waiting) {
            const int32_t item = data_.items[at];
            if (!may_return(stirred(item), held)) continue;
            for (const Part& one : parts_of_row_) ++table_.at(one.hash + stirred(item)).now;
            extend(stirred(item));
            held.push_back(item);
            kept_[at] = 1;
            ++back;
        }
        return back;
    }

    struct Part {
        uint64_t hash;
        Supports* supports;
    };
    void extend(uint64_t item) {
        const Index before = parts_of_row_.size();
        for (Index n = 0; n < before; ++n) {
            const uint64_t hash = parts_of_row_[n].hash + item;
            parts_of_row_.push_back({hash, &table_.at(hash)});
        }
    }

    bool may_return(uint64_t alpha, const List<int64_t>& held) {
        for (const Part& one : std::views::reverse(parts_of_row_)) {  // the largest, which few rows hold, first
            const Supports& with = table_.at(one.hash + alpha);
            if (rho_.reached(with.now + 1, one.supports->now)) return false;
            if (truthful_ && rho_.reached(with.before, one.supports->before)) return false;
        }
        // Part number n holds the last of the held items if the highest bits of n say so: they were added in this
        // order.
        const Index base = parts_of_row_.size() >> held.size();
        for (Index h = 0; h < held.size(); ++h) {
            const Index bit = base << h;
            for (Index n = 0; n < parts_of_row_.size(); ++n) {
                if (!(n & bit)) continue;
                const Supports& both = table_.at(parts_of_row_[n].hash + alpha);
                const Supports& known = table_.at(parts_of_row_[n - bit].hash + alpha);
                if (rho_.reached(both.now + 1, known.now + 1)) return false;
                if (truthful_ && rho_.reached(both.before, known.before)) return false;
            }
        }
        return true;
    }

    struct Level {
        List<int32_t> number, items;
        List<int64_t> begin;
        List<Position> rows;
    };

    const Csr& data_;
    View<uint8_t> returns_;
    View<int64_t> worth_;
    Rho rho_;
    bool truthful_;
    Control& control_;
    List<int32_t> by_length_;
    int64_t parts_ = 0;
    Index short_ = 0;
    List<uint8_t> is_short_, kept_;
    Table table_;
    List<std::unique_ptr<Level>> levels_;
    List<Part> parts_of_row_;
};

// Which occurrences are left. `returns`: the sensitive items that go first and may return; `most_parts`: how many parts
// of rows may be looked at.
Output<uint8_t> put_sensitive_back(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                                   View<uint8_t> returns, View<int64_t> worth, int64_t rho_num, int64_t rho_den,
                                   bool truthful, int64_t most_parts) {
    const Csr data(offsets, items, vocabulary);
    if (returns.size() != vocabulary || worth.size() != vocabulary)
        throw std::invalid_argument("a mark and a weight for each item, please");
    if (data.rows() > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("too many rows");
    control.begin(0, 1);
    return to_numpy(control.single(
        [&] { return Returning(data, returns, worth, {rho_num, rho_den}, truthful, most_parts, control).run(); }));
}

}  // namespace

void register_partial_sensitive(nb::module_& m) {
    def_kernel(m, "put_sensitive_back", put_sensitive_back, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(),
               "returns"_a, "worth"_a, "rho_num"_a, "rho_den"_a, "truthful"_a, "most_parts"_a);
}

}  // namespace veilset
