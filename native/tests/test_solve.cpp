// Every way into the solver, judged by the optimality conditions computed here from the kernel's definition.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "cases.hpp"
#include "coordinate.hpp"
#include "random.hpp"
#include "solve.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

int controls = 0;

// Two clouds; every fifth point twice, and every tenth twice with both labels.
Case make_case(std::uint64_t seed, Index rows, Index features, int pieces) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = features;
    for (Index i = 0; i < rows; ++i) {
        const std::int8_t y = random.uniform() < 0.4 ? 1 : -1;
        if (i % 5 == 4) {
            for (Index k = 0; k < features; ++k) c.X.push_back(c.X[(i - 1) * features + k]);
            c.sign.push_back(i % 10 == 9 ? static_cast<std::int8_t>(-c.sign.back()) : c.sign.back());
        } else {
            for (Index k = 0; k < features; ++k) c.X.push_back(random.normal() + 0.7 * y);
            c.sign.push_back(y);
        }
        c.weight.push_back(0.5 + random.uniform());
    }
    c.problem = problem_of(rows, pieces, 0.7);
    return c;
}

std::vector<double> gram_of(const KernelSpec& spec, const Case& c) {
    std::vector<double> K;
    for (Index i = 0; i < c.rows; ++i)
        for (Index j = 0; j < c.rows; ++j) K.push_back(kernel(spec, c.row(i), c.row(j), c.features));
    return K;
}

// max(up - F) - min(down - F), F and the codes from beta alone; and beta must be feasible.
double violation(const Case& c, const std::vector<double>& K, const std::vector<double>& beta) {
    double highest = -1e300, lowest = 1e300, sum = 0;
    for (Index i = 0; i < c.rows; ++i) {
        double F = 0;
        for (Index j = 0; j < c.rows; ++j) F += K[i * c.rows + j] * beta[j];
        const Coordinate at = coordinate_at(c.problem, i, beta[i]);
        assert(at.beta == beta[i]);  // inside its box
        highest = std::max(highest, c.problem.up(i, at.code) - F);
        lowest = std::min(lowest, c.problem.down(i, at.code) - F);
        sum += beta[i];
    }
    assert(std::abs(sum) < 1e-9 * static_cast<double>(c.rows));
    return highest - lowest;
}

struct Compressed {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<Index> starts{0};
};

Compressed compress(const Case& c) {
    Compressed s;
    for (Index i = 0; i < c.rows; ++i) {
        for (Index k = 0; k < c.features; ++k) {
            s.values.push_back(c.X[i * c.features + k]);
            s.columns.push_back(static_cast<std::int32_t>(k));
        }
        s.starts.push_back(static_cast<Index>(s.values.size()));
    }
    return s;
}

void check(Case& c, const KernelSpec& spec, double tol, double allowed, int threads) {
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    const auto K = gram_of(spec, c);
    Options options;
    options.tol = tol;
    options.cache_bytes = 1e6;
    ThreadPool pool(threads);
    const auto judge = [&](const Outcome& outcome) {
        assert(outcome.status == Status::optimal);
        const double worst = violation(c, K, outcome.beta);
        if (!(worst <= allowed)) std::printf("kernel %d rows %ld pieces %d: %g\n", int(spec.name), long(c.rows), c.problem.pieces, worst);
        assert(worst <= allowed);
    };
    Watch watch;
    const DenseRows X{c.X.data(), c.rows, c.features};
    const Outcome dense = solve(c.problem, spec, X, nullptr, options, pool, watch);
    judge(dense);
    const Compressed s = compress(c);
    judge(solve(c.problem, spec, SparseRows{s.values.data(), s.columns.data(), s.starts.data(), c.rows, c.features}, nullptr, options, pool, watch));
    judge(solve(c.problem, spec, GramRows{K.data()}, nullptr, options, pool, watch));
    judge(solve(c.problem, spec, X, dense.beta.data(), options, pool, watch));  // from its own answer

    auto nudged = dense.beta;  // control: the judge has teeth
    int moved = 0;
    for (std::size_t i = 0; i < nudged.size() && moved < 2; ++i) {
        const double g = c.sign[i] * nudged[i], top = c.weight[i] * c.problem.breakpoints[c.sign[i] > 0].back();
        if (g > 0.1 && g < top - 0.1) nudged[i] += moved++ == 0 ? 0.05 : -0.05;
    }
    if (moved == 2) {
        ++controls;
        assert(violation(c, K, nudged) > std::max(2 * allowed, 1e-4));
    }
}

void check_limits() {
    Case c = make_case(5, 400, 3, 2);
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    const KernelSpec spec{KernelName::rbf, 0.5, 0, 3};
    const DenseRows X{c.X.data(), c.rows, c.features};
    ThreadPool pool(1);
    Options options;
    options.max_iterations = 3;
    Watch watch;
    assert(solve(c.problem, spec, X, nullptr, options, pool, watch).status == Status::iteration_limit);
    options.max_iterations = 1'000'000;
    Watch late({}, -1.0);
    assert(solve(c.problem, spec, X, nullptr, options, pool, late).status == Status::time_limit);
    options.tol = 1e-300;  // cannot be met: it must say so, not spin
    assert(solve(c.problem, spec, X, nullptr, options, pool, watch).status == Status::inaccurate);
}

}  // namespace

int main() {
    std::uint64_t seed = 1;
    for (const KernelSpec spec : {KernelSpec{KernelName::linear, 1, 0, 3}, KernelSpec{KernelName::rbf, 0.5, 0, 3},
                                  KernelSpec{KernelName::poly, 0.3, 1, 3}})
        for (int pieces : {1, 2, 4})
            for (Index rows : {5, 60, 200}) {
                Case c = make_case(seed++, rows, 3, pieces);
                check(c, spec, 1e-3, 1e-8, 1);
            }
    Case large = make_case(seed++, 1300, 4, 2);  // beyond the small problems: single precision, checked, on two threads
    check(large, {KernelName::rbf, 0.3, 0, 3}, 1e-3, 1.3e-3, 2);
    check_limits();
    assert(controls > 10);
}
