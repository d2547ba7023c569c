#include "solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "active_set.hpp"
#include "dense_kernel.hpp"
#include "expansion.hpp"
#include "policy.hpp"
#include "small_gap.hpp"

namespace abstain {

namespace {

// The largest error of F compared with double precision, on rows spread over the data. The linear kernel was centred,
// which shifts F by a constant: only differences count.
double drift(const KernelSpec& spec, const DenseRows& X, const Outcome& outcome, ThreadPool& pool, Watch& watch) {
    const Index d = X.features, step = std::max<Index>(1, X.rows / policy::rows_checked_in_double);
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
    expand(spec, {rows.data(), std::ssize(which), d}, {support.data(), std::ssize(coef), d}, coef.data(), expected.data(), pool,
           watch);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t c = 0; c < which.size(); ++c) {
        const double error = outcome.expansion[which[c]] - expected[c];
        low = std::min(low, error);
        high = std::max(high, error);
    }
    return spec.name == KernelName::linear ? high - low : std::max(std::abs(low), std::abs(high));
}

// F = X w in double and without the centring, which is cheap. w = sum beta_i x_i is taken around the mean, since
// sum beta = 0 and data far from the origin would cancel; another total adds that many means.
void expand_linear(const Problem& problem, const DenseRows& X, Outcome& outcome) {
    const std::vector<double> mean = column_means(X);
    std::vector<double> w(X.features, 0.0);
    for (Index k = 0; problem.total != 0 && k < X.features; ++k) w[k] = problem.total * mean[k];
    for (Index i = 0; i < X.rows; ++i)
        for (Index k = 0; outcome.beta[i] != 0 && k < X.features; ++k)
            w[k] += outcome.beta[i] * (X.values[i * X.features + k] - mean[k]);
    for (Index i = 0; i < X.rows; ++i)
        outcome.expansion[i] = lanes<double>().dot(w.data(), X.values + i * X.features, X.features);
    judge(problem, outcome);
}

// Large kernel values overflow in single precision.
bool overflown(const Outcome& outcome) {
    return !std::all_of(outcome.expansion.begin(), outcome.expansion.end(), [](double F) { return std::isfinite(F); });
}

// Whether sums of such coefficients in the precision of T may be off by more than the tolerance. Errors of both signs cancel,
// which leaves a small part of the bound.
template <class T> bool blurred(const double* beta, Index size, double tol) {
    double sum = 0;
    for (Index i = 0; i < size; ++i) sum += std::abs(beta[i]);
    return policy::rounding_share * std::numeric_limits<T>::epsilon() * sum > tol;
}

}  // namespace

template <class T> KernelMatrix<T>& Fitter::kernel() {
    auto& kept = std::get<std::unique_ptr<KernelMatrix<T>>>(kernels_);
    if (!kept) kept = source_.kernel<T>(pool_, watch_);
    return *kept;
}

// In double, and whole where it is small or fits the cache.
KernelMatrix<double>& Fitter::exact_kernel() {
    const bool whole = source_.size <= policy::small_rows || source_.fits<double>();
    if (whole && !source_.is_given()) source_.hold<double>(pool_, watch_);
    return kernel<double>();
}

// At most as many iterations as the settings and the budget allow.
template <class T>
Outcome Fitter::decompose(const Problem& problem, const double* start, Settings settings, Budget& budget) {
    settings.max_iterations = budget.at_most(settings.max_iterations);
    Outcome outcome = Decomposition<T>(problem, kernel<T>(), settings, watch_).run(start);
    budget.spend(outcome.iterations);
    return outcome;
}

// If the sets are too far off for the active set: along the path, from a C so small that they are easy to find.
void Fitter::walk_up(const Problem& problem, Outcome& outcome, Index changes, Budget& budget) {
    double easy = 1;
    for (Index i = 0; i < problem.size; ++i)
        easy = std::max(easy, problem.breakpoint(i, problem.pieces()) * std::abs(kernel<double>().diagonal(i)));
    const LossTable losses = problem.losses->scaled(easy);
    Problem scaled = problem;
    scaled.losses = &losses;
    const Index steps = policy::steps_before_active_set * problem.size;
    const Outcome start = decompose<double>(scaled, nullptr, {policy::nearly_right * easy, steps}, budget);
    Outcome arrived = outcome;
    kernel<double>().activate(all_rows(problem.size));
    Path(problem, kernel<double>(), watch_, easy)
        .arrive(arrived, start, budget.at_most(std::min(policy::walk_up_changes(problem.size), changes)));
    budget.spend(arrived.iterations - outcome.iterations);
    if (arrived.violation < outcome.violation) outcome = std::move(arrived);
}

// Whether most rows of one class stay at 0, so that few rows of the kernel matrix are needed, and each is made quickly.
bool Fitter::few_move(const Problem& problem) const {
    const auto* dense = std::get_if<DenseRows>(&source_.rows);
    const bool few = problem.size >= policy::least_on_demand && problem.size <= policy::small_rows;
    if (problem.total == 0 || !few || !dense) return false;
    double most = 0;
    for (Index i = 0; i < problem.size; ++i) most += problem.breakpoint(i, problem.pieces());
    return dense->features < policy::features_worth_caching && std::abs(problem.total) <= policy::share_on_demand * most;
}

