// The only file that knows Python: views in, arrays out, the interpreter's lock released while the core works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "lanes/lanes.hpp"
#include "solve.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace abstain;

namespace {

template <class T, int dimensions> using View = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Vector = View<double, 1>;
using Matrix = View<double, 2>;

template <class T> nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

KernelSpec kernel_spec(const std::string& name, double gamma, double coef0, int degree) {
    if (name == "linear") return {KernelName::linear, gamma, coef0, degree};
    if (name == "rbf") return {KernelName::rbf, gamma, coef0, degree};
    if (name == "poly") return {KernelName::poly, gamma, coef0, degree};
    if (name == "sigmoid") return {KernelName::sigmoid, gamma, coef0, degree};
    throw nb::value_error("kernel must be linear, rbf, poly or sigmoid");
}

void require(bool holds, const char* rule) {
    if (!holds) throw nb::value_error(rule);
}

// knots and slopes of the loss (row 0 the negative class, left to right) become slopes and breakpoints of the dual.
Problem make_problem(const View<std::int8_t, 1>& sign, const Vector& weight, const Matrix& knots, const Matrix& slopes) {
    const std::size_t K = knots.shape(1);
    require(knots.shape(0) == 2 && slopes.shape(0) == 2 && slopes.shape(1) == K && K >= 1 && K < 60,
            "knots and slopes must both have shape (2, K) with 1 <= K < 60");
    require(weight.shape(0) == sign.shape(0), "weight must have as many entries as sign");
    Problem problem{static_cast<Index>(sign.shape(0)), sign.data(), weight.data(), static_cast<int>(K), {}, {}};
    for (std::size_t side = 0; side < 2; ++side) {
        problem.breakpoints[side].push_back(0.0);
        for (std::size_t k = K; k-- > 0;) {
            problem.slopes[side].push_back(knots.data()[side * K + k]);
            problem.breakpoints[side].push_back(-slopes.data()[side * K + k]);
        }
    }
    return problem;
}

// Runs the core without the lock; comes back every 20 ms to let Python see its signals and tell how far it is.
template <class Work> auto without_lock(const nb::object& report, double seconds, Work&& work) {
    std::optional<nb::python_error> error;
    Watch watch(
        [&](Index iterations, double violation) {
            nb::gil_scoped_acquire lock;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                const bool finish = !report.is_none() && nb::cast<bool>(nb::bool_(report(iterations, violation)));
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

const char* word(Status status) {
    switch (status) {
        case Status::optimal: return "optimal";
        case Status::iteration_limit: return "iteration_limit";
        case Status::time_limit: return "time_limit";
        default: return "inaccurate";
    }
}

struct Task {
    Problem problem;
    const double* start;
    Options options;
    int threads;
    double seconds;
    nb::object report;
};

Task make_task(const View<std::int8_t, 1>& sign, const Vector& weight, const Matrix& knots, const Matrix& slopes,
               const std::optional<Vector>& start, double tol, Index max_iter, double seconds, double cache_size, int threads,
               bool polish, nb::object report) {
    require(!start || start->shape(0) == sign.shape(0), "start must have as many entries as sign");
    return {make_problem(sign, weight, knots, slopes), start ? start->data() : nullptr,
            Options{tol, max_iter, cache_size * 1e6, polish}, threads, seconds, std::move(report)};
}

template <class... Data> nb::tuple run(Task& task, const Data&... data) {
    Outcome outcome = without_lock(task.report, task.seconds, [&](Watch& watch) {
        ThreadPool pool(task.threads);
        return solve(task.problem, data..., task.start, task.options, pool, watch);
    });
    return nb::make_tuple(to_numpy(std::move(outcome.beta)), to_numpy(std::move(outcome.expansion)), word(outcome.status),
                          outcome.iterations, outcome.violation);
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core of abstain; use abstain.solvers.";

    m.def("solve_dense",
          [](Matrix X, const std::string& kernel, double gamma, double coef0, int degree, View<std::int8_t, 1> sign, Vector weight,
             Matrix knots, Matrix slopes, std::optional<Vector> start, double tol, Index max_iter, double seconds,
             double cache_size, int threads, bool polish, nb::object report) {
              require(X.shape(0) == sign.shape(0), "X must have as many rows as sign has entries");
              Task task = make_task(sign, weight, knots, slopes, start, tol, max_iter, seconds, cache_size, threads, polish, report);
              return run(task, kernel_spec(kernel, gamma, coef0, degree),
                         DenseRows{X.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1))});
          },
          "X"_a.noconvert(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(),
          "knots"_a.noconvert(), "slopes"_a.noconvert(), "start"_a.none().noconvert(), "tol"_a, "max_iter"_a, "seconds"_a,
          "cache_size"_a, "threads"_a, "polish"_a, "report"_a.none());

    m.def("solve_sparse",
          [](Vector data, View<std::int32_t, 1> columns, View<std::int64_t, 1> starts, Index features, const std::string& kernel,
             double gamma, double coef0, int degree, View<std::int8_t, 1> sign, Vector weight, Matrix knots, Matrix slopes,
             std::optional<Vector> start, double tol, Index max_iter, double seconds, double cache_size, int threads, bool polish,
             nb::object report) {
              require(starts.shape(0) == sign.shape(0) + 1, "starts must have one more entry than sign");
              const SparseRows X{data.data(), columns.data(), starts.data(), static_cast<Index>(sign.shape(0)), features};
              Task task = make_task(sign, weight, knots, slopes, start, tol, max_iter, seconds, cache_size, threads, polish, report);
              return run(task, kernel_spec(kernel, gamma, coef0, degree), X);
          },
          "data"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "features"_a, "kernel"_a, "gamma"_a, "coef0"_a,
          "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(),
          "start"_a.none().noconvert(), "tol"_a, "max_iter"_a, "seconds"_a, "cache_size"_a, "threads"_a, "polish"_a,
          "report"_a.none());

    m.def("solve_gram",
          [](Matrix gram, View<std::int8_t, 1> sign, Vector weight, Matrix knots, Matrix slopes, std::optional<Vector> start,
             double tol, Index max_iter, double seconds, double cache_size, int threads, bool polish, nb::object report) {
              require(gram.shape(0) == sign.shape(0) && gram.shape(1) == sign.shape(0), "gram must be square, a row per entry of sign");
              Task task = make_task(sign, weight, knots, slopes, start, tol, max_iter, seconds, cache_size, threads, polish, report);
              return run(task, gram.data());
          },
          "gram"_a.noconvert(), "sign"_a.noconvert(), "weight"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(),
          "start"_a.none().noconvert(), "tol"_a, "max_iter"_a, "seconds"_a, "cache_size"_a, "threads"_a, "polish"_a,
          "report"_a.none());

    m.def("expand",
          [](Matrix X, Matrix support, Vector coef, const std::string& kernel, double gamma, double coef0, int degree, int threads) {
              require(X.shape(1) == support.shape(1), "X and support must have as many features as one another");
              require(support.shape(0) == coef.shape(0), "coef must have an entry per row of support");
              std::vector<double> out(X.shape(0), 0.0);
              const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
              without_lock(nb::none(), std::numeric_limits<double>::infinity(), [&](Watch& watch) {
                  ThreadPool pool(threads);
                  expand(spec, {X.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1))},
                         {support.data(), static_cast<Index>(support.shape(0)), static_cast<Index>(support.shape(1))}, coef.data(),
                         out.data(), pool, watch);
              });
              return to_numpy(std::move(out));
          },
          "X"_a.noconvert(), "support"_a.noconvert(), "coef"_a.noconvert(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a,
          "threads"_a);

    m.def("instruction_set", [] { return lanes<float>().name; });
}
