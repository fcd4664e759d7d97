// How a long kernel stays polite: it releases the GIL, answers Ctrl-C, reports progress, and stops at its budget.
//
// Workers run in threads of their own; the calling thread waits, and a few times a second takes the GIL to look
// for signals and to call the progress callback. Memory is counted by the allocator of `Vector`, so a kernel that
// keeps its data in `Vector`s cannot pass its limit unnoticed.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/vector.hpp"

namespace nb = nanobind;

namespace veilset {

// Why a kernel stopped before it had an answer: its type tells, the words are for people.
struct OverBudget : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct OutOfTime : OverBudget {
    OutOfTime() : OverBudget("no time is left") {}
};
struct OutOfMemory : OverBudget {
    OutOfMemory() : OverBudget("no memory is left") {}
};
struct OutOfWork : OverBudget {  // the work that a question may take, which no clock measures
    OutOfWork() : OverBudget("the work limit is reached") {}
};

struct Stopped : std::exception {};

class Control {
public:
    using Clock = std::chrono::steady_clock;

    // memory_limit in bytes, time_limit in seconds; progress(stage, done, total) or None.
    Control(int64_t memory_limit, double time_limit, nb::object progress)
        : limit_(memory_limit),
          deadline_(Clock::now() +
                    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit))),
          progress_(std::move(progress)) {}

    void charge(int64_t bytes) {
        if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit_) {
            used_.fetch_sub(bytes, std::memory_order_relaxed);
            throw OutOfMemory();
        }
    }
    void refund(int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    int64_t limit() const { return limit_; }
    int64_t left() const { return limit_ - used_.load(std::memory_order_relaxed); }

    // Workers call this in every loop that can take long.
    void poll() const {
        if (stop_.load(std::memory_order_relaxed)) throw Stopped();
    }

    void begin(int64_t stage, int64_t total, int64_t done = 0) {
        stage_ = stage;
        done_ = done;
        total_ = total;
    }
    void advance() { done_.fetch_add(1, std::memory_order_relaxed); }

    // How many of the threads so many steps can keep busy.
    static int useful(int threads, int64_t steps) {
        return int(std::max<int64_t>(1, std::min<int64_t>(threads, steps)));
    }

    // Runs body(index) for all index < count on `threads` threads, handing out the indices one by one.
    template <class Body>
    void parallel(int threads, int64_t count, Body body) {
        // Many short parts (chunks, say) would each end before the first look at the clock below.
        if (Clock::now() > deadline_) throw OutOfTime();
        std::atomic<int64_t> next{0};
        std::vector<std::thread> workers;
        std::exception_ptr failure;
        std::mutex mutex;
        std::condition_variable finished;
        int running = 0;

        auto work = [&](int worker) {
            try {
                for (int64_t index; (index = next.fetch_add(1)) < count;) {
                    poll();
                    body(index, worker);
                    advance();
                }
            } catch (...) {
                std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                stop_ = true;
            }
            std::lock_guard lock(mutex);
            --running;
            finished.notify_all();
        };

        bool python_error = false;
        const int wanted = useful(threads, count);
        workers.reserve(wanted);  // no throw between a thread's start and its join: that would terminate the process
        {
            nb::gil_scoped_release release;
            {
                std::lock_guard lock(mutex);
                try {
                    for (int t = 0; t < wanted; ++t) {
                        workers.emplace_back(work, t);
                        ++running;
                    }
                } catch (const std::exception&) {
                    // No thread to be had (no address space for it, say). Those that started do the work.
                    if (workers.empty()) failure = std::make_exception_ptr(OutOfMemory());
                }
            }
            std::unique_lock lock(mutex);
            while (running > 0) {
                finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; });
                if (running == 0) break;
                if (Clock::now() > deadline_ && !failure) {
                    failure = std::make_exception_ptr(OutOfTime());
                    stop_ = true;
                }
                lock.unlock();
                if (!python_error && !report()) {
                    python_error = true;
                    stop_ = true;
                }
                lock.lock();
            }
            lock.unlock();
            for (auto& worker : workers) worker.join();
        }
        stop_ = false;
        if (python_error) throw nb::python_error();
        if (failure) rethrow(failure);
    }

    static Index blocks(Index count, Index block) { return (count + block - 1) / block; }

    // The same in blocks of so many indices, with a look for a stop at each.
    template <class Body>
    void in_blocks(int64_t stage, int threads, Index count, Index block, Body body) {
        begin(stage, blocks(count, block));
        parallel(threads, blocks(count, block), [&](Index number, int worker) {
            for (Index index = number * block; index < std::min((number + 1) * block, count); ++index) {
                poll();
                body(index, worker);
            }
        });
    }

    // One task in one worker thread; what it gives.
    template <class Body>
    auto single(Body body) {
        if constexpr (std::is_void_v<decltype(body())>) {
            parallel(1, 1, [&](int64_t, int) { body(); });
        } else {
            std::optional<decltype(body())> result;
            parallel(1, 1, [&](int64_t, int) { result.emplace(body()); });
            return std::move(*result);
        }
    }

