// The second audit of a release for ρ-uncertainty from which single occurrences are gone: which of its sensitive rules
// have a confidence of ρ or more in the original?
//
// Row-driven: a rule χ -> α occurs in the release if a row holds χ and α there. Every χ of such rows is looked at, with
// the rows that hold it in the release and in the original; all parts of these rows are, so they should be short.
#include "audit/worst.hpp"
#include "core/csr.hpp"

namespace veilset {
namespace {

using namespace auditing;

struct Position {
    int64_t row, next;
};

struct Untrue {
    List<int32_t> known;
    int32_t sensitive;
    int64_t support, with;
};

// Surer first, then more often, then by less, then in the order of the vocabulary.
struct MoreCertain {
    bool operator()(const Untrue& a, const Untrue& b) const {
        const __int128 left = __int128(a.with) * b.support, right = __int128(b.with) * a.support;
        if (left != right) return left > right;
        if (a.with != b.with) return a.with > b.with;
        if (a.known.size() != b.known.size()) return a.known.size() < b.known.size();
        return std::tie(a.known, a.sensitive) < std::tie(b.known, b.sensitive);
    }
};

class Comparison {
public:
    Comparison(const Csr& original, const Csr& released, View<uint8_t> sensitive, int64_t num, int64_t den,
               Index witness_limit, Control& control)
        : original_(original), released_(released), sensitive_(sensitive), num_(num), den_(den), control_(control),
          worst(witness_limit, {}, control), count_(sensitive.size(), 0), there_(sensitive.size(), 0) {}

    void run() {
        List<Position> released, original;
        for (Index r = 0; r < released_.rows(); ++r)
            if (std::ranges::any_of(released_.row(r), [&](int32_t item) { return sensitive_[item] != 0; }))
                released.push_back({r, released_.offsets[r]});
        for (Index r = 0; r < original_.rows(); ++r) original.push_back({r, original_.offsets[r]});
        walk(View(released), View(original));
    }

private:
    struct Depth {
        List<int32_t> number, items, inferred;
        List<int64_t> released_begin, original_begin;
        List<Position> released, original;
    };

    void walk(View<Position> released, View<Position> original) {
        control_.poll();
        const Index depth = known_.size();
        while (depths_.size() <= depth) depths_.push_back(std::make_unique<Depth>());
        Depth& at = *depths_[depth];
        judge(at, released, original);
        if (at.inferred.empty()) return;  // whoever knows more of these rows infers nothing else
        at.number.resize(sensitive_.size(), none);
        at.items.clear();
        for (const Position& one : released)
            for (int64_t i = one.next; i < released_.offsets[one.row + 1]; ++i)
                if (const int32_t item = released_.items[i]; at.number[item] == none)
                    at.number[item] = int32_t(at.items.size()), at.items.push_back(item);
        const auto place = [&](View<Position> rows, const Csr& of, List<int64_t>& begin, List<Position>& positions) {
            begin.assign(at.items.size() + 1, 0);
            group(begin, positions, [&](auto put) {
                for (const Position& one : rows)
                    for (int64_t i = one.next; i < of.offsets[one.row + 1]; ++i)
                        if (const int32_t n = at.number[of.items[i]]; n != none) put(n, Position{one.row, i + 1});
            });
        };
        place(released, released_, at.released_begin, at.released);
        place(original, original_, at.original_begin, at.original);
        for (int32_t item : at.items) at.number[item] = none;
        for (Index n = 0; n < at.items.size(); ++n) {
            known_.push_back(at.items[n]);
            walk(part(at.released, at.released_begin, n), part(at.original, at.original_begin, n));
            known_.pop_back();
        }
    }

    // What is inferred from the known items in the rows of the release, as counted in those of the original.
    void judge(Depth& at, View<Position> released, View<Position> original) {
        at.inferred.clear();
        for (const Position& one : released)
            for (int32_t item : released_.row(one.row))
                if (sensitive_[item] && !there_[item]) there_[item] = 1, at.inferred.push_back(item);
        for (int32_t item : at.inferred) there_[item] = 0;
        std::erase_if(at.inferred, [&](int32_t item) { return std::ranges::find(known_, item) != known_.end(); });
        for (int32_t item : at.inferred) there_[item] = 1;
        for (const Position& one : original)
            for (int32_t item : original_.row(one.row)) count_[item] += there_[item];
        for (int32_t item : at.inferred) {
            there_[item] = 0;
            const int64_t with = std::exchange(count_[item], 0);
            if (__int128(with) * den_ < __int128(num_) * original.size()) continue;
            ++broken;
            worst.add({known_, item, original.size(), with});
        }
    }

    const Csr& original_;
    const Csr& released_;
    View<uint8_t> sensitive_;
    int64_t num_, den_;
    Control& control_;

public:
    int64_t broken = 0;
    Worst<Untrue, MoreCertain> worst;

private:
    static constexpr int32_t none = -1;
    List<int64_t> count_;
    List<uint8_t> there_;
    List<int32_t> known_;
    List<std::unique_ptr<Depth>> depths_;
};

// How many sensitive rules of the release are as sure as ρ in the original, and the surest of them.
nb::dict rho_in_original(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> released_offsets,
                         View<int32_t> released_items, View<uint8_t> sensitive, int64_t rho_num, int64_t rho_den,
                         int64_t witness_limit) {
    const auto vocabulary = int32_t(sensitive.size());
    const Csr data(offsets, items, vocabulary), release(released_offsets, released_items, vocabulary);
    if (rho_num < 1 || rho_den < 1) throw std::invalid_argument("rho, please");
    Comparison comparison(data, release, sensitive, rho_num, rho_den, witness_limit, control);
    control.begin(1, 1);
    control.single([&] { comparison.run(); });
    List<int64_t> witness_offsets(1, 0), support, with;
    List<int32_t> known, inferred;
    for (const Untrue& one : comparison.worst.sorted()) {
        List<int32_t> codes(one.known);
        std::ranges::sort(codes);
        known.insert(known.end(), codes.begin(), codes.end());
        witness_offsets.push_back(known.size());
        support.push_back(one.support);
        with.push_back(one.with);
        inferred.push_back(one.sensitive);
    }
    nb::dict answer;
    answer["broken"] = comparison.broken;
    answer["witness_offsets"] = to_numpy(std::move(witness_offsets));
    answer["witness_items"] = to_numpy(std::move(known));
    answer["witness_support"] = to_numpy(std::move(support));
    answer["witness_sensitive"] = to_numpy(std::move(inferred));
    answer["witness_with"] = to_numpy(std::move(with));
    return answer;
}

}  // namespace

void register_audit_rho_in_original(nb::module_& m) {
    def_kernel(m, "rho_in_original", rho_in_original, "offsets"_a, "items"_a, "released_offsets"_a, "released_items"_a,
               "sensitive"_a, nb::kw_only(), "rho_num"_a, "rho_den"_a, "witness_limit"_a);
}

}  // namespace veilset
