#include "certificate.hpp"

#include <cmath>

#include "bias.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A sum with what its steps have rounded away (Neumaier).
struct Sum {
    double value = 0, lost = 0;

    void add(double x) {
        const double next = value + x;
        lost += std::abs(value) >= std::abs(x) ? (value - next) + x : (x - next) + value;
        value = next;
    }
    double total() const { return std::isfinite(lost) ? value + lost : value; }  // not after an overflow
};

// sqrt(sum_i x_i^2); where squares overflow the sum of |x_i|, which is no less.
struct Length {
    double squares = 0, sizes = 0;

    void add(double x) { squares += x * x, sizes += std::abs(x); }
    double total() const { return squares < infinity ? std::sqrt(squares) : sizes; }
};

double loss(const Problem& problem, Index i, double z) {
    double value = 0;
    for (int k = 0; k < problem.pieces(); ++k)
        if (const double below = problem.slope(i, k) - z; !(below <= 0))
            value += (problem.breakpoint(i, k + 1) - problem.breakpoint(i, k)) * below;
    return value;
}

// The slopes of phi to the left and to the right of g; beyond its ends they are infinite.
std::pair<double, double> slopes_at(const Problem& problem, Index i, double g) {
    const int K = problem.pieces();
    const double slack = rounding_of_breakpoint * problem.breakpoint(i, K);
    double right = problem.slope(i, 0), left = g <= slack ? infinity : right;
    for (int k = 1; k <= K; ++k) {
        const double at = problem.breakpoint(i, k);
        if (at <= g + slack) right = k < K ? problem.slope(i, k) : -infinity;
        if (k < K && at < g - slack) left = problem.slope(i, k);
    }
    return {left, right};
}

}  // namespace

Measures measured(const Problem& problem, const double* beta, const double* F, double bias, double lift) {
    if (std::isnan(bias)) bias = best_bias(problem, {F, F + problem.size});
    bias += lift * std::abs(bias);
    Sum norm, losses, duals, gap, sum;
    Length length, reach;
    double up = -infinity, down = infinity, outside = 0, top = 0, room = infinity;
    for (Index i = 0; i < problem.size; ++i) {
        const double g = problem.sign[i] * beta[i], f = F[i] + bias, most = problem.breakpoint(i, problem.pieces());
        const double lost = loss(problem, i, problem.sign[i] * f), phi = problem.phi(i, g);
        norm.add(beta[i] * F[i]);
        losses.add(lost);
        duals.add(phi);
        gap.add(std::abs(lost + beta[i] * f - phi));
        sum.add(beta[i]);
        length.add(beta[i]);
        reach.add(most + std::abs(beta[i]));
        const auto [left, right] = slopes_at(problem, i, g);
        up = std::max(up, (problem.sign[i] > 0 ? right : -left) - F[i]);
        down = std::min(down, (problem.sign[i] > 0 ? left : -right) - F[i]);
        outside = std::max({outside, -g, g - most});
        top = std::max(top, most);
        if (g > 0) room = std::min(room, problem.breakpoint(i, 1) / g);
    }
    const double half = 0.5 * norm.total(), excess = sum.total() - problem.total;
    return {bias, half + losses.total() + problem.total * bias, duals.total() - half,
            gap.total() + std::abs(bias * excess), std::max(0.0, up - down), outside, excess,
            length.sizes, length.total(), reach.total(), top, room};
}

std::optional<std::vector<double>> made_feasible(const Problem& problem, const double* beta) {
    const Index n = problem.size;
    std::vector<double> g(n);
    double largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(beta[i]));
    bool changed = false, clipped = false;
    Sum classes[2];  // of the negative class, and of the positive one
    const auto most = [&](Index i) { return problem.breakpoint(i, problem.pieces()); };
    for (Index i = 0; i < n; ++i) {
        const double size = std::abs(beta[i]);
        const bool left = size <= rounded_coefficient * largest && size < most(i) && size > 0;
        const double given = left ? 0 : problem.sign[i] * beta[i];
        g[i] = std::min(std::max(given, 0.0), most(i));
        changed |= left;
        clipped |= g[i] != given;
        classes[problem.sign[i] > 0].add(g[i]);
    }
    const double sums[2] = {classes[0].total(), classes[1].total()};
    const double missing = problem.total - (sums[1] - sums[0]), both = sums[0] + sums[1];
    const bool balanced = std::abs(missing) <= (problem.total != 0 ? 1.0 : 0.5) * unbalanced * both;
    if (balanced && !clipped && !changed) return std::nullopt;
    if (!balanced || clipped) {
        double room = 0;
        const auto rises = [&](Index i) { return problem.sign[i] * missing > 0; };
        for (Index i = 0; i < n; ++i) room += rises(i) ? most(i) - g[i] : g[i];
        const double share = std::min(1.0, std::abs(missing) / std::max(room, std::numeric_limits<double>::min()));
        const double least = std::min(sums[0], sums[1]);
        for (Index i = 0; i < n; ++i) {
            const double own = sums[problem.sign[i] > 0];
            if (problem.total == 0) g[i] *= least / (own != 0 ? own : 1.0);
            else if (missing != 0) g[i] = std::clamp(g[i] + (rises(i) ? share * (most(i) - g[i]) : -share * g[i]), 0.0, most(i));
        }
    }
    for (Index i = 0; i < n; ++i) g[i] *= problem.sign[i];
    return g;
}

}  // namespace abstain
