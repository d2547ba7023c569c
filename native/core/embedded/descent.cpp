#include "embedded/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "embedded/policy.hpp"

namespace abstain {

namespace {

double dot(const Point& a, const Point& b) { return lanes<double>().dot(a.data(), b.data(), static_cast<long>(a.size())); }

}  // namespace

Descender::Descender(EmbeddedObjective& objective, Watch& watch, Index most) : objective_(objective), watch_(watch), most_(most) {
    const Point zero(objective.size());
    gradient_ = direction_ = trial_ = trial_gradient_ = zero;
    pairs_.assign(memory, {zero, zero, 0.0});
}

bool Descender::held(const Point& point) const {
    const double eps = point.back(), by_eps = gradient_.back();
    return objective_.fixed_eps() || (eps <= 0 && by_eps >= 0) || (eps >= 1 && by_eps <= 0);
}

double Descender::direction(bool hold) {
    direction_ = gradient_;
    if (hold) direction_.back() = 0;
    double alpha[memory];
    for (std::size_t k = 0; k < count_; ++k) {
        const Pair& pair = pairs_[(newest_ + memory - k) % memory];
        alpha[k] = pair.inverse * dot(pair.step, direction_);
        lanes<double>().add(direction_.data(), pair.change.data(), -alpha[k], static_cast<long>(direction_.size()));
    }
    const Pair& last = pairs_[newest_];
    const double scale =
        count_ ? 1 / (last.inverse * dot(last.change, last.change)) : 1 / std::max(1.0, std::sqrt(dot(gradient_, gradient_)));
    for (double& p : direction_) p *= scale;
    for (std::size_t k = count_; k-- > 0;) {
        const Pair& pair = pairs_[(newest_ + memory - k) % memory];
        const double beta = pair.inverse * dot(pair.change, direction_);
        lanes<double>().add(direction_.data(), pair.step.data(), alpha[k] - beta, static_cast<long>(direction_.size()));
    }
    for (double& p : direction_) p = -p;
    if (hold) direction_.back() = 0;
    return dot(direction_, gradient_);
}

// Weak Wolfe conditions by doubling and interpolation; returns the step taken, 0 if none lowers F.
double Descender::search(const EmbeddedLoss& loss, const Point& point, double value, double slope) {
    const double eps = point.back(), by_eps = direction_.back();
    const double bound = by_eps > 0 ? (1 - eps) / by_eps : by_eps < 0 ? -eps / by_eps : std::numeric_limits<double>::infinity();
    double low = 0, high = std::numeric_limits<double>::infinity(), t = std::min(1.0, bound);
    for (int attempt = 0; attempt < policy::embedded::attempts; ++attempt) {
        for (std::size_t k = 0; k < point.size(); ++k) trial_[k] = point[k] + t * direction_[k];
        trial_.back() = t == bound ? (by_eps > 0 ? 1.0 : 0.0) : std::clamp(trial_.back(), 0.0, 1.0);
        trial_value_ = objective_(loss, trial_, trial_gradient_);
        if (!(trial_value_ <= value + policy::embedded::least_fall * t * slope)) {
            high = t;
            const double curve = (trial_value_ - value - slope * t) / (t * t);
            const double best = curve > 0 ? -slope / (2 * curve) : 0;
            t = std::isfinite(trial_value_) ? std::clamp(best, low + 0.1 * (high - low), low + 0.6 * (high - low))
                                            : low + 0.1 * (high - low);
            continue;
        }
        if (t >= bound || dot(trial_gradient_, direction_) >= policy::embedded::least_flattening * slope) return t;
        low = t;
        t = high < std::numeric_limits<double>::infinity() ? (low + high) / 2 : std::min(2 * t, bound);
    }
    return trial_value_ < value ? t : 0;
}

void Descender::remember(const Point& point) {
    Pair& pair = pairs_[(newest_ + 1) % memory];
    for (std::size_t k = 0; k < point.size(); ++k) {
        pair.step[k] = trial_[k] - point[k];
        pair.change[k] = trial_gradient_[k] - gradient_[k];
    }
    const double curve = dot(pair.step, pair.change);
    const double most = std::sqrt(dot(pair.step, pair.step) * dot(pair.change, pair.change));
    if (!(curve > policy::embedded::least_curvature * most)) return;
    pair.inverse = 1 / curve;
    newest_ = (newest_ + 1) % memory;
    count_ = std::min(count_ + 1, memory);
}

Descent Descender::descend(const EmbeddedLoss& loss, Point& point, const DescentSettings& settings) {
    Descent result;
    result.value = objective_(loss, point, gradient_);
    count_ = 0;
    while (result.iterations < settings.max_iter && !exhausted()) {
        const double slope = direction(held(point));
        watch_.violation = std::sqrt(-slope);
        if (!(-slope > settings.tolerance * result.value)) {
            result.stationary = true;
            break;
        }
        const double t = search(loss, point, result.value, slope);
        if (t == 0) {
            if (count_ == 0) {
                result.stationary = true;  // to rounding: not even the steepest descent goes down
                break;
            }
            count_ = 0;
            continue;
        }
        remember(point);
        point.swap(trial_);
        gradient_.swap(trial_gradient_);
        result.value = trial_value_;
        ++result.iterations;
        ++watch_.iterations;
        watch_.look();
    }
    return result;
}

}  // namespace abstain
