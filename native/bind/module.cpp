// The core as Python sees it; only this folder knows Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>

#include "arrays.hpp"
#include "cross_validation.hpp"
#include "lanes/lanes.hpp"
#include "solve.hpp"

using namespace abstain;
using namespace abstain::bind;
using namespace nb::literals;

namespace abstain::bind {
void bind_embedded(nb::module_& m);
}

namespace {

KernelSpec kernel_spec(const std::string& name, double gamma, double coef0, int degree) {
    if (name == "linear" || name == "precomputed") return {KernelName::linear, gamma, coef0, degree};
    if (name == "rbf") return {KernelName::rbf, gamma, coef0, degree};
    if (name == "poly") return {KernelName::poly, gamma, coef0, degree};
    if (name == "sigmoid") return {KernelName::sigmoid, gamma, coef0, degree};
    throw nb::value_error("kernel must be linear, rbf, poly or sigmoid");
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
    KernelSpec spec;
    Rows rows;
    Options options;
};

Method method_of(const std::string& name) {
    if (name == "auto") return Method::automatic;
    if (name == "smo") return Method::pairs;
    if (name == "active-set") return Method::active_set;
    throw nb::value_error("method must be auto, smo or active-set");
}

// Dense rows, the three arrays of compressed rows, or a Gram matrix, by the names of the keywords given.
Rows rows_of(const nb::dict& data, Index size) {
    if (data.contains("gram")) {
        const auto gram = nb::cast<Matrix>(data["gram"], false);
        require(static_cast<Index>(gram.shape(0)) == size && gram.shape(1) == gram.shape(0), "gram must be square, a row per entry of sign");
        return GramRows{gram.data()};
    }
    if (data.contains("X")) {
        const auto X = nb::cast<Matrix>(data["X"], false);
        require(static_cast<Index>(X.shape(0)) == size, "X must have as many rows as sign has entries");
        return DenseRows{X.data(), size, static_cast<Index>(X.shape(1))};
    }
    const auto starts = nb::cast<View<std::int64_t, 1>>(data["starts"], false);
    require(static_cast<Index>(starts.shape(0)) == size + 1, "starts must have one more entry than sign");
    return SparseRows{nb::cast<Vector>(data["values"], false).data(), nb::cast<View<std::int32_t, 1>>(data["columns"], false).data(),
                      starts.data(), size, nb::cast<Index>(data["features"])};
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core of abstain; use abstain.solvers.";

    m.def("solve",
          [](const nb::dict& data, const std::string& kernel, double gamma, double coef0, int degree, View<std::int8_t, 1> sign,
             Vector weight, Matrix knots, Matrix slopes, std::optional<Vector> start, const std::string& method, double tol,
             Index max_iter, double seconds, double cache_size, int threads, nb::object report) {
              require(!start || start->shape(0) == sign.shape(0), "start must have as many entries as sign");
              const Problem problem = make_problem(sign, weight, knots, slopes);
              const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
              const Rows rows = rows_of(data, problem.size);
              const Options options{method_of(method), tol, max_iter, cache_size * 1e6};
              Outcome outcome = without_lock(report, seconds, [&](Watch& watch) {
                  ThreadPool pool(threads);
                  return solve(problem, spec, rows, start ? start->data() : nullptr, options, pool, watch);
              });
              return nb::make_tuple(to_numpy(std::move(outcome.beta)), to_numpy(std::move(outcome.expansion)), word(outcome.status),
                                    outcome.iterations, outcome.violation);
          },
          "data"_a, "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(),
          "knots"_a.noconvert(), "slopes"_a.noconvert(), "start"_a.none().noconvert(), "method"_a, "tol"_a, "max_iter"_a,
          "seconds"_a, "cache_size"_a, "threads"_a, "report"_a.none());

    m.def("path",
          [](const nb::dict& data, const std::string& kernel, double gamma, double coef0, int degree, View<std::int8_t, 1> sign,
             Vector weight, Matrix knots, Matrix slopes, double lowest, double highest, double cache_size, int threads,
             nb::object report) {
              const Problem problem = make_problem(sign, weight, knots, slopes);
              const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
              const Rows rows = rows_of(data, problem.size);
              Options options;
              options.cache_bytes = cache_size * 1e6;
              PathPieces path = without_lock(report, std::numeric_limits<double>::infinity(), [&](Watch& watch) {
                  ThreadPool pool(threads);
                  return follow_path(problem, spec, rows, lowest, highest, options, pool, watch);
              });
              nb::dict pieces;
              pieces["start"] = to_numpy(std::move(path.start));
              pieces["turned"] = to_numpy(std::move(path.turned));
              pieces["end"] = to_numpy(std::move(path.end));
              pieces["bias"] = to_numpy(std::move(path.bias));
              pieces["bias_rate"] = to_numpy(std::move(path.bias_rate));
              pieces["first"] = to_numpy(std::move(path.first));
              pieces["rows"] = to_numpy(std::move(path.rows));
              pieces["gamma"] = to_numpy(std::move(path.gamma));
              pieces["rate"] = to_numpy(std::move(path.rate));
              pieces["settled_from"] = to_numpy(std::move(path.settled_from));
              pieces["settled_row"] = to_numpy(std::move(path.settled_row));
              pieces["settled_gamma"] = to_numpy(std::move(path.settled_gamma));
              pieces["complete"] = path.complete;
              return pieces;
          },
          "data"_a, "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(),
          "knots"_a.noconvert(), "slopes"_a.noconvert(), "lowest"_a, "highest"_a, "cache_size"_a, "threads"_a, "report"_a.none());

    m.def("cross_validate",
          [](const nb::dict& data, const std::string& kernel, Vector gammas, double coef0, int degree, View<std::int8_t, 1> sign,
             Vector weight, Matrix knots, Matrix slopes, Vector Cs, View<std::uint8_t, 2> trains, double tol, Index max_iter,
             double seconds, double cache_size, int threads, nb::object report) {
              const Problem problem = make_problem(sign, weight, knots, slopes);
              const Rows rows = rows_of(data, problem.size);
              require(static_cast<Index>(trains.shape(1)) == problem.size, "trains must have a column per row");
              Grid grid{{}, {Cs.data(), Cs.data() + Cs.shape(0)}, trains.data(), static_cast<Index>(trains.shape(0))};
              for (std::size_t g = 0; g < gammas.shape(0); ++g)
                  grid.kernels.push_back(kernel_spec(kernel, gammas.data()[g], coef0, degree));
              const Options options{Method::pairs, tol, max_iter, cache_size * 1e6};
              std::atomic<Index> finished{0};
              const auto tell = [&](Index, double) { return report(finished.load()); };
              const nb::object told = report.is_none() ? nb::none() : nb::object(nb::cpp_function(tell));
              CrossValidation result = without_lock(told, seconds, [&](Watch& watch) {
                  ThreadPool pool(threads);
                  return cross_validate(problem, rows, grid, options, pool, watch, finished);
              });
              return nb::make_tuple(to_numpy(std::move(result.scores)), to_numpy(std::move(result.endings)));
          },
          "data"_a, "kernel"_a, "gammas"_a.noconvert(), "coef0"_a, "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(),
          "knots"_a.noconvert(), "slopes"_a.noconvert(), "Cs"_a.noconvert(), "trains"_a.noconvert(), "tol"_a, "max_iter"_a,
          "seconds"_a, "cache_size"_a, "threads"_a, "report"_a.none());

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

    bind::bind_embedded(m);

    m.def("instruction_set", [] { return lanes<float>().name; });
}
