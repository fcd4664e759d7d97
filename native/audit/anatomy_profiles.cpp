// In which columns the rows of buckets have something. Nobody's row is empty: where no column tells that by itself, it
// depends on these numbers what somebody who has nothing in some columns has in others.
#include <deque>

#include "audit/anatomy.hpp"

namespace veilset {
namespace {

// How many rows of a bucket have something in each column: its sequence is size, column, rows, column, rows, …, by
// column, without columns where nobody has anything. Only buckets without a column where everybody has something have
// one. Most buckets share theirs with others.
using Profiles = auditing::Sequences<int64_t, int64_t>;

// Counts holders, bucket by bucket.
class HolderReader {
public:
    HolderReader(const CutRows& rows, Control& control)
        : totals(rows.columns, 0, control), profiles(control), rows_(rows), control_(control), splitter_(rows, control),
          holders_(rows.columns, 0, control), touched_(control), profile_(control) {}

    // The number of its profile, or -1.
    int64_t read(int64_t bucket) {
        const int64_t size = rows_.size(bucket);
        for (int64_t r = rows_.starts[bucket]; r < rows_.starts[bucket + 1]; ++r) {
            control_.poll();
            splitter_.split(r);
            for (int32_t column : splitter_.columns())
                if (holders_[column]++ == 0) touched_.push_back(column);
        }
        std::ranges::sort(touched_);
        profile_.assign(1, size);
        bool anchored = false;
        for (int32_t column : touched_) {
            anchored |= holders_[column] == size;
            profile_.insert(profile_.end(), {column, holders_[column]});
            totals[column] += holders_[column];
            holders_[column] = 0;
        }
        touched_.clear();
        return anchored ? -1 : &profiles.add(0, profile_) - profiles.all().data();
    }

    Vector<int64_t> totals;  // rows with something in each column, over all buckets
    Profiles profiles;

private:
    const CutRows& rows_;
    Control& control_;
    Splitter splitter_;
    Vector<int64_t> holders_;
    Vector<int32_t> touched_;
    Vector<int64_t> profile_;
};

// Of each bucket the number of its profile; the profiles; and how many rows have something in each column.
nb::tuple anatomy_profiles(Control& control, View<int64_t> offsets, View<int32_t> items, View<int64_t> starts,
                           View<int32_t> column_of, int32_t columns, int threads) {
    if (columns < 0) throw std::invalid_argument("the number of columns is negative");
    const CutRows rows(offsets, items, starts, column_of, columns);
    std::deque<HolderReader> readers;
    Vector<std::pair<int32_t, int64_t>> found(rows.buckets(), {}, control);  // the reader, and its number
    for (int t = 0; t < rows.useful(threads); ++t) readers.emplace_back(rows, control);
    rows.each_bucket(control, 1, int(readers.size()),
                     [&](int64_t bucket, int worker) { found[bucket] = {worker, readers[worker].read(bucket)}; });
    List<int64_t> of(rows.buckets()), first{0}, sizes, holders, totals(columns);
    List<int32_t> touched;
    control.single([&] {
        Profiles all(control);
        for (Index bucket = 0; bucket < rows.buckets(); ++bucket) {  // numbered as they come: whatever the threads
            const auto [worker, number] = found[bucket];
            if ((of[bucket] = number) < 0) continue;
            const Profiles& its = readers[worker].profiles;
            of[bucket] = &all.add(0, its.of(its.all()[number])) - all.all().data();
        }
        for (const auto& entry : all.all()) {
            const auto profile = all.of(entry);
            sizes.push_back(profile[0]);
            for (Index at = 1; at < profile.size(); at += 2) {
                touched.push_back(int32_t(profile[at]));
                holders.push_back(profile[at + 1]);
            }
            first.push_back(holders.size());
        }
        for (const HolderReader& reader : readers)
            for (int32_t column = 0; column < columns; ++column) totals[column] += reader.totals[column];
    });
    return to_tuple(of, sizes, first, touched, holders, totals);
}

}  // namespace

void register_audit_anatomy_profiles(nb::module_& m) {
    def_kernel(m, "anatomy_profiles", anatomy_profiles, "offsets"_a, "items"_a, "starts"_a, "column_of"_a,
               nb::kw_only(), "columns"_a, "threads"_a);
}

}  // namespace veilset
