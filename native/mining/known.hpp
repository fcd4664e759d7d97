// What the search for minimal moles knows and finds.
#pragma once

#include <optional>

#include "mining/covers.hpp"
#include "mining/limits.hpp"
#include "mining/rows.hpp"

namespace veilset::mining {

// How sure one is of a sensitive item: `with` of `of` rows hold it.
struct Breach {
    int64_t with = 0, of = 1;
    int32_t item = none;

    // Ties go to the item that comes first; no item at all comes last.
    bool operator<(const Breach& other) const {
        const int64_t mine = with * other.of, theirs = other.with * of;
        return mine != theirs ? mine < theirs : uint32_t(item) > uint32_t(other.item);
    }
};

// Minimal moles in the codes of the vocabulary.
struct FoundMoles {
    Vector<int32_t> items, sizes, supports;
    Vector<Breach> breaches;  // none if there are no sensitive items
    explicit FoundMoles(Control& control) : items(control), sizes(control), supports(control), breaches(control) {}
};

// Instead of the moles, the items that occur in any mole, minimal or not. X + v is a mole for every v that shares a row
// with a minimal mole X of fewer than p items; so such a row gives all of its items.
struct Marks {
    List<uint8_t> items, rows;
};

struct MoleQuestion {
    Limits limits;
    bool absent;  // whether itemsets that no row holds are asked for too
};

// What all branches read: the rows of safe items, the safe pairs, and how sure each makes of what.
struct Known {
    const Rows& rows;
    MoleQuestion question;
    List<Breach> singles;                  // breach probability of each single item, the empty set included
    Vector<Vector<Extension>> extensions;  // item -> later items with which it is safe
    Vector<Vector<Breach>> breaches;       // for each of those the breach probability of the pair
    Covers covers;
    std::optional<Bitmaps> columns;  // of dense data: all items over all rows

    Known(const Rows& rows_, MoleQuestion question_, List<Breach> singles_, Control& control)
        : rows(rows_), question(question_), singles(std::move(singles_)),
          extensions(rows.walked(), Vector<Extension>(control), control),
          breaches(rows.walked(), Vector<Breach>(control), control), covers(rows, control), control_(control) {}

    // They are needed for itemsets of four and more, and only where the data is dense.
    void build_columns() {
        Vector<Extension> all(control_);
        int64_t entries = 0;
        for (Index i = 0; i < rows.items(); ++i) {
            all.push_back({int32_t(i), rows.support(int32_t(i))});
            entries += int64_t(rows.places(int32_t(i)).size());
        }
        // A bitmap costs rows/8 bytes an item, a list 4 bytes a row that holds it: they break even at a density of
        // 1/32.
        if (entries * 32 <= int64_t(rows.distinct()) * int64_t(rows.items())) return;
        Vector<Place> places(control_);
        for (int32_t r = 0; r < rows.distinct(); ++r) places.push_back({r, 0});
        columns = covers.as_bitmaps(places, all, {}, true, false);
    }
    Index publics() const { return rows.walked(); }
    bool has_sensitive() const { return rows.items() > rows.walked(); }

private:
    Control& control_;
};

}  // namespace veilset::mining
