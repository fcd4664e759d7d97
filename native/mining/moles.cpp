// Minimal moles and the items in moles: the search of mining/moles.hpp in steps, over threads, handed out in chunks.
#include "mining/moles.hpp"

#include <mutex>

#include "mining/found.hpp"

namespace veilset {
namespace {

using namespace mining;

// The whole search in steps: single items, then the pairs of each first item, then its branch.
class MoleSearch {
public:
    MoleSearch(Array<int64_t> offsets, Array<int32_t> items, Array<uint8_t> sensitive, Array<uint8_t> allowed,
               int64_t h_num, int64_t h_den, int64_t k, int64_t p, bool absent, bool mark, int threads,
               int64_t memory_limit, double time_limit, nb::object progress)
        : offsets_(offsets), items_(items), sensitive_(sensitive), allowed_(allowed),
          control_(memory_limit, time_limit, std::move(progress)), question_{{h_num, h_den, k, p}, absent},
          threads_(threads), found_(control_) {
        const Csr data(offsets_, items_, int32_t(sensitive_.size()));
        if (allowed_.size() != sensitive_.size()) throw std::invalid_argument("the masks differ in length");
        control_.single([&] { judge_singles(data, mark); });
    }

    // The next minimal moles, at least this many if there are so many left: offsets, items, supports and, if there are
    // sensitive items, the breach probability as two numbers and the item behind it.
    nb::tuple next(int64_t at_least) {
        control_.refund(std::exchange(handed_out_, 0));
        int64_t collected = int64_t(found_.empty() ? 0 : found_[0].sizes.size());
        while (collected < at_least && advance(at_least, collected)) {
        }
        return hand_out();
    }

    Output<uint8_t> items_in_moles() {
        int64_t collected = 0;
        while (advance(1, collected)) {
        }
        const Csr data(offsets_, items_, int32_t(sensitive_.size()));
        List<uint8_t> mask(sensitive_.size(), 0);
        control_.single([&] {
            for (const auto& worker : workers_) {
                if (!worker) continue;
                for (Index i = 0; i < known_->publics(); ++i)
                    if (worker->marks.items[i]) mask[rows_->code(int32_t(i))] = 1;
                for (int32_t r = 0; r < rows_->distinct(); ++r)
                    if (worker->marks.rows[r])
                        for (int32_t item : rows_->row(r))
                            if (item < known_->publics()) mask[rows_->code(item)] = 1;
            }
            for (int64_t r = 0; r < data.rows(); ++r) {
                bool in_mole = false;
                for (int32_t item : data.row(r))
                    if (unsafe_[item]) {
                        in_mole = true;
                        mask[item] = 1;
                    }
                if (!in_mole || !question_.limits.may_grow(1)) continue;
                for (int32_t item : data.row(r)) mask[item] |= allowed_[item] && !sensitive_[item];
            }
        });
        return to_numpy(std::move(mask));
    }

private:
    struct Worker {
        Marks marks;
        MoleBranches search;
        Worker(Known& known, bool mark, Control& control)
            : marks{List<uint8_t>(known.rows.items(), 0), List<uint8_t>(known.rows.distinct(), 0)},
              search(known, mark ? &marks : nullptr, control) {}
    };

    // Finds the moles of one item, and sets up the search among the others.
    void judge_singles(const Csr& data, bool mark) {
        mark_ = mark;
        const auto& limits = question_.limits;
        List<int64_t> support(sensitive_.size(), 0);
        for (int32_t item : data.items) ++support[item];
        List<uint8_t> safe(sensitive_.size(), 0), looked_at(sensitive_.size(), 0);
        Breach nothing;  // what one knows who knows nothing
        bool any = false;
        for (Index i = 0; i < support.size(); ++i) {
            safe[i] = allowed_[i] && !sensitive_[i] && support[i] > 0;
            looked_at[i] = sensitive_[i];
            if (looked_at[i] && support[i] > 0)
                nothing = std::max(nothing, Breach{support[i], data.rows(), int32_t(i)});
            any |= looked_at[i] && support[i] > 0;
        }
        unsafe_.assign(sensitive_.size(), 0);
        found_.emplace_back(control_);
        List<Breach> breaches(safe.size());
        auto judge = [&](int32_t code, const Breach& own) {
            breaches[code] = std::max(own, nothing);
            if (!limits.rare(support[code]) && !limits.breach(own.with, own.of)) return;
            safe[code] = 0;
            unsafe_[code] = 1;
            found_[0].items.push_back(code);
            found_[0].sizes.push_back(1);
            found_[0].supports.push_back(int32_t(support[code]));
            if (any) found_[0].breaches.push_back(breaches[code]);
        };
        // If the empty set is not safe, nothing else is minimal.
        const bool nothing_to_find = limits.rare(data.rows()) || limits.breach(nothing.with, nothing.of) ||
                                     (limits.allow_everything() && !question_.absent);
        if (nothing_to_find) {
            safe.assign(safe.size(), 0);
        } else if (any) {
            const Rows rows(data, safe, {}, 1, Rows::Order::rarest_first, control_, looked_at);
            Known known(rows, question_, {}, control_);
            MoleBranches branches(known, nullptr, control_);
            for (int32_t i : ordered_by(rows.walked(), [&](int32_t rank) { return rows.code(rank); }))
                judge(rows.code(i), branches.most_sensitive(rows.places(i), rows.support(i)));
        } else {
            for (Index i = 0; i < safe.size(); ++i)
                if (safe[i]) judge(int32_t(i), Breach{});
        }
        if (!any) looked_at.clear();
        rows_ = std::make_unique<Rows>(data, safe, none_given, 1, Rows::Order::rarest_first, control_, looked_at);
        List<Breach> singles;
        for (Index i = 0; i < rows_->walked(); ++i) singles.push_back(breaches[rows_->code(int32_t(i))]);
        known_ = std::make_unique<Known>(*rows_, question_, std::move(singles), control_);
        if (limits.may_grow(3)) known_->build_columns();
        threads_ = Control::useful(threads_, known_->publics());
        workers_.resize(threads_);
    }

