// Every way into the solver, judged by the optimality conditions computed here from the kernel's definition.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "cases.hpp"
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
    give_losses(c, pieces, 0.7);
    return c;
}

void check(Case& c, const KernelSpec& spec, double tol, double allowed, int threads) {
    const Problem problem = c.problem();
    const auto K = gram_of(spec, c);
    Options options;
    options.tol = tol;
    options.cache_bytes = 1e6;
    ThreadPool pool(threads);
    const auto judge = [&](const Outcome& outcome) {
        assert(outcome.status == Status::converged);
        const double worst = violation(problem, K, outcome.beta.data());
        if (!(worst <= allowed))
            std::printf("kernel %d rows %ld pieces %d: %g\n", int(spec.name), long(c.rows), problem.pieces(), worst);
        assert(worst <= allowed);
    };
    Watch watch;
    const DenseRows X = c.dense();
    const Outcome dense = solve(problem, spec, X, nullptr, options, pool, watch);
    judge(dense);
    const Compressed s = compress(c);
    judge(solve(problem, spec, s.rows(c.features), nullptr, options, pool, watch));
    judge(solve(problem, spec, GramRows{K.data(), c.rows}, nullptr, options, pool, watch));
    judge(solve(problem, spec, X, dense.beta.data(), options, pool, watch));  // from its own answer

    auto nudged = dense.beta;  // control: the judge has teeth
    int moved = 0;
    for (std::size_t i = 0; i < nudged.size() && moved < 2; ++i) {
        const double g = c.sign[i] * nudged[i], top = problem.breakpoint(static_cast<Index>(i), problem.pieces());
        if (g > 0.1 && g < top - 0.1) nudged[i] += moved++ == 0 ? 0.05 : -0.05;
    }
    if (moved == 2) {
        ++controls;
        assert(violation(problem, K, nudged.data()) > std::max(2 * allowed, 1e-4));
    }
}

// A loss of its own for each row: the table has as many lines as there are rows.
void check_losses_per_row() {
    Case c = make_case(3, 200, 3, 2);
    c.losses = {2, {}, {}};
    Random random(8);
    for (Index i = 0; i < c.rows; ++i) {
        const double knot = 0.5 + random.uniform(), bend = 0.2 + random.uniform();
        c.losses.slopes.insert(c.losses.slopes.end(), {knot, knot - 0.1 - random.uniform()});
        c.losses.breakpoints.insert(c.losses.breakpoints.end(), {0.0, bend, bend + 0.2 + random.uniform()});
        c.kind[i] = static_cast<std::int32_t>(c.rows - 1 - i);
    }
    check(c, {KernelName::rbf, 0.5, 0, 3}, 1e-3, 1e-8, 1);
    Case twice = make_case(3, 200, 3, 2);  // the two losses of the classes, each written down a hundred times
    const Outcome by_class = [&] {
        ThreadPool pool(1);
        Watch watch;
        return solve(twice.problem(), {KernelName::rbf, 0.5, 0, 3}, twice.dense(), nullptr, {}, pool, watch);
    }();
    const LossTable two = twice.losses;
    twice.losses = {2, {}, {}};
    for (Index i = 0; i < twice.rows; ++i) {
        const Index k = twice.kind[i];
        twice.losses.slopes.insert(twice.losses.slopes.end(), two.slopes.begin() + 2 * k, two.slopes.begin() + 2 * k + 2);
        twice.losses.breakpoints.insert(twice.losses.breakpoints.end(), two.breakpoints.begin() + 3 * k,
                                        two.breakpoints.begin() + 3 * k + 3);
        twice.kind[i] = static_cast<std::int32_t>(i);
    }
    ThreadPool pool(1);
    Watch watch;
    assert(solve(twice.problem(), {KernelName::rbf, 0.5, 0, 3}, twice.dense(), nullptr, {}, pool, watch).beta == by_class.beta);
}

void check_limits() {
    Case c = make_case(5, 400, 3, 2);
    const Problem problem = c.problem();
    const KernelSpec spec{KernelName::rbf, 0.5, 0, 3};
    const DenseRows X = c.dense();
    ThreadPool pool(1);
    Options options;
    options.max_iterations = 3;
    Watch watch;
    assert(solve(problem, spec, X, nullptr, options, pool, watch).status == Status::iteration_limit);
    options.max_iterations = 1'000'000;
    Watch late({}, -1.0);
    assert(solve(problem, spec, X, nullptr, options, pool, late).status == Status::time_limit);
    options.tol = 1e-300;  // cannot be met: it must say so, not spin
    assert(solve(problem, spec, X, nullptr, options, pool, watch).status == Status::inaccurate);
}

// One class: all signs +1, a knot at 0, and coefficients that have a total. Far from the origin too, where the linear kernel
// must not be centred.
void check_totals() {
    std::uint64_t seed = 100;
    for (const KernelSpec spec : {KernelSpec{KernelName::linear, 1, 0, 3}, KernelSpec{KernelName::rbf, 0.5, 0, 3}})
        for (Index rows : {2, 60, 200, 1300})
            for (double share : {0.001, 0.1, 0.7, 1.0}) {
                Case c = make_case(seed++, rows, 3, 1);
                for (double& x : c.X) x += 5;
                std::fill(c.sign.begin(), c.sign.end(), std::int8_t(1));
                std::fill(c.kind.begin(), c.kind.end(), 0);
                c.losses = {1, {0.0}, {0.0, 1.0}};
                for (double w : c.weight) c.total += share * w;
                check(c, spec, 1e-3, rows > 1000 ? 2e-3 : 1e-7, 2);
            }
    Case c = make_case(7, 80, 3, 2);  // any other total, with both classes
    c.total = 0.5;
    check(c, {KernelName::rbf, 0.5, 0, 3}, 1e-3, 1e-8, 1);
    c.total = -0.5;
    check(c, {KernelName::rbf, 0.5, 0, 3}, 1e-3, 1e-8, 1);
}

// Pair steps stall where columns differ in scale and C is large: beyond the small problems too, the active set takes over.
void check_stalled() {
    Case c = make_case(11, 1100, 3, 2);
    for (Index i = 0; i < c.rows; ++i) {
        c.X[3 * i] *= 30;
        c.weight[i] *= 1e3;
    }
    Options options;
    options.max_iterations = 1'000'000;
    const KernelSpec spec{KernelName::linear, 1, 0, 3};
    const auto K = gram_of(spec, c);
    const Compressed s = compress(c);
    ThreadPool pool(2);
    for (const Rows& rows : {Rows(c.dense()), Rows(s.rows(c.features)), Rows(GramRows{K.data(), c.rows})}) {
        Watch watch;
        const Outcome outcome = solve(c.problem(), spec, rows, nullptr, options, pool, watch);
        assert(outcome.status == Status::converged && violation(c.problem(), K, outcome.beta.data()) < 2e-3);
    }
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
    check_losses_per_row();
    check_limits();
    check_stalled();
    check_totals();
    assert(controls > 10);
}
