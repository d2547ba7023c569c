#include "solve.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "active_set.hpp"
#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "gram_kernel.hpp"

namespace abstain {

namespace {

constexpr Index small = 1000;             // rows up to which the kernel matrix is made once, in double, and the answer polished
constexpr double polished_from = 1e-6;    // violation at which the active set is nearly right
constexpr Index patience = 200;           // pair steps per row until the active set takes over
constexpr Index checked_rows = 256;       // rows on which F in single precision is compared with F in double

Outcome decompose(const Problem& problem, KernelMatrix<double>& kernel, const double* start, const Options& options,
                  Watch& watch) {
    Settings settings;
    settings.tol = options.tol;
    settings.max_iterations = options.max_iterations;
    return Decomposition<double>(problem, kernel, settings, watch).run(start);
}

// Pair steps until the sets are nearly right, then the sets' own equations. Pair steps crawl on ill-conditioned problems,
// where the equations do not: they are given up early, and taken up again only if the equations fail.
Outcome solve_small(const Problem& problem, KernelMatrix<double>& kernel, const double* start, const Options& options,
                    Watch& watch) {
    if (!options.polish) return decompose(problem, kernel, start, options, watch);
    Options first = options;
    first.tol = std::min(options.tol, polished_from);
    first.max_iterations = std::min(options.max_iterations, patience * problem.size);
    Outcome outcome = decompose(problem, kernel, start, first, watch);
    if (outcome.status == Status::time_limit || outcome.iterations >= options.max_iterations || watch.expired()) return outcome;

    std::vector<Index> all(static_cast<std::size_t>(problem.size));
    std::iota(all.begin(), all.end(), Index(0));
    kernel.activate(all);
    Outcome exact = outcome;
    ActiveSet(problem, kernel, watch).run(exact, 10 * problem.size + 100);
    if (exact.violation <= outcome.violation) outcome = std::move(exact);
    if (outcome.violation <= options.tol) {
        outcome.status = Status::optimal;
        return outcome;
    }
    Options rest = options;
    rest.max_iterations = std::max<Index>(0, options.max_iterations - outcome.iterations);
    Outcome last = decompose(problem, kernel, outcome.beta.data(), rest, watch);
    last.iterations += outcome.iterations;
    return last;
}

// How far F strays from what double precision gives, on rows spread over the data. The linear kernel was centred,
// which shifts F by a constant: only differences count.
double strayed(const KernelSpec& spec, const DenseRows& X, const Outcome& outcome, ThreadPool& pool, Watch& watch) {
    const Index d = X.features, step = std::max<Index>(1, X.rows / checked_rows);
    std::vector<double> rows, support, coef, expected;
    std::vector<Index> which;
    for (Index i = 0; i < X.rows; i += step) {
        which.push_back(i);
        rows.insert(rows.end(), X.values + i * d, X.values + (i + 1) * d);
    }
    for (Index i = 0; i < X.rows; ++i)
        if (outcome.beta[static_cast<std::size_t>(i)] != 0) {
            coef.push_back(outcome.beta[static_cast<std::size_t>(i)]);
            support.insert(support.end(), X.values + i * d, X.values + (i + 1) * d);
        }
    if (coef.empty()) return 0;
    expected.resize(which.size());
    expand(spec, {rows.data(), static_cast<Index>(which.size()), d}, {support.data(), static_cast<Index>(coef.size()), d},
           coef.data(), expected.data(), pool, watch);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t c = 0; c < which.size(); ++c) {
        const double error = outcome.expansion[static_cast<std::size_t>(which[c])] - expected[c];
        low = std::min(low, error);
        high = std::max(high, error);
    }
    return spec.name == KernelName::linear ? high - low : std::max(std::abs(low), std::abs(high));
}

// F = X w costs next to nothing, in double and without the centring. w = sum beta_i x_i is taken around the mean, since
// sum beta = 0 and data far from the origin would cancel.
void expand_linear(const DenseRows& X, Outcome& outcome) {
    const std::size_t d = static_cast<std::size_t>(X.features);
    const std::vector<double> mean = column_means(X);
    std::vector<double> w(d, 0.0);
    for (Index i = 0; i < X.rows; ++i) {
        const double beta = outcome.beta[static_cast<std::size_t>(i)];
        for (std::size_t k = 0; beta != 0 && k < d; ++k) w[k] += beta * (X.values[i * X.features + static_cast<Index>(k)] - mean[k]);
    }
    for (Index i = 0; i < X.rows; ++i)
        outcome.expansion[static_cast<std::size_t>(i)] = lanes<double>().dot(w.data(), X.values + i * X.features, X.features);
}

Outcome solve_large(const Problem& problem, const KernelSpec& spec, const DenseRows& X, const double* start,
                    const Options& options, ThreadPool& pool, Watch& watch) {
    Outcome outcome;
    {
        Settings settings;
        settings.tol = options.tol;
        settings.max_iterations = options.max_iterations;
        DenseKernel<float> kernel(spec, X, options.cache_bytes, pool, watch);
        outcome = Decomposition<float>(problem, kernel, settings, watch).run(start);
    }
    if (outcome.status == Status::iteration_limit || outcome.status == Status::time_limit) return outcome;
    if (outcome.status == Status::optimal && strayed(spec, X, outcome, pool, watch) <= 0.1 * options.tol) return outcome;
    Options rest = options;
    rest.max_iterations -= outcome.iterations;
    DenseKernel<double> kernel(spec, X, options.cache_bytes, pool, watch);
    Outcome finer = decompose(problem, kernel, outcome.beta.data(), rest, watch);
    finer.iterations += outcome.iterations;
    return finer;
}

}  // namespace

Outcome solve(const Problem& problem, const KernelSpec& spec, const DenseRows& X, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch) {
    Outcome outcome;
    if (problem.size <= small) {
        const Index stride = rounded_up(problem.size);
        Aligned<double> gram(static_cast<std::size_t>(stride * stride));
        std::vector<Index> all(static_cast<std::size_t>(problem.size));
        std::iota(all.begin(), all.end(), Index(0));
        DenseKernel<double>(spec, X, 0, pool, watch).block(all, gram.data(), stride);
        GramKernel<double> kernel(gram.data(), problem.size, stride, pool);
        outcome = solve_small(problem, kernel, start, options, watch);
    } else {
        outcome = solve_large(problem, spec, X, start, options, pool, watch);
    }
    if (spec.name == KernelName::linear) expand_linear(X, outcome);
    return outcome;
}

Outcome solve(const Problem& problem, const KernelSpec& spec, const SparseRows& X, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch) {
    SparseKernel kernel(spec, X, options.cache_bytes, pool, watch);
    if (problem.size > small) return decompose(problem, kernel, start, options, watch);
    const Index stride = rounded_up(problem.size);
    Aligned<double> gram(static_cast<std::size_t>(stride * stride));
    std::vector<Index> all(static_cast<std::size_t>(problem.size));
    std::iota(all.begin(), all.end(), Index(0));
    kernel.block(all, gram.data(), stride);
    GramKernel<double> made(gram.data(), problem.size, stride, pool);
    return solve_small(problem, made, start, options, watch);
}

Outcome solve(const Problem& problem, const double* gram, const double* start, const Options& options, ThreadPool& pool,
              Watch& watch) {
    GramKernel<double> kernel(gram, problem.size, problem.size, pool);
    return problem.size <= small ? solve_small(problem, kernel, start, options, watch)
                                 : decompose(problem, kernel, start, options, watch);
}

}  // namespace abstain
