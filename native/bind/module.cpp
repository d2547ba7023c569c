// The core's Python interface; only this folder includes nanobind.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "bias.hpp"
#include "expansion.hpp"
#include "inputs.hpp"
#include "lanes/dispatch.hpp"
#include "solve_many.hpp"
#include "sparse_kernel.hpp"

using namespace abstain;
using namespace abstain::bind;
using namespace nb::literals;

namespace abstain::bind {
void bind_embedded(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_proofs(nb::module_& m);
}

namespace {

// Dense rows, the three arrays of compressed rows, or a Gram matrix, by the names of the entries given.
Rows rows_of(const nb::dict& data, Indices& own) {
    if (data.contains("gram")) {
        const auto gram = entry<Matrix>(data, "gram");
        require(gram.shape(1) == gram.shape(0) && gram.shape(0) > 0, "gram must be square, with at least one row");
        return GramRows{gram.data(), static_cast<Index>(gram.shape(0))};
    }
    if (data.contains("X")) {
        return dense_rows(entry<Matrix>(data, "X"));
    }
    const auto starts = entry<View<std::int64_t, 1>>(data, "starts");
    const auto columns = entry<View<std::int32_t, 1>>(data, "columns");
    const auto values = entry<Vector>(data, "values");
    const Index lengths[] = {static_cast<Index>(starts.shape(0)), static_cast<Index>(columns.shape(0)),
                             static_cast<Index>(values.shape(0))};
    own = {{starts.data(), starts.data() + lengths[0]}, {columns.data(), columns.data() + lengths[1]}};
    require(data.contains("features"), "features is missing");
    const auto features = plain<Index>(data["features"], "features must be a whole number");
    const SparseRows rows{values.data(), own.columns.data(), own.starts.data(), lengths[0] - 1, features};
    if (const char* rule = fault(rows, lengths[0], lengths[1], lengths[2])) throw nb::value_error(rule);
    require(rows.rows > 0 && features > 0 && features <= std::numeric_limits<std::int32_t>::max(),
            "there must be at least one row, and from 1 to 2^31 - 1 features");
    return rows;
}

// A list of tasks; those given the same knots and slopes share one table, and those given the same signs one copy of them.
struct TaskList {
    std::vector<Inputs> inputs;
    std::vector<Vector> starts;
    std::vector<Task> tasks;

    TaskList(const nb::list& given, Index rows, std::size_t kernels) {
        std::map<std::pair<const std::int8_t*, std::size_t>, Kept<std::int8_t>> signs;
        std::map<std::pair<const std::int32_t*, std::size_t>, Kept<std::int32_t>> kinds;
        const auto shared = [](auto& copies, const auto& given) {
            auto& copy = copies[{given.data(), given.shape(0)}];
            if (!copy) copy = kept(given);
            return copy;
        };
        std::map<std::tuple<const double*, const double*, std::size_t, std::size_t>, std::shared_ptr<const LossTable>> tables;
        std::vector<std::pair<Signs, Kinds>> views;  // kept until the end: another array could take the place of one that is gone
        for (const nb::handle item : given) {
            const auto task = plain<nb::dict>(item, "tasks must be a list of dicts");
            const auto knots = entry<Matrix>(task, "knots"), slopes = entry<Matrix>(task, "slopes");
            auto& table = tables[{knots.data(), slopes.data(), knots.shape(0), knots.shape(1)}];
            if (!table) table = table_of(knots, slopes);
            views.emplace_back(entry<Signs>(task, "sign"), entry<Kinds>(task, "kind"));
            const auto& [sign, kind] = views.back();
            inputs.push_back({shared(signs, sign), entry<Vector>(task, "weight"), shared(kinds, kind), table});
            const auto scales = entry<Vector>(task, "scales");
            tasks.push_back({inputs.back().problem(rows), {scales.data(), scales.data() + scales.shape(0)}});
            for (std::size_t c = 0; c < scales.shape(0); ++c)
                require(scales.data()[c] > (c ? scales.data()[c - 1] : 0.0), "scales must be positive and ascend");
            if (task.contains("kernel"))
                tasks.back().kernel = plain<std::size_t>(task["kernel"], "kernel must be a whole number >= 0");
            require(tasks.back().kernel < kernels, "kernel must be an index into gammas");
            if (task.contains("round"))
                tasks.back().round = plain<std::uint32_t>(task["round"], "round must be a whole number >= 0");
            if (!task.contains("start") || task["start"].is_none()) continue;
            starts.push_back(entry<Vector>(task, "start"));
            require(static_cast<Index>(starts.back().shape(0)) == rows, "start must have an entry per row");
            tasks.back().start = starts.back().data();
        }
    }
};

nb::list words(const std::vector<Status>& status) {
    nb::list found;
    for (const Status s : status) found.append(word(s));
    return found;
}

// Valid during the call that it is passed to.
nb::object view_of(const std::vector<double>& values) {
    return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<1>>(values.data(), {values.size()}, nb::handle()),
                    nb::rv_policy::reference);
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native core of abstain; use abstain.solvers.";

