// Sizes and places are signed, like ids, offsets and counts: they meet without a cast, and a difference may be
// negative. The standard headers that nearly every kernel needs come with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace veilset {

using Index = int64_t;

// A std::vector that tells its size as an Index. (Vector, in core/control.hpp, also counts its memory.)
template <class T, class Allocator = std::allocator<T>>
class List : public std::vector<T, Allocator> {
public:
    using std::vector<T, Allocator>::vector;
    Index size() const { return Index(std::vector<T, Allocator>::size()); }
};

// A stretch of values that lie elsewhere, to be read: a std::span of constants with a signed size.
template <class T>
class View : public std::span<const T> {
    using Span = std::span<const T>;

public:
    using Span::span;
    constexpr View(Span values) : Span(values) {}  // NOLINT: the same thing

    constexpr Index size() const { return Index(Span::size()); }
    constexpr View first(Index count) const { return Span::first(count); }
    constexpr View subspan(Index begin) const { return Span::subspan(begin); }
    constexpr View subspan(Index begin, Index count) const { return Span::subspan(begin, count); }
    constexpr View between(Index begin, Index end) const { return Span::subspan(begin, end - begin); }
};

template <class Values>
View(const Values&) -> View<std::ranges::range_value_t<Values>>;
template <class T, class End>
View(const T*, End) -> View<T>;

// What belongs to `key` where the values of all keys lie side by side: those from offsets[key] to offsets[key + 1].
template <class Values, class Offsets>
auto part(const Values& values, const Offsets& offsets, Index key) {
    return View(values).between(offsets[key], offsets[key + 1]);
}

// 0 .. count - 1, stably sorted by key(number).
template <class Key>
List<int32_t> ordered_by(Index count, Key key) {
    List<int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, key);
    return order;
}

// Puts values side by side, those of the same key together and in their order: each(put) calls put(key, value) for all
// of them, and is called twice. `offsets` comes as zeros, one more than there are keys.
template <class Offsets, class Values, class Each>
void group(Offsets& offsets, Values& values, Each each) {
    each([&](Index key, const auto&) { ++offsets[key + 1]; });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    values.resize(offsets.back());
    Offsets next(offsets);
    each([&](Index key, const auto& value) { values[next[key]++] = value; });
}

}  // namespace veilset

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<veilset::View<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<veilset::View<T>> = true;
