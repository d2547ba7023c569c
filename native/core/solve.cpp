#include "solve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "active_set.hpp"
#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "gram_kernel.hpp"

namespace abstain {

std::unique_ptr<KernelMatrix<double>> kernel_in_double(const Problem& problem, const KernelSpec& spec, const Rows& rows,
                                                       double cache_bytes, ThreadPool& pool, Watch& watch) {
    if (const auto* gram = std::get_if<GramRows>(&rows))
        return std::make_unique<GramKernel<double>>(gram->values, problem.size, problem.size, pool);
    if (const auto* sparse = std::get_if<SparseRows>(&rows))
        return std::make_unique<SparseKernel>(spec, *sparse, cache_bytes, pool, watch);
    return std::make_unique<DenseKernel<double>>(spec, std::get<DenseRows>(rows), cache_bytes, pool, watch);
}

namespace {

constexpr Index small = 1000;             // rows up to which the kernel matrix is made once, in double, and the answer polished
constexpr double polished_from = 1e-6;    // violation at which the active set is nearly right
constexpr Index patience = 20;           // pair steps per row until the active set takes over
constexpr double fine = 1e-4;             // tolerance below which single precision is likely to hold the pair steps up
constexpr Index fine_patience = 20;       // pair steps per row after which it is given up there
constexpr Index single_patience = 200;    // and elsewhere
constexpr Index exact_rows = 5000;        // rows up to which the active set may then take over
constexpr Index checked_rows = 256;       // rows on which F in single precision is compared with F in double
constexpr double strays_allowed = 0.5;    // by how much of the tolerance it may differ

Outcome decompose(const Problem& problem, KernelMatrix<double>& kernel, const double* start, const Options& options,
                  Watch& watch) {
    Settings settings;
    settings.tol = options.tol;
    settings.max_iterations = options.max_iterations;
    return Decomposition<double>(problem, kernel, settings, watch).run(start);
}

// Where the sets are too far off for the active set: from a C so small that they are plain to see, along the path.
void walk_up(const Problem& problem, KernelMatrix<double>& kernel, Outcome& outcome, Index max_iterations, Watch& watch) {
    double easy = 1;
    for (Index i = 0; i < problem.size; ++i)
        easy = std::max(easy, problem.breakpoint(i, problem.pieces) * std::abs(kernel.diagonal(i)));
    Problem scaled = problem;
    for (auto& slopes : scaled.slopes)
        for (double& t : slopes) t *= easy;
    Settings settings;
    settings.tol = polished_from * easy;
    settings.max_iterations = std::min(max_iterations - outcome.iterations, patience * problem.size);
    const Outcome start = Decomposition<double>(scaled, kernel, settings, watch).run(nullptr);
    outcome.iterations += start.iterations;
    const Index limit = std::min(max_iterations - outcome.iterations, 50 * problem.size + 1000);
    Outcome arrived = outcome;
    std::vector<Index> all(problem.size);
    std::iota(all.begin(), all.end(), Index(0));
    kernel.activate(all);
    Path(problem, kernel, watch).arrive(arrived, start, easy, limit);
    if (arrived.violation < outcome.violation) outcome = std::move(arrived);
}

}  // namespace

// Pair steps until the sets are nearly right, then the sets' own equations. Pair steps crawl on ill-conditioned problems,
// where the equations do not: they are given up early, and taken up again only if the equations fail.
Outcome solve_exactly(const Problem& problem, KernelMatrix<double>& kernel, const double* start, const Options& options,
                      Watch& watch) {
    Options first = options;
    first.tol = std::min(options.tol, polished_from);
    first.max_iterations = std::min(options.max_iterations, patience * problem.size);
    Outcome outcome = decompose(problem, kernel, start, first, watch);
    if (outcome.status == Status::time_limit || outcome.iterations >= options.max_iterations || watch.expired()) return outcome;

    std::vector<Index> all(problem.size);
    std::iota(all.begin(), all.end(), Index(0));
    kernel.activate(all);
    Outcome exact = outcome;
    ActiveSet(problem, kernel, watch).run(exact, std::min(options.max_iterations - outcome.iterations, 10 * problem.size + 100));
    outcome.iterations = exact.iterations;
    if (exact.violation <= outcome.violation) outcome = std::move(exact);
    const bool going_on = outcome.iterations < options.max_iterations && !watch.expired();
    if (!(outcome.violation <= options.tol) && going_on) walk_up(problem, kernel, outcome, options.max_iterations, watch);
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

namespace {

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
        if (outcome.beta[i] != 0) {
            coef.push_back(outcome.beta[i]);
            support.insert(support.end(), X.values + i * d, X.values + (i + 1) * d);
        }
    if (coef.empty()) return 0;
    expected.resize(which.size());
    expand(spec, {rows.data(), std::ssize(which), d}, {support.data(), std::ssize(coef), d},
           coef.data(), expected.data(), pool, watch);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t c = 0; c < which.size(); ++c) {
        const double error = outcome.expansion[which[c]] - expected[c];
        low = std::min(low, error);
        high = std::max(high, error);
    }
    return spec.name == KernelName::linear ? high - low : std::max(std::abs(low), std::abs(high));
}

// F = X w costs next to nothing, in double and without the centring. w = sum beta_i x_i is taken around the mean, since
// sum beta = 0 and data far from the origin would cancel.
void expand_linear(const DenseRows& X, Outcome& outcome) {
    const std::size_t d = X.features;
    const std::vector<double> mean = column_means(X);
    std::vector<double> w(d, 0.0);
    for (Index i = 0; i < X.rows; ++i) {
        const double beta = outcome.beta[i];
        for (std::size_t k = 0; beta != 0 && k < d; ++k) w[k] += beta * (X.values[i * X.features + static_cast<Index>(k)] - mean[k]);
    }
    for (Index i = 0; i < X.rows; ++i)
        outcome.expansion[i] = lanes<double>().dot(w.data(), X.values + i * X.features, X.features);
}

// The kernel in double, made once where it is small or fits the cache.
template <class Work>
auto with_kernel(const Problem& problem, const KernelSpec& spec, const Rows& rows, const Options& options, ThreadPool& pool,
                 Watch& watch, Work&& work) {
    const auto kernel = kernel_in_double(problem, spec, rows, options.cache_bytes, pool, watch);
    const double bytes = 8.0 * static_cast<double>(problem.size) * static_cast<double>(problem.size);
    if (std::holds_alternative<GramRows>(rows) || (problem.size > small && bytes > options.cache_bytes)) return work(*kernel);
    MadeGram<double> gram(*kernel, problem.size, pool);
    return work(gram.kernel);
}

Outcome solve_large(const Problem& problem, const KernelSpec& spec, const DenseRows& X, const double* start,
                    const Options& options, ThreadPool& pool, Watch& watch) {
    Outcome outcome;
    {
        Settings settings;
        const Index steps = (options.tol < fine ? fine_patience : single_patience) * problem.size;
        settings.tol = options.tol;
        settings.max_iterations = std::min(options.max_iterations, steps);
        DenseKernel<float> kernel(spec, X, options.cache_bytes, pool, watch);
        outcome = Decomposition<float>(problem, kernel, settings, watch).run(start);
    }
    if (outcome.iterations >= options.max_iterations || outcome.status == Status::time_limit || watch.expired()) return outcome;
    if (outcome.status == Status::optimal && strayed(spec, X, outcome, pool, watch) <= strays_allowed * options.tol) return outcome;
    Options rest = options;
    rest.max_iterations -= outcome.iterations;
    const bool exactly = options.method == Method::automatic && problem.size <= exact_rows;
    Outcome finer = with_kernel(problem, spec, X, options, pool, watch, [&](KernelMatrix<double>& kernel) {
        return exactly ? solve_exactly(problem, kernel, outcome.beta.data(), rest, watch)
                       : decompose(problem, kernel, outcome.beta.data(), rest, watch);
    });
    finer.iterations += outcome.iterations;
    return finer;
}

}  // namespace

