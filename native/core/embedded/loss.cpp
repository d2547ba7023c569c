#include "embedded/loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "elementary.hpp"
#include "embedded/policy.hpp"

namespace abstain {

namespace {

using policy::embedded::reach;

double sigmoid(double t) { return 1 / (1 + elementary::exp(-std::clamp(t, -reach, reach))); }

// dh''/dxi and d2h''/dxi2.
std::pair<double, double> slopes(const EmbeddedLoss& loss, double xi, double eps) {
    double slope = 2 * loss.slack_penalty * xi, bend = 2 * loss.slack_penalty;
    const auto step = [&](double height, double u) {
        const double S = sigmoid(loss.steepness * u), first = height * loss.steepness * (S - S * S);
        slope += first;
        bend += first * loss.steepness * (1 - 2 * S);
    };
    step(loss.margin_cost, xi);
    step(loss.reject_cost - loss.margin_cost, xi - 1 + eps);
    step(1 - loss.reject_cost, xi - 1 - eps);
    return {slope, bend};
}

}  // namespace

double EmbeddedLoss::value(double xi, double eps) const {
    return margin_cost * sigmoid(steepness * xi) + (reject_cost - margin_cost) * sigmoid(steepness * (xi - 1 + eps)) +
           (1 - reject_cost) * sigmoid(steepness * (xi - 1 - eps)) + slack_penalty * xi * xi;
}

double EmbeddedLoss::by_slack(double xi, double eps) const { return slopes(*this, xi, eps).first; }
double EmbeddedLoss::bend(double xi, double eps) const { return slopes(*this, xi, eps).second; }

// The three slopes and 2 a xi all rise with xi left of 0, so dh''/dxi has one zero there: Newton's step, halving where
// it leaves the bracket.
double EmbeddedLoss::least_slack(double eps, double guess) const {
    double low = -reach / steepness, high = 0;
    if (by_slack(low, eps) >= 0) return low;
    double xi = guess > low && guess < 0 ? guess : low / 8;
    for (int step = 0; step < 100; ++step) {
        const auto [slope, bend] = slopes(*this, xi, eps);
        (slope < 0 ? low : high) = xi;
        const double next = xi - slope / bend;
        if (std::abs(next - xi) <= policy::embedded::slack_settled * -xi) return next;
        xi = next > low && next < high ? next : low + (high - low) / 2;
    }
    return xi;
}

}  // namespace abstain
