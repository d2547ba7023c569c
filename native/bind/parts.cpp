// Problems over parts of the same rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>

#include "problems.hpp"
#include "solve_parts.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

namespace {

using Indices = View<std::int64_t, 1>;

// Dense rows, or a Gram matrix, whose rows may be longer than their number.
PartedRows parted_rows(const std::optional<Matrix>& X, const std::optional<Matrix>& gram) {
    require(X.has_value() != gram.has_value(), "either X or gram must be given");
    if (X) return dense_rows(*X);
    require(gram->shape(0) > 0 && gram->shape(0) <= gram->shape(1), "gram must have at least one row, and no fewer columns");
    return GramRows{gram->data(), static_cast<Index>(gram->shape(0)), static_cast<Index>(gram->shape(1))};
}
Index row_count(const PartedRows& rows) {
    return std::visit([](const auto& some) { return some.rows; }, rows);
}

// Copied: another thread may change the caller's arrays after they were checked.
struct OwnParts {
    std::vector<Index> rows, starts;

    OwnParts(const Indices& given, const Indices& where, Index limit)
        : rows(given.data(), given.data() + given.shape(0)), starts(where.data(), where.data() + where.shape(0)) {
        check(std::ssize(rows));
        for (const Index row : rows) require(row >= 0 && row < limit, "rows must be indices of rows of X");
    }
    OwnParts(const Indices& where, Index size) : starts(where.data(), where.data() + where.shape(0)) { check(size); }

    Parts view() const { return {rows, starts}; }

  private:
    void check(Index size) const {
        require(!starts.empty() && starts.front() == 0 && starts.back() == size, "starts must run from 0 to the number of rows");
        for (std::size_t p = 1; p < starts.size(); ++p) require(starts[p - 1] < starts[p], "starts must ascend");
    }
};

}  // namespace

void bind_parts(nb::module_& m) {
    m.def(
        "solve_parts",
        [](std::optional<Matrix> X, const std::string& kernel, double gamma, double coef0, int degree, View<std::int64_t, 1> rows,
           View<std::int64_t, 1> starts, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes,
           const std::string& method, double tol, Index max_iter, double seconds, double cache_size, int threads,
           nb::object report, std::optional<Matrix> gram, bool values_first) {
            const PartedRows data = parted_rows(X, gram);
            const OwnParts own(rows, starts, row_count(data));
            const Parts parts = own.view();
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes)};
            const Problem problem = inputs.problem(std::ssize(parts.rows));
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            const Options options = options_of(method, tol, max_iter, cache_size);
            PartAnswers answers = without_lock(report, seconds, [&](Watch& watch) {
                ThreadPool pool(threads);
                return solve_parts(problem, spec, data, parts, options, values_first, pool, watch);
            });
            nb::list status;
            for (const Status s : answers.status) status.append(word(s));
            return nb::make_tuple(to_numpy(std::move(answers.beta)), to_numpy(std::move(answers.expansion)), status,
                                  to_numpy(std::move(answers.iterations)));
        },
        "X"_a.none().noconvert(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "rows"_a.noconvert(), "starts"_a.noconvert(),
        "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(),
        "method"_a, "tol"_a, "max_iter"_a, "seconds"_a, "cache_size"_a, "threads"_a, "report"_a.none(),
        "gram"_a.none().noconvert() = nb::none(), "values_first"_a = false);

    m.def(
        "expand_parts",
        [](std::optional<Matrix> X, View<std::int64_t, 1> rows, View<std::int64_t, 1> starts, Vector coef, const std::string& kernel,
           double gamma, double coef0, int degree, int threads, std::optional<Matrix> gram) {
            const PartedRows data = parted_rows(X, gram);
            const OwnParts own(rows, starts, row_count(data));
            const Parts parts = own.view();
            require(coef.shape(0) == rows.shape(0), "coef must have an entry per row of the parts");
            std::vector<double> out(rows.shape(0), 0.0);
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            without_lock(nb::none(), std::numeric_limits<double>::infinity(), [&](Watch& watch) {
                ThreadPool pool(threads);
                expand_parts(spec, data, parts, coef.data(), out.data(), pool, watch);
            });
            return to_numpy(std::move(out));
        },
        "X"_a.none().noconvert(), "rows"_a.noconvert(), "starts"_a.noconvert(), "coef"_a.noconvert(), "kernel"_a, "gamma"_a,
        "coef0"_a, "degree"_a, "threads"_a, "gram"_a.none().noconvert() = nb::none());

    m.def(
        "gram",  // each row is longer than their number, by values that mean nothing
        [](Matrix X, const std::string& kernel, double gamma, double coef0, int degree, int threads) {
            const DenseRows data = dense_rows(X);
            const KernelSpec spec = kernel_spec(kernel, gamma, coef0, degree);
            return to_numpy(without_lock(nb::none(), std::numeric_limits<double>::infinity(), [&](Watch& watch) {
                ThreadPool pool(threads);
                return whole_matrix<double>(spec, data, pool, watch);
            }), data.rows, whole_stride(data.rows));
        },
        "X"_a.noconvert(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "threads"_a);

    m.def(
        "best_biases",
        [](View<std::int64_t, 1> starts, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, Vector expansion,
           double total) {
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes), total};
            const Problem problem = inputs.problem(static_cast<Index>(sign.shape(0)));
            require(expansion.shape(0) == sign.shape(0), "expansion must have as many entries as sign");
            const OwnParts own(starts, problem.size);
            return to_numpy(best_biases(problem, own.view(), expansion.data()));
        },
        "starts"_a.noconvert(), "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(),
        "slopes"_a.noconvert(), "expansion"_a.noconvert(), "total"_a = 0.0);
}

}  // namespace abstain::bind
