// Certificates of known solutions: two rows, whose optimum is known in closed form, and steps away from it.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

#include "part_certificate.hpp"

using namespace abstain;

namespace {

// Rows of either sign, of equal losses, with k(x, x) = 1 and k(x_0, x_1) = 0: F = beta. With beta = (b, -b) and bias 0 each has
// the margin b. The hinge: primal = b^2 + 2 w max(0, 1 - b), dual = 2 b - b^2 up to b = w.
struct Case {
    std::int8_t sign[2] = {1, -1};
    std::int32_t kind[2] = {0, 0};
    double weight[2];
    LossTable losses;

    Case(double w, LossTable table) : weight{w, w}, losses(std::move(table)) {}
    PartCertificate at(double first, double second) const {
        const Problem problem{2, sign, weight, kind, &losses};
        const double beta[] = {first, second};
        return certify(problem, beta, beta, {1, 0});
    }
};
const LossTable hinge{1, {1}, {0, 1}}, two_knots{2, {1, -0.5}, {0, 0.25, 1}};

void near(double a, double b) { assert(std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b))); }

void test_hinge() {
    const Case wide(3, hinge);
    for (const double b : {0.0, 0.4, 1.0, 2.0, 3.0}) {
        const PartCertificate found = wide.at(b, -b);
        near(found.primal, b * b + 6 * std::max(0.0, 1 - b));
        near(found.dual, 2 * b - b * b);
        near(found.gap, found.primal - found.dual);
        near(found.relative_gap * found.primal, found.gap);
        near(found.violation, b < 1 ? 2 - 2 * b : b == 1 ? 0 : 2 * b - 2);
        near(found.bias, 0);
        assert(found.feasible && found.hidden >= 0 && found.hidden < 1e-13);
    }
    const PartCertificate best = Case(0.5, hinge).at(0.5, -0.5);  // on the last breakpoint
    near(best.gap, 0);
    near(best.primal, 0.25 + 2 * 0.5 * 0.5);
    assert(best.violation < 0 || best.violation == 0);
}

// loss(z) = w (0.25 |1 - z|_+ + 0.75 |-0.5 - z|_+), phi = g up to w / 4, then -g / 2.
void test_two_knots() {
    const Case c(2, two_knots);
    for (const double b : {0.1, 0.5, 0.8}) {
        const PartCertificate found = c.at(b, -b);
        near(found.primal, b * b + 2 * 2 * 0.25 * (1 - b));
        near(found.dual, 2 * (std::min(b, 0.5) - 0.5 * std::max(0.0, b - 0.5)) - b * b);
        near(found.gap, found.primal - found.dual);
        near(found.violation, b < 0.5 ? 2 * (1 - b) : b > 0.5 ? 2 * (b + 0.5) : 0);
    }
}

void test_what_is_infeasible_shows() {
    const Case c(3, hinge);
    const PartCertificate outside = c.at(3.5, -3.5), negative = c.at(-0.1, 0.1), unbalanced = c.at(1, -0.9);
    assert(!outside.feasible && !negative.feasible && !unbalanced.feasible);
    assert(outside.violation >= 0.5 / 3 && negative.violation >= 0.1 / 3 && unbalanced.violation >= 0.1 / 3);
    assert(c.at(1, -1 + 1e-12).feasible);
    for (const double b : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e200}) {
        const PartCertificate found = c.at(b, -b);
        assert(!found.feasible && !(found.relative_gap <= 1e-2));
    }
}

void test_rows_of_weight_0_never_move() {
    Case c(3, hinge);
    c.weight[1] = 0;
    const PartCertificate found = c.at(0, 0);
    assert(found.feasible && found.relative_gap <= 1);
    assert(!(found.violation > 0));
}

}  // namespace

int main() {
    test_hinge();
    test_two_knots();
    test_what_is_infeasible_shows();
    test_rows_of_weight_0_never_move();
    std::puts("ok");
}
