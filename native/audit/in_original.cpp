// The second audit of a release from which single occurrences are gone: does what it promises of sensitive items hold
// in the original, too? Deleting occurrences can lower a confidence that, in truth, is too high.
//
// Row-driven: for every public itemset of up to p items that occurs in the release, the rows that hold it there and the
// rows that hold it in the original are handed down from item to item, and the sensitive things of the latter counted.
#include "audit/findings.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

using namespace auditing;

struct Position {
    int64_t row, next;
};

// Rows with their public items numbered from the rarest, items that do not occur in the release left out.
struct Rows {
    Groups<int32_t> items;
    explicit Rows(Control& control) : items(control) {}

    void add(View<int32_t> row, View<int32_t> number) {
        for (int32_t item : row)
            if (number[item] >= 0) items.values.push_back(number[item]);
        std::sort(items.values.begin() + items.first.back(), items.values.end());
        items.close();
    }
};

struct Told {
    int64_t broken = 0;
    WorstMoles worst;
};

class Comparison {
public:
    Comparison(const Rows& released, const Rows& original, const Groups<int32_t>& things, View<int32_t> code,
               int32_t kinds, Promise promise, int64_t least, Control& control)
        : released_(released), original_(original), things_(things), code_(code), promise_(promise), least_(least),
          control_(control), count_(kinds, 0) {}

    // All itemsets whose rarest item is this one.
    void branch(int32_t item, View<Position> released, View<Position> original, Told& told) {
        told_ = &told;
        known_.assign(1, item);
        walk(released, original);
    }

private:
    struct Depth {
        List<int32_t> number, items;
        List<int64_t> released_begin, original_begin;
        List<Position> released, original;
    };

    bool too_much(int64_t with, int64_t of) const {
        return __int128(with) * promise_.h_den > __int128(promise_.h_num) * of;
    }

    void walk(View<Position> released, View<Position> original) {
        control_.poll();
        met_.clear();
        for (const Position& at : original)
            for (int32_t thing : things_[at.row])
                if (count_[thing]++ == 0) met_.push_back(thing);
        int64_t most = 0;
        int32_t worst = none;
        for (int32_t thing : met_)
            if (count_[thing] > most || (count_[thing] == most && thing < worst)) most = count_[thing], worst = thing;
        for (int32_t thing : met_) count_[thing] = 0;
        if (too_much(most, original.size())) {
            ++told_->broken;
            if (told_->worst.wants(original.size(), worst, most, known_.size())) {
                List<int32_t> codes;
                for (int32_t item : known_) codes.push_back(code_[item]);
                std::ranges::sort(codes);
                told_->worst.add(codes, original.size(), worst, most);
            }
        }
        // A larger itemset of the release is in `least_` rows of the original, too.
        if ((promise_.p == 0 || known_.size() < promise_.p) && too_much(most, least_)) deeper(released, original);
    }

    void deeper(View<Position> released, View<Position> original) {
        const Index depth = known_.size() - 1;
        while (depths_.size() <= depth) depths_.push_back(std::make_unique<Depth>());
        Depth& at = *depths_[depth];
        at.number.assign(code_.size(), -1);
        at.items.clear();
        for (const Position& one : released)
            for (int64_t i = one.next; i < released_.items.first[one.row + 1]; ++i)
                if (const int32_t item = released_.items.values[i]; at.number[item] < 0)
                    at.number[item] = 0, at.items.push_back(item);
        std::ranges::sort(at.items);
        for (Index n = 0; n < at.items.size(); ++n) at.number[at.items[n]] = int32_t(n);
        const auto place = [&](View<Position> rows, const Rows& of, List<int64_t>& begin, List<Position>& positions) {
            begin.assign(at.items.size() + 1, 0);
            group(begin, positions, [&](auto put) {
                for (const Position& one : rows)
                    for (int64_t i = one.next; i < of.items.first[one.row + 1]; ++i)
                        if (const int32_t n = at.number[of.items.values[i]]; n >= 0) put(n, Position{one.row, i + 1});
            });
        };
        place(released, released_, at.released_begin, at.released);
        place(original, original_, at.original_begin, at.original);
        for (Index n = 0; n < at.items.size(); ++n) {
            known_.push_back(at.items[n]);
            walk(part(at.released, at.released_begin, n), part(at.original, at.original_begin, n));
            known_.pop_back();
        }
    }