// Pair steps until the sets are nearly right, then the linear system of the active set. Pair steps are slow on
// ill-conditioned problems and the linear system is not, so they stop early and resume only if the system fails.
Outcome Fitter::solve_exactly(const Problem& problem, const double* start, double tol, Budget& budget, bool continued) {
    const Index n = problem.size;
    const double nearly_right = options_.one_of_many ? policy::nearly_right_of_many : std::min(tol, policy::nearly_right);
    const Settings sets{nearly_right, continued ? 0 : policy::steps_before_active_set * n};
    const bool to_the_end = options_.some_rows && n > policy::few_rows;
    Settings first = to_the_end ? Settings{tol, policy::steps_to_the_end * n} : sets;
    first.on_demand = few_move(problem);
    if (!first.on_demand) exact_kernel();
    Outcome outcome = decompose<double>(problem, start, first, budget);
    const auto ended = [&] { return outcome.status == Status::time_limit || budget.empty() || watch_.expired(); };
    if (ended() || (to_the_end && leaves_small_gap(problem, outcome))) return outcome;
    if (to_the_end && outcome.status != Status::converged) outcome = decompose<double>(problem, outcome.beta.data(), sets, budget);
    if (ended()) return outcome;

    if (const Index changes = affordable_changes(problem, outcome, tol, budget); changes > 0) {
        kernel<double>().activate(all_rows(n));
        Outcome exact = outcome;
        ActiveSet(problem, kernel<double>(), watch_).run(exact, budget.at_most(std::min(policy::set_changes(n), changes)));
        budget.spend(exact.iterations - outcome.iterations);
        if (exact.violation <= outcome.violation) outcome = std::move(exact);
        const bool has_path = problem.total == 0;  // one class has no C to follow
        if (!(outcome.violation <= tol) && !budget.empty() && !watch_.expired() && has_path)
            walk_up(problem, outcome, changes, budget);
    }
    if (outcome.violation <= tol) {
        outcome.status = Status::converged;
        return outcome;
    }
    return decompose<double>(problem, outcome.beta.data(), {tol, budget.left()}, budget);
}

// Few pair steps over all rows, as `first` says; if they are not enough, blocks.
template <class T>
Outcome Fitter::decompose_all_first(const Problem& problem, const double* start, Settings first, const Settings& settings,
                                    Budget& budget) {
    first.max_iterations = std::min(settings.max_iterations, first.max_iterations);
    Outcome outcome = decompose<T>(problem, start, first, budget);
    const Index left = budget.at_most(settings.max_iterations - outcome.iterations);
    const bool unfinished = outcome.status == Status::iteration_limit && left > 0;
    if (!unfinished || watch_.expired() || overflown(outcome)) return outcome;
    return decompose<T>(problem, outcome.beta.data(), {settings.tol, left}, budget);
}

// In single precision where there is one, checked in double; continued in double if the check fails or the steps stall.
template <class T> Outcome Fitter::fit_large(const Problem& problem, const double* start, Budget& budget) {
    constexpr bool in_single = std::is_same_v<T, float>;
    const Index steps = options_.tol < policy::fine_tolerance ? policy::steps_in_single_if_fine : policy::steps_in_single;
    Settings settings{options_.tol, std::min(budget.left() / 2, steps * problem.size)};
    const double most = std::sqrt(options_.cache_bytes / (2 * sizeof(T)));
    if (!options_.one_of_many)
        settings.largest_working_set = static_cast<int>(std::clamp<double>(most, policy::largest_working_set, policy::largest_in_cache));
    if (options_.method == Method::automatic && !options_.one_of_many)
        settings.otherwise = [&](double between, double changes) {
            const ActiveSetCost cost = active_set_cost(static_cast<Index>(between));
            return cost.factor + changes * cost.change + policy::sums_in_double * cost.sums;
        };
    const bool on_demand = options_.one_of_many && problem.size <= policy::rows_on_demand;
    const Settings first{options_.tol, policy::steps_on_demand * problem.size, static_cast<int>(policy::rows_on_demand), true};
    Outcome outcome = on_demand ? decompose_all_first<T>(problem, start, first, settings, budget)
                                : decompose<T>(problem, start, settings, budget);
    if (budget.empty() || outcome.status == Status::time_limit || watch_.expired()) return outcome;
    const auto drifted = [&] {
        if (overflown(outcome)) return true;
        return !options_.one_of_many && !(drift(source_.spec, std::get<DenseRows>(source_.rows), outcome, pool_, watch_) <=
                                         policy::drift_allowed * options_.tol);
    };
    const bool converged = outcome.status == Status::converged;
    if (converged && !(in_single && drifted())) return outcome;
    std::get<std::unique_ptr<KernelMatrix<T>>>(kernels_).reset();  // frees its cache for the next kernel
    const double* from = overflown(outcome) ? start : outcome.beta.data();
    if (converged && from != start) {  // the answer is near: not worth a matrix in memory
        const Index few = policy::steps_before_active_set * problem.size;
        Outcome again = decompose<double>(problem, from, {options_.tol, few}, budget);
        if (again.status == Status::converged || budget.empty() || watch_.expired()) return again;
        outcome = std::move(again);
        from = outcome.beta.data();
        std::get<std::unique_ptr<KernelMatrix<double>>>(kernels_).reset();
    }
    exact_kernel();
    if (options_.method == Method::automatic) return solve_exactly(problem, from, options_.tol, budget, from != start);
    return decompose<double>(problem, from, {options_.tol, budget.left()}, budget);
}

