// Certificates against an optimum worked by hand; feasible coefficients; rows that bounds leave unsure.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "certificate.hpp"
#include "random.hpp"
#include "unsure.hpp"

using namespace abstain;
using abstain::testing::Random;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); }

// The hinge on two rows x = -1 and x = 1 with the linear kernel: beta = (-1/2, 1/2), F = x, both margins 1.
void test_by_hand() {
    const LossTable hinge{1, {1, 1}, {0, 1, 0, 1}};
    const std::int8_t sign[] = {-1, 1};
    const double weight[] = {2, 2}, beta[] = {-0.5, 0.5}, F[] = {-1, 1};
    const std::int32_t kind[] = {0, 1};
    const Problem problem{2, sign, weight, kind, &hinge, 0};
    const Measures best = measured(problem, beta, F, nan, 0);
    assert(near(best.bias, 0) && near(best.primal, 0.5) && near(best.dual, 0.5) && near(best.gap, 0));
    assert(best.pairs == 0 && best.outside == 0 && best.excess == 0 && best.top == 2 && best.room == 4);
    assert(near(best.size, 1) && near(best.length, std::sqrt(0.5)) && near(best.reach, 2.5 * std::sqrt(2.0)));
    const Measures moved = measured(problem, beta, F, 0.25, 1);  // lifted to 0.5: the negative row has a loss of 2 (1 - 0.5)
    assert(near(moved.bias, 0.5) && near(moved.primal, 1.5) && near(moved.gap, 1.0));
    assert(!made_feasible(problem, beta));
    const double off[] = {-3, 1.5}, rounded[] = {-0.5, 0.5 + 1e-14};
    assert(*made_feasible(problem, off) == std::vector<double>({-1.5, 1.5}));
    assert(!made_feasible(problem, rounded));
    const double infinite[] = {-std::numeric_limits<double>::infinity(), 1};
    assert(!std::isfinite(measured(problem, beta, infinite, 0, 0).gap));
}

// Rows are unsure if a residual or the distance says so, computed here in double, and few others are.
void test_unsure() {
    constexpr Index n = 1000, d = 5, m = 6;
    Random random(3);
    std::vector<double> X = random.normals(n * d), residuals(d * d, 0.0), middles = random.normals(m * d);
    for (Index j = 0; j + 1 < d; ++j)
        for (Index k = 0; k + 1 < d; ++k) residuals[j * d + k] = random.normal();
    residuals[d * d - 1] = 2;  // the last column by itself
    for (Index i = 0; i < m; ++i) middles[i * d + d - 1] = 0;
    std::vector<double> centre = random.normals(d), spread(d, 0.5), coef(m, 0.3);
    X[7 * d + 1] = nan;
    X[9 * d + 4] = 1e300;
    const Bounds bounds{centre.data(), spread.data(), {residuals.data(), d, d}, 9, {middles.data(), m, d}, coef.data(), 0.2, 0.02, 3};
    const std::vector<Index> unsure = unsure_rows({X.data(), n, d}, bounds);
    Index next = 0, spared = 0;
    for (Index i = 0; i < n; ++i) {
        double largest = 0, near = 0, z[d];
        for (Index k = 0; k < d; ++k) z[k] = (X[i * d + k] - centre[k]) / spread[k];
        for (Index j = 0; j < d; ++j) {
            double r = 0;
            for (Index k = 0; k < d; ++k) r += residuals[j * d + k] * z[k];
            largest = largest >= std::abs(r) ? largest : std::abs(r);
        }
        for (Index c = 0; c < m; ++c) {
            double distance = 0;
            for (Index k = 0; k < d; ++k) distance += std::pow(middles[c * d + k] - std::min(std::max(z[k], -3.0), 3.0), 2);
            near += coef[c] * std::exp(-0.2 * distance);
        }
        const bool found = next < std::ssize(unsure) && unsure[next] == i;
        next += found;
        if (!(largest < 9 && near > 0.02)) assert(found);
        else if (largest < 9 * (1 - 1e-4) && near > 0.02 * (1 + 1e-3)) assert(!found), ++spared;
    }
    assert(next == std::ssize(unsure) && next > 10 && spared > 100);
}

}  // namespace

int main() {
    test_by_hand();
    test_unsure();
    std::puts("certificate: ok");
}
