// Partial suppression: occurrences are put back in one or more orders, and then exchanged for others.
#include <chrono>

#include "partial/exchange.hpp"

namespace veilset {
namespace {

using namespace partial;

// What is asked of the rows.
struct Question {
    int64_t k, p, work;
    Certainty h;
    int32_t kinds;
};

template <class Rows>
void change(Kept& kept, View<int32_t> turns, View<int64_t> worth, const Question& asked, Rows rows, View<uint8_t> first,
            Control& control) {
    PutBack<Rows> back(kept, turns, asked.k, asked.p, std::move(rows), control);
    typename PutBack<Rows>::Log log;
    if (!first.empty()) {
        kept.open(first);
        back.run(log);
        kept.open({});
        back.try_all();
    }
    back.run(log);
    Exchange<Rows>(kept, back, worth, control).run(turns, asked.work);
}

// For each order in which items return: which occurrences are left, and the seconds. The items of `turns`, all in each
// order, are those that may go; the first `stay` of them stay everywhere. An order with a plan (not -1) starts with the
// occurrences that its plan, one of `plans`, keeps. `work` bounds the exchanges. `kind` says
// which sensitive thing an item is (-1: none); if there are any, h = h_num / h_den < 1 limits what is inferred of them,
// also in the original if it is to be `truthful`.
nb::list put_back(Control& control, View<int64_t> offsets, View<int32_t> items, int32_t vocabulary,
                  View<int64_t> turn_offsets, View<int32_t> turn_items, View<int32_t> plan, View<uint8_t> plans,
                  View<int64_t> worth, View<int32_t> kind, int32_t kinds, int64_t h_num, int64_t h_den, bool truthful,
                  int64_t stay, int64_t k, int64_t p, int64_t work, int threads) {
    const Csr data(offsets, items, vocabulary), orders(turn_offsets, turn_items, vocabulary);
    if (k < 1 || p < 0 || stay < 0 || work < 0) throw std::invalid_argument("k and p, please");
    if (kinds < 0 || h_num < 0 || h_den < 1 || (kinds > 0 && h_num >= h_den)) throw std::invalid_argument("h, please");
    if (kind.size() != vocabulary || std::ranges::any_of(kind, [&](int32_t one) { return one >= kinds; }))
        throw std::invalid_argument("a kind for each item, please");
    const Question asked{k, p, work, {h_num, h_den, truthful}, kinds};
    if (worth.size() != vocabulary) throw std::invalid_argument("a weight for each item, please");
    if (orders.rows() == 0) throw std::invalid_argument("no order");
    List<int64_t> support(vocabulary, 0);
    for (int32_t item : items) ++support[item];
    List<int32_t> by_rarest(orders.row(0).begin(), orders.row(0).end());
    std::ranges::sort(by_rarest, {}, [&](int32_t item) { return std::pair(support[item], item); });
    List<int32_t> rank(vocabulary, -1);
    List<int64_t> worths;
    for (Index r = 0; r < by_rarest.size(); ++r) {
        rank[by_rarest[r]] = int32_t(r);
        worths.push_back(worth[by_rarest[r]]);
    }
    for (Index o = 0; o < orders.rows(); ++o) {
        List<int32_t> sorted(orders.row(o).begin(), orders.row(o).end());
        std::ranges::sort(sorted, {}, [&](int32_t item) { return std::pair(support[item], item); });
        if (sorted != by_rarest || stay > sorted.size())
            throw std::invalid_argument("not the items of the first order");
    }
    if (plan.size() != orders.rows() ||
        std::ranges::any_of(plan, [&](int32_t one) { return (one + 1) * items.size() > plans.size(); }))
        throw std::invalid_argument("a plan for each order, please");
    List<List<uint8_t>> found(orders.rows());
    List<double> seconds(orders.rows());
    control.begin(0, orders.rows());
    control.parallel(threads, orders.rows(), [&](Index o, int) {
        const auto began = Control::Clock::now();
        Kept kept(data, by_rarest, kind, control);
        List<int32_t> turns;
        for (int32_t item : orders.row(o)) turns.push_back(rank[item]);
        for (int32_t item : View(turns).first(stay))
            for (const Holder& holder : kept.holders(item)) kept.keep(holder.place);
        const View<int32_t> others = View(turns).subspan(stay);
        const View<uint8_t> first = plan[o] < 0 ? View<uint8_t>() : plans.subspan(plan[o] * items.size(), items.size());
        if (kinds > 0) change(kept, others, worths, asked, Sure(asked.h, kinds, control), first, control);
        else change(kept, others, worths, asked, Thin(control), first, control);
        control.charge(items.size());
        found[o].assign(items.size(), 1);
        kept.write(found[o].data());
        seconds[o] = std::chrono::duration<double>(Control::Clock::now() - began).count();
    });
    nb::list answer;
    for (Index o = 0; o < orders.rows(); ++o) answer.append(nb::make_tuple(to_numpy(std::move(found[o])), seconds[o]));
    return answer;
}

}  // namespace

void register_partial_put_back(nb::module_& m) {
    def_kernel(m, "put_back", put_back, "offsets"_a, "items"_a, "vocabulary"_a, nb::kw_only(), "turn_offsets"_a,
               "turn_items"_a, "plan"_a, "plans"_a, "worth"_a, "kind"_a, "kinds"_a, "h_num"_a, "h_den"_a, "truthful"_a,
               "stay"_a, "k"_a, "p"_a, "work"_a, "threads"_a);
}

}  // namespace veilset
