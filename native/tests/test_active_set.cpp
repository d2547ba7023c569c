// The active set by itself, from the zero vector and from poor starts, judged by the optimality conditions.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "active_set.hpp"
#include "cases.hpp"
#include "gram_kernel.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

// Two clouds. `low_rank`: on a line through whole numbers, so that most rows depend on others; every fourth row twice.
Case make_case(std::uint64_t seed, Index rows, int pieces, bool low_rank) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = 2;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back(i < 2 ? static_cast<std::int8_t>(1 - 2 * i) : static_cast<std::int8_t>(random.uniform() < 0.5 ? 1 : -1));
        const double x = random.normal() + 0.5 * c.sign.back();
        const double point[] = {low_rank ? std::round(2 * x) : x, low_rank ? 0.0 : random.normal()};
        for (Index k = 0; k < 2; ++k) c.X.push_back(i % 4 == 3 ? c.X[(i - 1) * 2 + k] : point[k]);
        c.weight.push_back(i % 9 == 8 ? 0.0 : 0.5 + random.uniform());
    }
    give_losses(c, pieces, 0.6);
    return c;
}

Outcome at(const Problem& problem, const std::vector<double>& K, const std::vector<double>& beta) {
    Outcome outcome;
    for (Index i = 0; i < problem.size; ++i) {
        const Coordinate now = coordinate_at(problem, i, beta[i]);
        outcome.beta.push_back(now.beta);
        outcome.codes.push_back(now.code);
    }
    for (Index i = 0; i < problem.size; ++i) {
        double F = 0;
        for (Index j = 0; j < problem.size; ++j) F += K[i * problem.size + j] * outcome.beta[j];
        outcome.expansion.push_back(F);
    }
    return outcome;
}

// Pairs of rows of opposite sign moved off their breakpoints: feasible, and wrong.
std::vector<double> poor_start(const Case& c, Random& random) {
    std::vector<double> beta(c.rows, 0.0);
    Index up = -1, down = -1;
    for (Index i = 0; i < c.rows; ++i) {
        if (c.weight[i] == 0) continue;
        (c.sign[i] > 0 ? up : down) = i;
        if (up < 0 || down < 0) continue;
        beta[up] = 0.1 * random.uniform();
        beta[down] = -beta[up];
        up = down = -1;
    }
    return beta;
}

void check(const Case& c, const KernelSpec& spec, std::uint64_t seed) {
    const Problem problem = c.problem();
    const auto K = gram_of(spec, c);
    ThreadPool pool(1);
    Watch watch;
    GramKernel<double> kernel(K.data(), c.rows, c.rows, pool);
    kernel.activate(all_rows(c.rows));
    Random random(seed);
    for (const auto& beta : {std::vector<double>(c.rows, 0.0), poor_start(c, random)}) {
        const Outcome start = at(problem, K, beta);
        assert(c.rows < 5 || violation(problem, K, start.beta.data()) > 0.1);  // control: there is something to do
        Outcome outcome = start;
        assert(ActiveSet(problem, kernel, watch).run(outcome, 100 * c.rows + 100));
        const double worst = violation(problem, K, outcome.beta.data());
        if (!(worst < 1e-9))
            std::printf("kernel %d rows %ld pieces %d: %g\n", int(spec.name), long(c.rows), c.losses.pieces, worst);
        assert(worst < 1e-9 && outcome.violation < 1e-9);
        const Index changes = outcome.iterations;
        assert(ActiveSet(problem, kernel, watch).run(outcome, 3) && outcome.iterations <= changes + 2);  // its answer stays

        Outcome cut = start;
        if (changes > 2) assert(!ActiveSet(problem, kernel, watch).run(cut, 1) && cut.iterations <= 3);
        Watch late({}, -1.0);
        assert(!ActiveSet(problem, kernel, late).run(cut = start, 1000) && cut.beta == start.beta);
    }
}

// Knots times lambda over weights is the same machine as weights over lambda.
void check_lambda() {
    const Case c = make_case(4, 50, 2, false);
    const auto K = gram_of({KernelName::rbf, 0.5, 0, 3}, c);
    ThreadPool pool(1);
    Watch watch;
    GramKernel<double> kernel(K.data(), c.rows, c.rows, pool);
    kernel.activate(all_rows(c.rows));
    const double C = 5;
    Outcome gamma = at(c.problem(), K, std::vector<double>(c.rows, 0.0));
    assert(ActiveSet(c.problem(), kernel, watch, 1 / C).run(gamma, 10000));
    Case scaled = c;
    for (double& w : scaled.weight) w *= C;
    Outcome beta = at(scaled.problem(), K, std::vector<double>(c.rows, 0.0));
    assert(ActiveSet(scaled.problem(), kernel, watch).run(beta, 10000));
    for (Index i = 0; i < c.rows; ++i) assert(std::abs(beta.beta[i] - C * gamma.beta[i]) < 1e-8);
    assert(std::abs(beta.bias - C * gamma.bias) < 1e-8);
}

// Weights over many decades, and columns of very different scale, make the system's two solutions cancel: the coefficients
// must still add up to 0.
void check_sum() {
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        Case c = make_case(seed, 6 + static_cast<Index>(seed % 30), 2, false);
        const double scale = std::pow(10, std::floor(16 * random.uniform()) - 8);
        for (Index i = 0; i < c.rows; ++i) {
            if (seed % 2) c.X[2 * i + 1] *= scale;
            c.weight[i] = seed % 2 ? 1e6 : std::pow(10, std::floor(16 * random.uniform()) - 14);
        }
        const auto K = gram_of({seed % 3 ? KernelName::linear : KernelName::rbf, 0.1, 0, 3}, c);
        ThreadPool pool(1);
        Watch watch;
        GramKernel<double> kernel(K.data(), c.rows, c.rows, pool);
        kernel.activate(all_rows(c.rows));
        Outcome outcome = at(c.problem(), K, std::vector<double>(c.rows, 0.0));
        if (!ActiveSet(c.problem(), kernel, watch).run(outcome, 100 * c.rows)) continue;
        double sum = 0, size = 0;
        for (double beta : outcome.beta) sum += beta, size += std::abs(beta);
        worst = std::max(worst, std::abs(sum) / size);
    }
    if (!(worst < 1e-13)) std::printf("the coefficients add up to %g of their size\n", worst);
    assert(worst < 1e-13);
}

}  // namespace

int main() {
    std::uint64_t seed = 1;
    for (const KernelSpec spec : {KernelSpec{KernelName::linear, 1, 0, 3}, KernelSpec{KernelName::rbf, 0.5, 0, 3}})
        for (const int pieces : {1, 2, 3})
            for (const Index rows : {2, 7, 40, 90})
                for (const bool low_rank : {false, true}) {
                    check(make_case(seed, rows, pieces, low_rank), spec, seed);
                    ++seed;
                }
    check_lambda();
    check_sum();
}
