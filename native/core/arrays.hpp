// NumPy arrays in and out. Arguments are bound with .noconvert(): nanobind would otherwise take float64 for int64.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace veilset {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
    return {array.data(), array.size()};
}

// Hands a vector's memory to NumPy without copying.
template <class T>
Output<T> to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    size_t size = owned->size();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return Output<T>(data, {size}, owner);
}

}  // namespace veilset
