#include "embedded/recovery.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double golden = 0.6180339887498949;

// The lowest of f on [low, high] if it has one minimum there.
template <class F> void golden_section(double low, double high, int steps, F&& f) {
    double a = high - golden * (high - low), b = low + golden * (high - low), at_a = f(a), at_b = f(b);
    for (int step = 0; step < steps; ++step) {
        if (at_a <= at_b) high = b, b = a, at_b = at_a, a = high - golden * (high - low), at_a = f(a);
        else low = a, a = b, at_a = at_b, b = low + golden * (high - low), at_b = f(b);
    }
}

// The sum over rows of g_eps(t), exactly, at one eps.
class ExactSum {
  public:
    ExactSum(const EmbeddedLoss& loss, const std::vector<double>& multipliers, Watch& watch) : loss_(loss), watch_(watch) {
        for (double t : multipliers)
            if (t > 0) t_.push_back(t);
        resting_ = static_cast<double>(multipliers.size() - t_.size());
    }
    double operator()(double eps) const {
        double sum = resting_ * inner_minimum(loss_, eps, 0.0).value;
        for (double t : t_) sum += inner_minimum(loss_, eps, t).value;
        watch_.look();
        return sum;
    }

  private:
    EmbeddedLoss loss_;
    Watch& watch_;
    std::vector<double> t_;
    double resting_;
};

std::pair<double, double> least_over_eps(const EmbeddedLoss& loss, const DualOutcome& dual, Watch& watch) {
    const ExactSum exact(loss, dual.multipliers, watch);
    const std::vector<double>&grid = dual.eps_grid, &sums = dual.sums;
    const double lowest = *std::min_element(sums.begin(), sums.end());
    std::pair<double, double> best{infinity, 0};
    const auto consider = [&](double eps) {
        const double sum = exact(eps);
        if (sum < best.first) best = {sum, eps};
        return sum;
    };
    for (std::size_t e = 0; e < grid.size(); ++e) {
        const double before = e > 0 ? sums[e - 1] : infinity, after = e + 1 < grid.size() ? sums[e + 1] : infinity;
        if (sums[e] > before || sums[e] > after || sums[e] > lowest + 5e-3 * std::abs(lowest)) continue;
        consider(grid[e]);  // then two values either way: the table's error may have moved the least by one
        golden_section(grid[e > 1 ? e - 2 : 0], grid[std::min(e + 2, grid.size() - 1)], 14, consider);
    }
    return best;
}

// F / C as a function of b and eps alone: the rows' one feature is their score, its weight 1.
class Offset {
  public:
    Offset(const EmbeddedRows& rows, const EmbeddedLoss& loss, const std::vector<double>& scores)
        : loss_(loss), objective_({scores.data(), rows.sign, &nothing_, rows.rows, 1}, loss.reject_cost >= 0.5) {}

    double operator()(double b, double eps) {
        point_ = {1.0, b, eps};
        const double value = objective_(loss_, point_, gradient_);
        if (value < best) best = value, best_b = b, best_eps = eps;
        return value;
    }

    double best = infinity, best_b = 0, best_eps = 0;

  private:
    double nothing_ = 0;
    EmbeddedLoss loss_;
    EmbeddedObjective objective_;
    Point point_ = Point(3), gradient_ = Point(3);
};

void find_offset(Offset& offset, const std::vector<double>& scores, const std::vector<double>& eps_candidates, Watch& watch) {
    constexpr int grid = 100, rounds = 4, steps = 24;
    const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
    const double from = -*highest - 1, width = (*highest - *lowest + 2) / grid;
    for (double eps : eps_candidates)
        for (int k = 0; k <= grid; ++k) offset(from + k * width, eps), watch.look();
    for (int round = 0; round < rounds; ++round) {
        const double b = offset.best_b, eps = offset.best_eps;
        golden_section(b - width, b + width, steps, [&](double at) { return offset(at, eps); });
        if (eps_candidates.size() < 2) continue;
        golden_section(std::max(eps - 0.05, 0.0), std::min(eps + 0.05, 1.0), steps,
                       [&](double at) { return offset(offset.best_b, at); });
    }
}

}  // namespace

Recovered recover(const EmbeddedRows& rows, const EmbeddedLoss& loss, const DualOutcome& dual, Watch& watch) {
    const std::size_t n = rows.rows, d = rows.features;
    Recovered found;
    found.point.assign(d + 2, 0.0);
    std::vector<double> scores(n);
    double squares = 0, linear = 0;
    for (std::size_t i = 0; i < n; ++i) {
        linear += dual.multipliers[i];
        lanes<double>().add(found.point.data(), rows.z + i * d, dual.multipliers[i] * rows.sign[i], rows.features);
    }
    for (std::size_t k = 0; k < d; ++k) {
        squares += found.point[k] * found.point[k] / rows.penalty[k];
        found.point[k] /= rows.penalty[k];
    }
    for (std::size_t i = 0; i < n; ++i) scores[i] = lanes<double>().dot(rows.z + i * d, found.point.data(), rows.features);
    const auto [sum, eps] = least_over_eps(loss, dual, watch);
    found.bound = linear - squares / 2 + sum;
    Offset offset(rows, loss, scores);
    std::vector<double> candidates{0.0};
    if (loss.reject_cost < 0.5) {
        candidates.push_back(eps);
        for (int k = 1; k <= 20; ++k) candidates.push_back(k / 20.0);
    }
    find_offset(offset, scores, candidates, watch);
    found.point[d] = offset.best_b;
    found.point[d + 1] = offset.best_eps;
    found.value = squares / 2 + offset.best;
    return found;
}

}  // namespace abstain