    const Rows& released_;
    const Rows& original_;
    const Groups<int32_t>& things_;
    View<int32_t> code_;
    Promise promise_;
    int64_t least_;
    Control& control_;
    List<int64_t> count_;
    List<int32_t> met_, known_;
    List<std::unique_ptr<Depth>> depths_;
    Told* told_ = nullptr;
};

// How many public itemsets of the release give away too much in the original, and the worst of them. Both have the same
// vocabulary; `kind` says of each item which sensitive thing it is (-1: none). Every itemset of the release is in
// `least` rows there. p = 0: of any size.
nb::dict in_original(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> released_offsets,
                     View<int32_t> released_items, View<int32_t> kind, int32_t kinds, int64_t h_num, int64_t h_den,
                     int64_t p, int64_t least, int64_t witness_limit, int threads) {
    const auto vocabulary = int32_t(kind.size());
    const Csr data(offsets, items, vocabulary), release(released_offsets, released_items, vocabulary);
    if (h_num < 0 || h_den < 1 || p < 0 || least < 1) throw std::invalid_argument("h, p and the least support, please");
    if (std::ranges::any_of(kind, [&](int32_t one) { return one < none || one >= kinds; }))
        throw std::invalid_argument("no such sensitive thing");
    List<int64_t> support(vocabulary, 0);
    List<int32_t> code, number(vocabulary, none);
    Rows released(control), original(control);
    Groups<int32_t> things(control);
    Groups<Position> released_at(control), original_at(control);
    control.begin(1, 1);
    control.single([&] {
        for (int32_t item : release.items) support[item] += kind[item] == none;
        for (int32_t item = 0; item < vocabulary; ++item)
            if (support[item] > 0) code.push_back(item);
        std::ranges::stable_sort(code, {}, [&](int32_t item) { return support[item]; });
        for (Index n = 0; n < code.size(); ++n) number[code[n]] = int32_t(n);
        for (Index r = 0; r < release.rows(); ++r) released.add(release.row(r), number);
        List<int32_t> there;
        for (Index r = 0; r < data.rows(); ++r) {
            if (r % 4096 == 0) control.poll();
            original.add(data.row(r), number);
            there.clear();
            for (int32_t item : data.row(r))
                if (kind[item] != none) there.push_back(kind[item]);
            std::ranges::sort(there);
            const auto [twice, end] = std::ranges::unique(there);
            things.values.insert(things.values.end(), there.begin(), twice);
            things.close();
        }
        const auto index = [&](const Rows& rows, Groups<Position>& at) {
            at.fill(code.size(), [&](auto put) {
                for (Index r = 0; r < rows.items.size(); ++r)
                    for (int64_t i = rows.items.first[r]; i < rows.items.first[r + 1]; ++i)
                        put(rows.items.values[i], Position{r, i + 1});
            });
        };
        index(released, released_at);
        index(original, original_at);
    });
    const Promise promise{h_num, h_den, least, p};
    std::vector<Comparison> workers;
    for (int t = 0; t < Control::useful(threads, code.size()); ++t)
        workers.emplace_back(released, original, things, code, kinds, promise, least, control);
    std::vector<Told> told;
    for (Index n = 0; n < code.size(); ++n) told.push_back({0, {promise, witness_limit, control}});
    control.begin(2, code.size());
    control.parallel(threads, code.size(), [&](Index n, int worker) {
        workers[worker].branch(int32_t(n), released_at[n], original_at[n], told[n]);
    });
    int64_t broken = 0;
    WorstMoles worst(promise, witness_limit, control);
    for (Told& one : told) {
        broken += one.broken;
        worst.merge(std::move(one.worst));
    }
    nb::dict answer;
    Witnesses witnesses;
    for (const Mole& m : worst.sorted()) witnesses.add(m.items, m.support, m.sensitive, m.with);
    witnesses.put_into(answer);
    answer["broken"] = broken;
    return answer;
}

}  // namespace

void register_audit_in_original(nb::module_& m) {
    def_kernel(m, "in_original", in_original, "offsets"_a, "items"_a, "released_offsets"_a, "released_items"_a,
               "kind"_a, nb::kw_only(), "kinds"_a, "h_num"_a, "h_den"_a, "p"_a, "least"_a, "witness_limit"_a,
               "threads"_a);
}

}  // namespace veilset
