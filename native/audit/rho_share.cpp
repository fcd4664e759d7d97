// A share of the auditor of ρ-uncertainty: some sensitive items, for data that no machine holds as a whole. For the
// auditor of coherence with any number of known items, they are things: nobody knows them.
//
// What is found about a sensitive item is a function of the supports of all items and of what transactions hold of the
// items that share a transaction with it (audit/rho_rows.hpp). So it is the same wherever it is looked at, if the rows
// of a share tell that much. src/veilset/audit/rho_spread.py deals them out and puts the answers together as
// audit/inferences.hpp does.
#include "audit/inferences.hpp"

namespace veilset {
namespace {

using namespace auditing;

class RhoShare {
public:
    RhoShare(const Csr& data, View<int64_t> weights, View<int32_t> thing, View<int64_t> supports, int64_t transactions,
             Threshold limit, Control& control)
        : rows_(data, thing, things(thing), control, weights), inferences_(rows_, limit, 0, control) {
        control.single([&] { rows_.count_as(supports, transactions); });
    }

    void ask(View<int32_t> codes) {
        asked_ = codes;
        for (int32_t code : codes) inferences_.ask(rows_.number_of(code));
    }
    void decide(int threads) {
        inferences_.decide(threads);
        steps_ = inferences_.steps().first;
    }
    void find_surer(const Rule& than, int64_t left, int threads) {
        steps_ = inferences_.find_surer(0, inferences_.findings().size(), than, left, threads);
    }

    // A rule about the only one that is asked about, as sure and short.
    void shorten(View<int32_t> antecedent, int64_t together, int64_t support) {
        Rule& rule = inferences_.findings().front().rule;
        rule = {together, support - together, {}};
        for (int32_t code : antecedent) rule.items.push_back(rows_.number_of(code));
        std::ranges::sort(rule.items);
        rule = inferences_.surest_in_short();
    }

    nb::dict result() {
        nb::dict out;
        Witnesses rules;
        List<uint8_t> broken;
        for (Index i = 0; i < asked_.size(); ++i) {
            Finding& finding = inferences_.findings()[i];
            rows_.name(finding.rule.items);
            rules.add(finding.rule.items, finding.rule.support(), asked_[i], finding.rule.with);
            broken.push_back(finding.broken);
        }
        rules.put_into(out);
        out["broken"] = to_numpy(std::move(broken));
        out["checked"] = inferences_.checked();
        out["steps"] = steps_;
        return out;
    }

private:
    static int32_t things(View<int32_t> thing) {
        int32_t most = none;
        for (int32_t which : thing) most = std::max(most, which);
        return most + 1;
    }

    MergedRows rows_;
    Inferences inferences_;
    View<int32_t> asked_;
    int64_t steps_ = 0;
};

void check(const Csr& data, View<int64_t> weights, View<int32_t> thing, View<int64_t> supports, View<int32_t> asked,
           int64_t transactions) {
    if (weights.size() != data.rows()) throw std::invalid_argument("not one weight for each row");
    if (thing.size() != supports.size()) throw std::invalid_argument("not one thing or none for each item");
    for (int32_t which : thing)
        if (which < none || which >= thing.size()) throw std::invalid_argument("there is no such thing");
    for (int32_t code : asked)
        if (code < 0 || code >= supports.size() || supports[code] == 0)
            throw std::invalid_argument("an item that is asked about is in no transaction");
    if (std::accumulate(weights.begin(), weights.end(), int64_t(0)) > transactions)
        throw std::invalid_argument("a share has more rows than there are transactions");
    for (Index r = 0; r < data.rows(); ++r)
        if (std::ranges::adjacent_find(data.row(r), std::ranges::greater_equal()) != data.row(r).end())
            throw std::invalid_argument("the items of a row do not ascend");
}

// Whether each can be inferred, and the rules that show it, or the surest met; strict: a share of rho itself is
// allowed.
nb::dict rho_share(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                   View<int32_t> thing, View<int64_t> supports, View<int32_t> asked, int64_t transactions,
                   int64_t rho_num, int64_t rho_den, bool strict, int threads) {
    const Csr data(offsets, items, int32_t(supports.size()));
    check(data, weights, thing, supports, asked, transactions);
    RhoShare share(data, weights, thing, supports, transactions, {rho_num, rho_den, strict}, control);
    share.ask(asked);
    share.decide(threads);
    return share.result();
}

// The rules that are surer than the share `together` of `support`, if there are any; `steps` may exceed those that are
// `left`, and then the rest says nothing.
nb::dict rho_share_surer(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                         View<int32_t> thing, View<int64_t> supports, View<int32_t> asked, int64_t transactions,
                         int64_t together, int64_t support, int64_t left, int threads) {
    const Csr data(offsets, items, int32_t(supports.size()));
    check(data, weights, thing, supports, asked, transactions);
    RhoShare share(data, weights, thing, supports, transactions, {1, 1, true}, control);
    share.ask(asked);
    share.find_surer({together, support - together, {}}, left, threads);
    return share.result();
}

// A rule as sure as that of this antecedent, and short.
nb::dict rho_share_shorter(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> weights,
                           View<int32_t> thing, View<int64_t> supports, View<int32_t> asked, View<int32_t> antecedent,
                           int64_t transactions, int64_t together, int64_t support) {
    const Csr data(offsets, items, int32_t(supports.size()));
    check(data, weights, thing, supports, asked, transactions);
    if (asked.size() != 1) throw std::invalid_argument("not one rule");
    for (int32_t code : antecedent)
        if (code < 0 || code >= thing.size() || thing[code] != none)
            throw std::invalid_argument("an item of the antecedent cannot be known");
    RhoShare share(data, weights, thing, supports, transactions, {1, 1, true}, control);
    share.ask(asked);
    share.shorten(antecedent, together, support);
    return share.result();
}

}  // namespace

void register_audit_rho_share(nb::module_& m) {
    def_kernel(m, "rho_share", rho_share, "offsets"_a, "items"_a, "weights"_a, "thing"_a, "supports"_a, "asked"_a,
               nb::kw_only(), "transactions"_a, "rho_num"_a, "rho_den"_a, "strict"_a, "threads"_a);
    def_kernel(m, "rho_share_surer", rho_share_surer, "offsets"_a, "items"_a, "weights"_a, "thing"_a, "supports"_a,
               "asked"_a, nb::kw_only(), "transactions"_a, "together"_a, "support"_a, "left"_a, "threads"_a);
    def_kernel(m, "rho_share_shorter", rho_share_shorter, "offsets"_a, "items"_a, "weights"_a, "thing"_a, "supports"_a,
               "asked"_a, "antecedent"_a, nb::kw_only(), "transactions"_a, "together"_a, "support"_a);
}

}  // namespace veilset