// Pair steps; if they are slow or fail, double precision and the active set, where that is cheap.
template <class T> Outcome Fitter::fit_for_search(const Problem& problem, const double* start, Budget& budget) {
    const bool small = problem.size <= policy::one_block_rows;
    const Index n = problem.size;
    const Index most = policy::search_steps_before_active_set * n;
    const Settings settings{options_.tol, most, small ? static_cast<int>(policy::one_block_rows) : policy::working_set};
    const Settings all{options_.tol, policy::search_steps_on_all_rows * n, static_cast<int>(n)};
    Outcome outcome = !small && kernel<T>().whole().values ? decompose_all_first<T>(problem, start, all, settings, budget)
                                                    : decompose<T>(problem, start, settings, budget);
    // The rounding that a large start leaves in F stays there as beta shrinks: continue with F recomputed.
    if (start && blurred<T>(start, n, options_.tol) && outcome.status == Status::converged)
        outcome = decompose<T>(problem, outcome.beta.data(), settings, budget);
    const bool given_up = outcome.status == Status::iteration_limit && !budget.empty();
    const bool failed = outcome.status == Status::inaccurate || overflown(outcome);
    const bool inexact = given_up || failed || (small && blurred<T>(outcome.beta.data(), n, options_.tol));
    if (!inexact || watch_.expired()) return outcome;
    if (small) source_.hold<double>(pool_, watch_);
    return solve_exactly(problem, failed ? start : outcome.beta.data(), options_.tol, budget);
}

Outcome Fitter::fit(const Problem& problem, const double* start) {
    const bool in_single = has_single_precision(source_.rows), search = options_.method == Method::search;
    Budget budget(options_.max_iterations);
    Outcome outcome;
    if (search) {
        outcome = in_single ? fit_for_search<float>(problem, start, budget) : fit_for_search<double>(problem, start, budget);
    } else if (options_.method == Method::active_set || problem.size <= policy::small_rows) {
        if (options_.method == Method::pairs) {
            exact_kernel();
            outcome = decompose<double>(problem, start, {options_.tol, budget.left()}, budget);
        } else {
            outcome = solve_exactly(problem, start, options_.tol, budget);
        }
    } else {
        outcome = in_single ? fit_large<float>(problem, start, budget) : fit_large<double>(problem, start, budget);
    }
    outcome.iterations = budget.spent();
    if (!search && in_single && source_.spec.name == KernelName::linear)
        expand_linear(problem, std::get<DenseRows>(source_.rows), outcome);
    return outcome;
}

PathPieces Fitter::follow_path(const Problem& problem, double lowest, double highest) {
    const auto optimum = [&](double lambda, const double* start, Index most) {
        const LossTable losses = problem.losses->scaled(lambda);
        Problem scaled = problem;  // path.hpp: knots over C, weights as they are
        scaled.losses = &losses;
        Budget budget(most);
        Outcome outcome = solve_exactly(scaled, start, policy::nearly_right * lambda, budget);
        kernel<double>().activate(all_rows(problem.size));
        return outcome;
    };
    const Outcome start = optimum(1 / lowest, nullptr, options_.max_iterations);
    const auto again = [&](double lambda, const std::vector<double>& gamma) {
        return optimum(lambda, gamma.data(), std::min(options_.max_iterations, policy::repair_steps(problem.size)));
    };
    return Path(problem, kernel<double>(), watch_, 1 / lowest, again)
        .follow(start, 1 / highest, policy::path_changes(problem.size));
}

Outcome solve(const Problem& problem, const KernelSpec& spec, const Rows& rows, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch) {
    KernelSpec own = spec;
    own.balanced = problem.total == 0;
    KernelSource source(own, rows, options.cache_bytes);
    return Fitter(source, options, pool, watch).fit(problem, start);
}

PathPieces follow_path(const Problem& problem, const KernelSpec& spec, const Rows& rows, double lowest, double highest,
                       const Options& options, ThreadPool& pool, Watch& watch) {
    KernelSource source(spec, rows, options.cache_bytes);
    return Fitter(source, options, pool, watch).follow_path(problem, lowest, highest);
}

}  // namespace abstain
