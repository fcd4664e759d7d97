// NumPy arrays in and out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/detail/nb_list.h>

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "core/vector.hpp"

namespace nb = nanobind;

namespace veilset {

using namespace nb::literals;

// An array that Python has given, for those who keep it. An argument of this type, or a View, is exactly such an array:
// nanobind would otherwise take float64 for int64.
template <class T>
class Array : public View<T> {
public:
    using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    Array() = default;
    explicit Array(const Given& given) : View<T>(given.data(), given.size()), given_(given) {}

private:
    Given given_;
};

template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Hands a vector's memory to NumPy without copying, in this shape.
template <class Result, class T>
Result to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return Result(data, shape, owner);
}
template <class T>
Output<T> to_numpy(std::vector<T>&& values) {
    const size_t size = values.size();
    return to_numpy<Output<T>>(std::move(values), {size});
}

// The arrays of these vectors.
template <class... T>
nb::tuple to_tuple(std::vector<T>&... values) {
    return nb::make_tuple(to_numpy(std::move(values))...);
}

// An array of one member of each of these.
template <class T, class Record>
Output<T> to_numpy(std::type_identity_t<View<Record>> records, T Record::* member) {
    List<T> values;
    std::ranges::transform(records, std::back_inserter(values), member);
    return to_numpy(std::move(values));
}

}  // namespace veilset

template <class T>
struct nanobind::detail::type_caster<veilset::Array<T>> {
    using Caster = make_caster<typename veilset::Array<T>::Given>;
    NB_TYPE_CASTER(veilset::Array<T>, Caster::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(source, flags & ~uint32_t(cast_flags::convert), cleanup)) return false;
        value = veilset::Array<T>(caster.value);
        return true;
    }
};

template <class T>
struct nanobind::detail::type_caster<veilset::View<T>> {
    using Caster = make_caster<veilset::Array<T>>;
    NB_TYPE_CASTER(veilset::View<T>, Caster::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!array_.from_python(source, flags, cleanup)) return false;
        value = array_.value;
        return true;
    }

private:
    Caster array_;
};

template <class T>
struct nanobind::detail::type_caster<veilset::List<T>> : list_caster<veilset::List<T>, T> {};
