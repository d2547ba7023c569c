#include "embedded/inner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "embedded/policy.hpp"

namespace abstain {

namespace {

using policy::embedded::reach, policy::embedded::rise, policy::embedded::spacing;

double inner(const EmbeddedLoss& loss, double eps, double t, double xi) { return loss.value(xi, eps) - t * xi; }

// Newton's steps, none longer than 1 / s, kept while they lower the value.
InnerMinimum refined(const EmbeddedLoss& loss, double eps, double t, double xi) {
    InnerMinimum best{inner(loss, eps, t, xi), xi};
    for (int step = 0; step < policy::embedded::inner_steps; ++step) {
        const double slope = loss.by_slack(xi, eps) - t, bend = loss.bend(xi, eps), most = 1 / loss.steepness;
        const double move = bend > 0 ? -slope / bend : (slope > 0 ? -most : most);
        xi += std::clamp(move, -most, most);
        const double value = inner(loss, eps, t, xi);
        if (!(value < best.value)) break;
        const bool settled = best.value - value < policy::embedded::inner_settled * std::abs(value);
        best = {value, xi};
        if (settled) break;
    }
    return best;
}

// Slacks among which some is near every minimum: fine below each step, coarse on the flats between.
std::vector<double> samples(const EmbeddedLoss& loss, double eps) {
    const double s = loss.steepness, steps[] = {0, 1 - eps, 1 + eps};
    std::vector<double> xi;
    for (double at : steps)
        for (double u = -reach; u < rise; u += u < -12 ? 10 * spacing : spacing) xi.push_back(at + u / s);
    const double end = steps[2] + rise / s;
    for (double u = 0; u < end; u += end / 200) xi.push_back(u);
    xi.push_back(end);
    std::sort(xi.begin(), xi.end());
    return xi;
}

}  // namespace

InnerMinimum inner_minimum(const EmbeddedLoss& loss, double eps, double t) {
    const double s = loss.steepness, starts[] = {0, 1 - eps, 1 + eps};
    double from[4], value[4], lowest = value[3] = inner(loss, eps, t, from[3] = t / (2 * loss.slack_penalty));
    for (int k = 0; k < 3; ++k) {
        value[k] = std::numeric_limits<double>::infinity();
        for (double u : {0.5, 1.5, 2.5, 4.0, 6.0, 8.0, 11.0, 15.0}) {
            const double xi = starts[k] - u / s, at = inner(loss, eps, t, xi);
            if (at < value[k]) value[k] = at, from[k] = xi;
        }
        lowest = std::min(lowest, value[k]);
    }
    InnerMinimum best{std::numeric_limits<double>::infinity(), 0};
    for (int k = 0; k < 4; ++k) {
        if (value[k] > lowest + policy::embedded::inner_start_worth * (1 + t)) continue;
        const InnerMinimum found = refined(loss, eps, t, from[k]);
        if (found.value < best.value) best = found;
    }
    return best;
}

std::vector<double> eps_grid(const EmbeddedLoss& loss) {
    const double width = std::clamp(1 / loss.steepness, 0.005, 0.01);
    std::vector<double> eps;
    for (double at = 0; at < 1 - width / 2; at += at < 4 * width ? width / 5 : width) eps.push_back(at);
    eps.push_back(1);
    return eps;
}

InnerTable::InnerTable(const EmbeddedLoss& loss, const std::vector<double>& eps, Index t_values, double top)
    : eps_values_(std::ssize(eps)), stride_((eps_values_ + 7) / 8 * 8), t_values_(t_values), top_(top),
      step_(top / static_cast<double>(t_values - 1)) {
    values_.assign(stride_ * t_values_, 0.0);
    std::vector<std::pair<double, double>> hull;  // (xi, h''), convex from below
    for (Index e = 0; e < eps_values_; ++e) {
        const double eps_value = eps[e];
        hull.clear();
        for (double xi : samples(loss, eps_value)) {
            const std::pair<double, double> p{xi, loss.value(xi, eps_value)};
            const auto above = [&] {  // the last point lies on or above the line from the one before it to p
                const auto& [x0, y0] = hull[hull.size() - 2];
                const auto& [x1, y1] = hull.back();
                return (y1 - y0) * (p.first - x0) >= (p.second - y0) * (x1 - x0);
            };
            while (hull.size() > 1 && above()) hull.pop_back();
            hull.push_back(p);
        }
        std::size_t at = 0;
        for (Index k = 0; k < t_values_; ++k) {
            const double t = step_ * static_cast<double>(k);
            const auto value = [&](std::size_t i) { return hull[i].second - t * hull[i].first; };
            while (at + 1 < hull.size() && value(at + 1) <= value(at)) ++at;
            // beyond the last step the loss is 1 + a xi^2
            const double xi = std::max(t / (2 * loss.slack_penalty), hull.back().first);
            const double beyond = 1 + loss.slack_penalty * xi * xi - t * xi;
            values_[k * stride_ + e] = std::min(value(at), beyond);
        }
    }
    for (Index k = 0; k < t_values_; ++k)
        for (Index e = eps_values_; e < stride_; ++e) values_[k * stride_ + e] = 1e9;
}

InnerTable::Place InnerTable::place(double t) const {
    const double at = t / step_;
    const Index k = std::clamp<Index>(static_cast<Index>(at), 0, t_values_ - 2);
    const double* row = values_.data() + k * stride_;
    return {row, row + stride_, at - static_cast<double>(k)};
}

Index InnerTable::cell(double t, int side) const {
    const double at = t / step_, near = policy::embedded::on_border;
    const Index k = side > 0 ? static_cast<Index>(at + near) : static_cast<Index>(std::ceil(at - near)) - 1;
    return std::clamp<Index>(k, 0, t_values_ - 2);
}

}  // namespace abstain