    // Works on the steps of one stage until enough is collected or they are done; false if no stage is left.
    bool advance(int64_t at_least, int64_t& collected) {
        const int64_t steps = known_->publics();
        if (step_ == steps) {
            ++stage_;
            step_ = 0;
        }
        if (stage_ > 1 || steps == 0 || !question_.limits.may_grow(stage_ + 1)) return false;
        Vector<std::pair<int64_t, FoundMoles>> results(control_);  // of the steps that found something
        std::mutex mutex;
        control_.begin(stage_ + 1, steps + threads_, step_);
        control_.parallel(threads_, threads_, [&](int64_t, int number) {
            auto& worker = workers_[number];
            if (!worker) worker = std::make_unique<Worker>(*known_, mark_, control_);
            for (;;) {
                int64_t step;
                {
                    std::lock_guard lock(mutex);
                    if (collected >= at_least || step_ == steps) return;
                    step = step_++;
                }
                FoundMoles found(control_);
                if (stage_ == 0) worker->search.pairs(int32_t(step), found);
                else worker->search.branch(int32_t(step), found);
                control_.advance();
                if (found.sizes.empty()) continue;
                std::lock_guard lock(mutex);
                collected += found.sizes.size();
                results.emplace_back(step, std::move(found));
            }
        });
        std::sort(results.begin(), results.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto& [step, found] : results) found_.push_back(std::move(found));
        return true;
    }

    nb::tuple hand_out() {
        List<int64_t> offsets;
        List<int32_t> items, supports, sensitive, with, of;
        control_.single([&] {
            offsets = offsets_of(found_, &FoundMoles::sizes, control_);
            items = joined(found_, &FoundMoles::items, control_);
            supports = joined(found_, &FoundMoles::supports, control_);
            const Index breaches = known_->has_sensitive() ? supports.size() : 0;
            control_.charge(12 * breaches);
            handed_out_ = 8 * offsets.size() + 4 * items.size() + 4 * supports.size() + 12 * breaches;
            for (const FoundMoles& found : found_)
                for (const Breach& breach : found.breaches) {
                    with.push_back(int32_t(breach.with));
                    of.push_back(int32_t(breach.of));
                    sensitive.push_back(breach.item);
                }
            found_.clear();
        });
        return to_tuple(offsets, items, supports, with, of, sensitive);
    }

    Array<int64_t> offsets_;
    Array<int32_t> items_;
    Array<uint8_t> sensitive_, allowed_;
    Control control_;  // before all that is charged to it
    MoleQuestion question_;
    int threads_;
    bool mark_ = false;
    List<uint8_t> unsafe_;  // codes of single items that are moles
    std::unique_ptr<Rows> rows_;
    std::unique_ptr<Known> known_;
    List<std::unique_ptr<Worker>> workers_;
    Vector<FoundMoles> found_;
    int64_t stage_ = 0, step_ = 0, handed_out_ = 0;
};

}  // namespace

void register_mining_moles(nb::module_& m) {
    nb::class_<MoleSearch>(m, "MoleSearch")
        .def(nb::init<Array<int64_t>, Array<int32_t>, Array<uint8_t>, Array<uint8_t>, int64_t, int64_t, int64_t,
                      int64_t, bool, bool, int, int64_t, double, nb::object>(),
             "offsets"_a, "items"_a, "sensitive"_a, "allowed"_a, nb::kw_only(), "h_num"_a, "h_den"_a, "k"_a, "p"_a,
             "absent"_a, "mark"_a, "threads"_a, "memory_limit"_a, "time_limit"_a, "progress"_a.none())
        .def("next", &MoleSearch::next, "at_least"_a)
        .def("items_in_moles", &MoleSearch::items_in_moles);
}

}  // namespace veilset