    m.def(
        "solve",
        [](const nb::dict& data, const std::string& kernel, double gamma, double coef0, int degree, Signs sign, Vector weight,
           Kinds kind, Matrix knots, Matrix slopes, std::optional<Vector> start, const std::string& method, double tol,
           Index max_iter, double seconds, double cache_size, int threads, nb::object report, double total) {
            Indices own;
            const Rows rows = rows_of(data, own);
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes), total};
            const Problem problem = inputs.problem(row_count(rows));
            require(!start || start->shape(0) == sign.shape(0), "start must have as many entries as sign");
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            const Options options = options_of(method, tol, max_iter, cache_size);
            Outcome outcome = without_lock(report, seconds, [&](Watch& watch) {
                ThreadPool pool(threads);
                return solve(problem, spec, rows, start ? start->data() : nullptr, options, pool, watch);
            });
            const double bias = best_bias(problem, outcome.expansion);
            return nb::make_tuple(to_numpy(std::move(outcome.beta)), to_numpy(std::move(outcome.expansion)), bias,
                                  word(outcome.status), outcome.iterations);
        },
        "data"_a, "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "sign"_a.noconvert(), "weight"_a.noconvert(),
        "kind"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(), "start"_a.none().noconvert(), "method"_a, "tol"_a,
        "max_iter"_a, "seconds"_a, "cache_size"_a, "threads"_a, "report"_a.none(), "total"_a = 0.0);

    m.def(
        "solve_many",
        [](const nb::dict& data, const std::string& kernel, Vector gammas, double coef0, int degree, const nb::list& tasks,
           const std::string& method, double tol, Index max_iter, double seconds, double cache_size, int threads,
           bool coefficients, nb::object report, nb::object choose) {
            Indices own;
            const Rows rows = rows_of(data, own);
            const TaskList list(tasks, row_count(rows), gammas.shape(0));
            std::vector<KernelSpec> kernels;
            for (std::size_t g = 0; g < gammas.shape(0); ++g)
                kernels.push_back(kernel_spec(kernel, gammas.data()[g], coef0, degree));
            const Options options = options_of(method, tol, max_iter, cache_size);
            Durations durations(number_of_fits(list.tasks));
            const auto times = [&](Index, double) { return report(to_numpy(std::vector<double>(durations.begin(), durations.end()))); };
            const nb::object timed = report.is_none() ? nb::none() : nb::object(nb::cpp_function(times));
            const auto chosen = [&](const Answers& answers, Wanted& wanted) {
                nb::gil_scoped_acquire lock;
                const nb::object found = choose(view_of(answers.expansion), view_of(answers.bias), words(answers.status));
                const auto kept = plain<View<bool, 1>>(found, "choose must return an array of bool");
                require(kept.shape(0) == wanted.size(), "choose must return an entry per fit");
                wanted.assign(kept.data(), kept.data() + wanted.size());
            };
            Answers answers = without_lock(timed, seconds, [&](Watch& watch) {
                ThreadPool pool(threads);
                const Keep keep = coefficients ? Keep::coefficients_too : Keep::scores;
                return solve_many(rows, kernels, list.tasks, options, keep, pool, watch, durations,
                                  choose.is_none() ? Choose{} : Choose(chosen));
            });
            for (const std::exception_ptr& failure : answers.failures)
                if (failure) std::rethrow_exception(failure);
            nb::dict fits;
            fits["expansion"] = to_numpy(std::move(answers.expansion));
            fits["beta"] = to_numpy(std::move(answers.beta));
            fits["bias"] = to_numpy(std::move(answers.bias));
            fits["violation"] = to_numpy(std::move(answers.violation));
            fits["iterations"] = to_numpy(std::move(answers.iterations));
            fits["status"] = words(answers.status);
            return fits;
        },
        "data"_a, "kernel"_a, "gammas"_a.noconvert(), "coef0"_a, "degree"_a, "tasks"_a, "method"_a, "tol"_a, "max_iter"_a,
        "seconds"_a, "cache_size"_a, "threads"_a, "coefficients"_a, "report"_a.none(), "choose"_a.none() = nb::none());

    m.def(
        "path",
        [](const nb::dict& data, const std::string& kernel, double gamma, double coef0, int degree, Signs sign, Vector weight,
           Kinds kind, Matrix knots, Matrix slopes, double lowest, double highest, double cache_size, int threads,
           nb::object report) {
            Indices own;
            const Rows rows = rows_of(data, own);
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes)};
            const Problem problem = inputs.problem(row_count(rows));
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            require(lowest > 0 && lowest <= highest && std::isfinite(highest), "0 < lowest <= highest must hold");
            const Options options = options_of("auto", Options{}.tol, Options{}.max_iterations, cache_size);
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
        "kind"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(), "lowest"_a, "highest"_a, "cache_size"_a, "threads"_a,
        "report"_a.none());

    m.def(
        "expand",
        [](Matrix X, Matrix support, Vector coef, const std::string& kernel, double gamma, double coef0, int degree,
           int threads) {
            require(X.shape(1) == support.shape(1) && X.shape(1) > 0,
                    "X and support must have the same number of features, and some");
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

    m.def(
        "kernel_values",
        [](const nb::dict& X, const nb::dict& Y, const std::string& kernel, double gamma, double coef0, int degree, int threads) {
            Indices own[2];
            const Rows rows = rows_of(X, own[0]), others = rows_of(Y, own[1]);
            const auto width = [](const Rows& some) {
                const auto *dense = std::get_if<DenseRows>(&some);
                const auto *sparse = std::get_if<SparseRows>(&some);
                return dense ? dense->features : sparse ? sparse->features : 0;
            };
            require(rows.index() == others.index() && width(rows) > 0 && width(rows) == width(others),
                    "X and Y must both be dense or both compressed rows, with the same number of features");
            std::vector<double> out(row_count(rows) * row_count(others));
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            without_lock(nb::none(), std::numeric_limits<double>::infinity(), [&](Watch& watch) {
                ThreadPool pool(threads);
                if (const auto* dense = std::get_if<DenseRows>(&rows))
                    kernel_values(spec, *dense, std::get<DenseRows>(others), out.data(), pool, watch);
                else sparse_values(spec, std::get<SparseRows>(rows), std::get<SparseRows>(others), out.data(), pool, watch);
            });
            return to_numpy(std::move(out));
        },
        "X"_a, "Y"_a, "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "threads"_a);

    bind::bind_embedded(m);
    bind::bind_linear(m);
    bind::bind_parts(m);
    bind::bind_proofs(m);

    m.def("instruction_set", [] { return current_lanes().name; });
    m.def("instruction_sets", [] {  // those that this processor has
        nb::list names;
        for (const LaneSet* set : lane_sets()) names.append(set->name);
        return names;
    });
    m.def("use_instruction_set", [](const std::string& name) {  // for tests and benchmarks
        for (const LaneSet* set : lane_sets())
            if (name == set->name) return use_lanes(*set);
        throw nb::value_error("instruction_sets() lists those that this processor has");
    });
}
