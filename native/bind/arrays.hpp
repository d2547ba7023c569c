// Shared by all binding files: views of arrays in, arrays out, the interpreter's lock released while the core works.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain::bind {

namespace nb = nanobind;

// A contiguous array whose numbers lie where the processor expects them.
template <class T, int dimensions> struct View : nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu> {
    using Array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
    View() = default;
    explicit View(Array&& array) : Array(std::move(array)) {}
};
using Vector = View<double, 1>;
using Matrix = View<double, 2>;

template <class T> nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

// The first `rows` rows of a matrix, whose memory goes back to where the core keeps it for the next fit.
inline nb::ndarray<nb::numpy, double, nb::ndim<2>> to_numpy(Aligned<double>&& values, Index rows, Index columns) {
    auto* kept = new Aligned<double>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Aligned<double>*>(p); });
    return {kept->data(), {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, owner};
}

inline void require(bool holds, const char* rule) {
    if (!holds) throw nb::value_error(rule);
}

inline const char* word(Status status, const char* converged = "optimal") {
    switch (status) {
        case Status::converged: return converged;
        case Status::inaccurate: return "inaccurate";
        case Status::iteration_limit: return "iteration_limit";
        case Status::time_limit: return "time_limit";
    }
    return "";
}

// Runs the core without the lock; takes it every 20 ms for Python's signals and the progress report, which is not called
// again once it has asked to finish.
template <class Work> auto without_lock(const nb::object& report, double seconds, Work&& work) {
    make_room_for_exceptions();
    std::optional<nb::python_error> error;
    bool finish = false;
    Watch watch(
        [&](Index iterations, double violation) {
            nb::gil_scoped_acquire lock;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (report.is_none()) return Watch::Answer::go_on;
                finish = finish || nb::cast<bool>(nb::bool_(report(iterations, violation)));
                return finish ? Watch::Answer::finish : Watch::Answer::go_on;
            } catch (nb::python_error& raised) {
                error.emplace(std::move(raised));
                return Watch::Answer::interrupt;
            }
        },
        seconds);
    try {
        nb::gil_scoped_release unlocked;
        return work(watch);
    } catch (const Interrupted&) {
        throw nb::python_error(std::move(*error));
    }
}

}  // namespace abstain::bind

// As that of the array, but misaligned ones are refused, which nanobind takes.
namespace nanobind::detail {

template <class T, int dimensions> struct type_caster<abstain::bind::View<T, dimensions>> {
    using Viewed = abstain::bind::View<T, dimensions>;
    using Caster = make_caster<typename Viewed::Array>;
    NB_TYPE_CASTER(Viewed, Caster::Name)

    bool from_python(handle from, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(from, flags, cleanup)) return false;
        value = Viewed(std::move(caster.value));
        return reinterpret_cast<std::uintptr_t>(value.data()) % alignof(T) == 0;
    }
};

}  // namespace nanobind::detail