Outcome solve(const Problem& problem, const KernelSpec& spec, const Rows& rows, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch) {
    const DenseRows* dense = std::get_if<DenseRows>(&rows);
    Outcome outcome;
    if (options.method == Method::active_set || problem.size <= small)
        outcome = with_kernel(problem, spec, rows, options, pool, watch, [&](KernelMatrix<double>& kernel) {
            return options.method == Method::pairs ? decompose(problem, kernel, start, options, watch)
                                                   : solve_exactly(problem, kernel, start, options, watch);
        });
    else if (dense)
        outcome = solve_large(problem, spec, *dense, start, options, pool, watch);
    else
        outcome = decompose(problem, *kernel_in_double(problem, spec, rows, options.cache_bytes, pool, watch), start, options, watch);
    if (dense && spec.name == KernelName::linear) expand_linear(*dense, outcome);
    return outcome;
}

PathPieces follow_path(const Problem& problem, const KernelSpec& spec, const Rows& rows, double lowest, double highest,
                       const Options& options, ThreadPool& pool, Watch& watch) {
    return with_kernel(problem, spec, rows, options, pool, watch, [&](KernelMatrix<double>& kernel) {
        Problem scaled = problem;  // path.hpp: knots over C, weights as they are
        for (auto& slopes : scaled.slopes)
            for (double& t : slopes) t /= lowest;
        Options first = options;
        first.tol = polished_from / lowest;
        Outcome start = solve_exactly(scaled, kernel, nullptr, first, watch);
        return Path(problem, kernel, watch).follow(std::move(start), 1 / lowest, 1 / highest, 200 * problem.size + 10000);
    });
}

}  // namespace abstain
