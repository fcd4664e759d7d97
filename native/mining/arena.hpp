// Memory for a depth-first walk: taken on the way down, given back all at once on the way up.
#pragma once

#include <new>

#include "core/control.hpp"

namespace veilset::mining {

class Arena {
public:
    explicit Arena(Control& control) : control_(control) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
        for (Block& block : blocks_) {
            ::operator delete(block.bytes, std::align_val_t(alignment));
            control_.refund(int64_t(block.size));
        }
    }

    // Uninitialized, and aligned for the widest vectors.
    template <class T>
    T* take(size_t count) {
        const size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
        while (at_ == blocks_.size() || used_ + bytes > blocks_[at_].size) {
            if (at_ < blocks_.size()) {
                ++at_;
                used_ = 0;
            }
            if (at_ == blocks_.size()) add(bytes);
        }
        T* taken = reinterpret_cast<T*>(blocks_[at_].bytes + used_);
        used_ += bytes;
        return taken;
    }

    // Everything taken while a Scope lives is given back when it ends.
    class Scope {
    public:
        explicit Scope(Arena& arena) : arena_(arena), at_(arena.at_), used_(arena.used_) {}
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        ~Scope() {
            arena_.at_ = at_;
            arena_.used_ = used_;
        }

    private:
        Arena& arena_;
        size_t at_, used_;
    };

private:
    static constexpr size_t alignment = 64;
    struct Block {
        uint8_t* bytes;
        size_t size;
    };

    void add(size_t bytes) {
        const size_t size = std::max(bytes, blocks_.empty() ? size_t(1) << 16 : 2 * blocks_.back().size);
        blocks_.reserve(blocks_.size() + 1);
        control_.charge(int64_t(size));
        try {
            blocks_.push_back({static_cast<uint8_t*>(::operator new(size, std::align_val_t(alignment))), size});
        } catch (...) {
            control_.refund(int64_t(size));
            throw;
        }
    }

    Control& control_;
    std::vector<Block> blocks_;
    size_t at_ = 0, used_ = 0;
};

}  // namespace veilset::mining
