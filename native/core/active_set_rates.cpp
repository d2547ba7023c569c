// How the rows between breakpoints, T, the bias and F move with lambda: for the path.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "active_set.hpp"
#include "policy.hpp"

namespace abstain {

// The factor of an ill-conditioned K' leaves an error in the rates. F, computed from the kernel, shows it: it is solved for
// again until the knots are met.
ActiveSet::Rates ActiveSet::rates() const {
    Rates rates;
    rates.F.assign(F_.size(), 0.0);
    if (inside_.empty()) return rates;
    const std::size_t m = inside_.size();
    rates.beta.assign(m, 0.0);
    std::vector<double> ones(m, 1.0), missing(m), change(m);
    for (std::size_t t = 0; t < m; ++t) missing[t] = problem_.up(inside_[t], state_[inside_[t]].code);
    for (int round = 0; round <= policy::refinements; ++round) {
        change = missing;
        if (round == 0) factor_.solve(change.data(), ones.data());
        else factor_.solve(change.data());
        const double sum = std::accumulate(rates.beta.begin(), rates.beta.end(), 0.0);
        const double unit = std::accumulate(ones.begin(), ones.end(), 0.0);
        const double bias = (std::accumulate(change.begin(), change.end(), 0.0) + sum) / unit;
        for (std::size_t t = 0; t < m; ++t) change[t] -= bias * ones[t];
        add_up_to(-sum, change, ones);
        for (std::size_t t = 0; t < m; ++t) rates.beta[t] += change[t];
        rates.bias += bias - constant_ * sum;  // K' change = K change - constant * sum
        kernel_.accumulate({inside_, change}, rates.F.data());
        double worst = 0;
        for (std::size_t t = 0; t < m; ++t) {
            missing[t] = problem_.up(inside_[t], state_[inside_[t]].code) - rates.F[inside_[t]] - rates.bias;
            worst = std::max(worst, std::abs(missing[t]));
        }
        rates.off = !(worst <= policy::rates_off * largest_knot_);
        if (!rates.off) break;
    }
    return rates;
}

// A bias that shrinks with lambda would keep the rounding of when it was large.
void ActiveSet::lower_lambda(const Rates& rates, double step) {
    lambda_ -= step;
    for (std::size_t t = 0; t < inside_.size(); ++t) state_[inside_[t]].beta -= step * rates.beta[t];
    for (Index i = 0; i < problem_.size; ++i) F_[i] -= step * rates.F[i];
    take_bias_from_knots();
}

// Each row counts by the digits that its F has.
void ActiveSet::take_bias_from_knots() {
    double sum = 0, weights = 0;
    for (Index t : inside_) {
        const double weight = 1 / rounding(t);
        sum += weight * (target(t) - F_[t]);
        weights += weight;
    }
    bias_ = weights > 0 ? sum / weights : 0;
}

}  // namespace abstain
