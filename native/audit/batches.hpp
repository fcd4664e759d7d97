// The branches of an audit, batch after batch, so that it keeps to a memory limit. What a branch finds does not depend
// on its batch.
#pragma once

#include "audit/rows.hpp"
#include "audit/work.hpp"

namespace veilset::auditing {

class Batches {
public:
    // batch_limit in bytes; 0: as the memory allows.
    Batches(Rows& rows, Work& work, int64_t batch_limit, int threads, Control& control)
        : rows_(rows), work_(work), batch_limit_(batch_limit), threads_(threads), control_(control) {}

    // body(branch, reader) for the branches from `first` on, with a reader for each thread. If a batch turns out to be
    // too large, forget(branch) is called for all that it has, and it is taken in smaller ones.
    template <class MakeReader, class Body, class Forget>
    void each(int64_t stage, int64_t first, bool with_later, MakeReader make_reader, Body body, Forget forget) {
        const int64_t branches = rows_.end();
        while (first < branches) {
            const int64_t work_left = work_.left;
            try {
                control_.begin(stage, branches, first);
                if (!rows_.all_from(first)) control_.single([&] { load(first, with_later); });
                const int64_t count = rows_.last() - first;
                List<decltype(make_reader())> readers;
                readers.reserve(Control::useful(threads_, count));
                for (int t = 0; t < Control::useful(threads_, count); ++t) readers.push_back(make_reader());
                control_.begin(stage, branches, first);
                control_.parallel(threads_, count,
                                  [&](int64_t index, int worker) { body(first + index, readers[worker]); });
                first = rows_.last();
            } catch (const OutOfMemory&) {
                if (!smaller_ones_help(first)) throw;
                batch_limit_ = std::max<int64_t>(1, rows_.bytes() / 2);
                for (int64_t b = first; b < rows_.last(); ++b) forget(b);
                work_.left = work_left;
                rows_.unload();
            }
        }
    }

private:
    // A quarter of the memory is left to the walk and to what it finds: a guess, corrected by smaller batches.
    void load(int64_t first, bool with_later) {
        rows_.unload();
        const int64_t room = control_.left() / 4 * 3;
        rows_.load(first, batch_limit_ > 0 ? std::min(batch_limit_, room) : room, with_later);
    }

    // Not if it is what was found that fills the memory.
    bool smaller_ones_help(int64_t first) const {
        return rows_.last() - first > 1 && rows_.bytes() > control_.limit() / 16;
    }

    Rows& rows_;
    Work& work_;
    int64_t batch_limit_;
    int threads_;
    Control& control_;
};

}  // namespace veilset::auditing
