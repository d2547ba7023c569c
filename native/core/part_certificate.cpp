#include "part_certificate.hpp"

#include <cmath>
#include <limits>

#include "bias.hpp"

namespace abstain {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double on_breakpoint = 1e-12;  // the share of the largest coefficient by which one on a breakpoint may miss it
constexpr double balanced = 0.5e-10;     // the share of all coefficients that rounding may leave of their sum

// w loss(z) = sum_k w (u_(k+1) - u_k) |t_k - z|_+
double loss(const Problem& problem, Index i, double z) {
    double sum = 0;
    for (int k = 0; k < problem.pieces(); ++k)
        sum += (problem.breakpoint(i, k + 1) - problem.breakpoint(i, k)) * std::max(problem.slope(i, k) - z, 0.0);
    return sum;
}

// phi'(g+) and phi'(g-).
struct Slopes {
    double right, left;
};
Slopes slopes_at(const Problem& problem, Index i, double g, double top) {
    const double slack = on_breakpoint * top;
    Slopes at{problem.slope(i, 0), g <= slack ? infinite : problem.slope(i, 0)};
    for (int k = 1; k <= problem.pieces(); ++k) {
        const double u = problem.breakpoint(i, k), next = k < problem.pieces() ? problem.slope(i, k) : -infinite;
        if (u <= g + slack) at.right = next;
        if (u < g - slack && k < problem.pieces()) at.left = next;
    }
    return at;
}

}  // namespace

PartCertificate certify(const Problem& problem, const double* beta, const double* F, const KernelSize& size) {
    constexpr double least = std::numeric_limits<double>::min(), eps = std::numeric_limits<double>::epsilon();
    const double bias = best_bias(problem, {F, F + problem.size});
    double half_norm = 0, losses = 0, duals = 0, gap = 0, excess = 0, sum = 0, outside = 0, largest = 0;
    double squares = 0, reach = 0, knot = 0, highest = -infinite, lowest = infinite;
    for (Index i = 0; i < problem.size; ++i) {
        const double b = beta[i], y = problem.sign[i], g = y * b, f = F[i] + bias, top = problem.breakpoint(i, problem.pieces());
        const double lost = loss(problem, i, y * f), phi = problem.phi(i, g);
        half_norm += 0.5 * b * F[i];
        losses += lost;
        duals += phi;
        gap += std::abs(lost + b * f - phi);
        excess += b;
        sum += std::abs(b);
        squares += b * b;
        reach += (top + std::abs(b)) * (top + std::abs(b));
        outside = std::max({outside, -g, g - top});
        largest = std::max(largest, top);
        const Slopes slopes = slopes_at(problem, i, g, top);
        highest = std::max(highest, (y > 0 ? slopes.right : -slopes.left) - F[i]);
        lowest = std::min(lowest, (y > 0 ? slopes.left : -slopes.right) - F[i]);
    }
    for (const double t : problem.losses->slopes) knot = std::max(knot, std::abs(t));
    PartCertificate found{bias, half_norm + losses, duals - half_norm, gap + std::abs(bias * excess), 0, 0, 0, false};
    const double scale = std::max(std::abs(found.primal), least);
    found.relative_gap = found.gap / scale;
    if (!std::isfinite(found.relative_gap)) found.relative_gap = std::numeric_limits<double>::max();
    found.violation = std::max(highest - lowest, std::max(outside, std::abs(excess)) / std::max(largest, least));
    const double error = size.root * size.root * eps * ((1 + 2 * size.exponent) * std::sqrt(squares) + 0.5 * sum) + 0.1 * eps * knot;
    found.hidden = 10 * error * std::sqrt(reach) / scale;
    found.feasible = outside == 0 && std::abs(excess) <= balanced * sum;
    return found;
}

}  // namespace abstain