private:
    // Takes the GIL; false if a signal handler or the callback raised (the Python error is then set).
    bool report() {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) return false;
        if (progress_.is_none()) return true;
        // A stage may begin between two of these loads: what is done is never said to be more than there is.
        const int64_t stage = stage_, done = done_, total = total_, shown = total > 0 ? std::min(done, total) : done;
        PyObject* answer =
            PyObject_CallFunction(progress_.ptr(), "LLL", (long long)stage, (long long)shown, (long long)total);
        Py_XDECREF(answer);
        return answer != nullptr;
    }

    [[noreturn]] static void rethrow(std::exception_ptr failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const std::bad_alloc&) {
            throw OutOfMemory();  // the system's limit came before ours
        }
    }

    int64_t limit_;
    Clock::time_point deadline_;
    nb::object progress_;
    std::atomic<int64_t> used_{0};
    std::atomic<bool> stop_{false};
    std::atomic<int64_t> stage_{0}, done_{0}, total_{0};
};

// Binds a kernel. Python gives its limits as the last three arguments; it takes them as a Control, its first.
template <class Result, class... Arguments, class... Names>
void def_kernel(nb::module_& m, const char* name, Result (*kernel)(Control&, Arguments...), const Names&... names) {
    auto bounded = [kernel](Arguments... arguments, int64_t memory_limit, double time_limit, nb::object progress) {
        Control control(memory_limit, time_limit, std::move(progress));
        return kernel(control, std::forward<Arguments>(arguments)...);
    };
    m.def(name, bounded, names..., nb::arg("memory_limit"), nb::arg("time_limit"), nb::arg("progress").none());
}

// Kernels jump about in their largest arrays; with pages of 2 MB instead of 4 kB the processor finds its way sooner.
constexpr size_t large_page = size_t(1) << 21;

inline bool takes_large_pages(size_t bytes) { return bytes >= 2 * large_page; }

inline void* take_bytes(size_t bytes) {
    if (!takes_large_pages(bytes)) return ::operator new(bytes);
    void* taken = ::operator new(bytes, std::align_val_t(large_page));
#if defined(__linux__)
    madvise(taken, bytes, MADV_HUGEPAGE);  // a wish: if the system has none, nothing is lost
#endif
    return taken;
}

inline void give_bytes(void* taken, size_t bytes) noexcept {
    if (takes_large_pages(bytes)) ::operator delete(taken, std::align_val_t(large_page));
    else ::operator delete(taken);
}

template <class T>
struct CountedAllocator {
    using value_type = T;
    Control* control;

    CountedAllocator(Control& c) : control(&c) {}  // NOLINT: a Control is all it takes
    template <class U>
    CountedAllocator(const CountedAllocator<U>& other) : control(other.control) {}

    T* allocate(size_t count) {
        control->charge(int64_t(count * sizeof(T)));
        try {
            return static_cast<T*>(take_bytes(count * sizeof(T)));
        } catch (...) {
            control->refund(int64_t(count * sizeof(T)));
            throw;
        }
    }
    void deallocate(T* p, size_t count) noexcept {
        give_bytes(p, count * sizeof(T));
        control->refund(int64_t(count * sizeof(T)));
    }
    template <class U>
    bool operator==(const CountedAllocator<U>& other) const {
        return control == other.control;
    }
};

template <class T>
using Vector = List<T, CountedAllocator<T>>;

// Values by key (0, 1, 2, ...): those of a key lie side by side.
template <class T>
struct Groups {
    Vector<int64_t> first;
    Vector<T> values;
    explicit Groups(Control& control) : first(1, 0, control), values(control) {}

    Index size() const { return first.size() - 1; }
    // What was pushed to the values since the last key, and the end of these.
    View<T> open() const { return View(values).subspan(first.back()); }
    void close() { first.push_back(values.size()); }

    // each(put) calls put(key, value) for all of them, twice.
    template <class Each>
    void fill(Index keys, Each each) {
        first.assign(keys + 1, 0);
        group(first, values, each);
    }
    View<T> operator[](Index key) const { return part(values, first, key); }
};

}  // namespace veilset
