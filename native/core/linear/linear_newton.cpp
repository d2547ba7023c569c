#include "linear/linear_newton.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cholesky.hpp"
#include "elementary.hpp"
#include "lanes/lanes.hpp"
#include "linear/linear_policy.hpp"

namespace abstain {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), ln_10 = 2.302585092994046;

double dot(const Point& a, const Point& b, Index size) { return lanes<double>().dot(a.data(), b.data(), size); }
double dot(const Point& a, const Point& b) { return dot(a, b, static_cast<Index>(a.size())); }

using Solve = std::function<void(std::vector<double>&)>;  // in place

class SmallFactor final : public Factor {
  public:
    bool make(std::vector<double> H) override {
        factor_.clear();
        Index width = 1;
        while (width * width < static_cast<Index>(H.size())) ++width;
        const std::vector<bool> taken = factor_.append(H.data(), width, width, 0.0);
        return std::all_of(taken.begin(), taken.end(), [](bool each) { return each; });
    }
    void solve(std::vector<double>& v) override { factor_.solve(v.data()); }

  private:
    Cholesky factor_;
};

class Run {
  public:
    Run(LinearSums& sums, Point start, double sigma, const NewtonSettings& settings)
        : sums_(sums), settings_(settings), features_(sums.features()), formed_(features_ <= settings.most_formed) {
        now_.point = std::move(start);
        now_.sigma = sigma;
        kept_ = now_.point;
        sums_.score(now_.point);
    }

    NewtonSolution solution() {
        now_.status = ended();
        // scores that are computed again differ in the last digit, and gamma by sigma times that
        if (now_.gap > std::min(2 * kept_gap_, std::max(kept_gap_, settings_.tol))) {
            now_.point = kept_;
            sums_.score(now_.point);
            judge(sums_.gradient(now_.sigma, true));
        }
        return now_;
    }

  private:
    Status ended() {
        double before = infinity;
        int stalled = 0;
        for (int penalty = 0; penalty < linear_policy::penalties; ++penalty) {
            const Index steps = now_.steps;
            if (const auto status = inner()) return *status;
            stalled = best_ > 0.5 * before ? stalled + 1 : 0;
            const bool good = kept_gap_ <= settings_.tol, rounded = best_ <= linear_policy::rounded;
            if ((good || rounded) && stalled >= (good && rounded ? 1 : linear_policy::stalls)) break;
            before = best_;
            sums_.accept();
            const bool fast = settings_.polish || now_.steps - steps <= linear_policy::easy;
            now_.sigma *= fast ? linear_policy::growth : linear_policy::slow_growth;
            kept_gap_ = infinity;  // an earlier point had its gap with the multipliers of that time
            kept_ = now_.point;
        }
        return kept_gap_ <= settings_.tol ? Status::converged : Status::inaccurate;
    }

    // Newton steps at one penalty; nothing if the next one should follow.
    std::optional<Status> inner() {
        Solve solve;
        double least = infinity;
        int idle = 0;
        for (int step = 0; step < linear_policy::most_inner; ++step) {
            const std::vector<double> sides = sums_.gradient(now_.sigma, step == 0);
            judge(sides);
            if (now_.gap <= (settings_.polish ? linear_policy::polished : settings_.tol)) return Status::converged;
            if (const auto status = limit()) return status;
            Point gradient(features_ + 1);
            for (Index j = 0; j <= features_; ++j) gradient[j] = -sides[j] - sides[features_ + 1 + j];
            for (Index j = 0; j < features_; ++j) gradient[j] += now_.point[j];
            const double enough = linear_policy::inner * linear_policy::inner / now_.sigma * sums_.shift();
            if (solve && formed_) {  // judging by the last factor costs next to nothing
                Point x = gradient;
                solve(x);
                if (dot(gradient, x) <= enough) return {};
            }
            solve = hessian();
            Point direction = gradient;
            solve(direction);
            for (double& each : direction) each = -each;
            const double slope = dot(gradient, direction);
            if (!std::isfinite(slope) || slope >= 0) return {};
            if (step > 0 && !formed_ && -slope <= enough) return {};
            // after the last digit the decrement only wanders
            idle = -slope > 0.5 * least && best_ <= linear_policy::rounded ? idle + 1 : 0;
            if (idle >= linear_policy::idle_steps) return {};
            least = std::min(least, -slope);
            search(direction, slope);
            ++now_.steps;
        }
        return {};
    }

    // The relative gap at this point, and the factors that make gamma feasible.
    void judge(const std::vector<double>& sides) {
        const double *negative = sides.data(), *positive = negative + features_ + 1;
        const LinearSums::Sides sums{-negative[features_], positive[features_]};
        const double lighter = std::min(sums[0], sums[1]);
        for (int side = 0; side < 2; ++side) now_.scale[side] = sums[side] > 0 ? lighter / sums[side] : 0;
        double squared = 0;
        for (Index j = 0; j < features_; ++j) {
            const double w = now_.scale[0] * negative[j] + now_.scale[1] * positive[j];
            squared += w * w;
        }
        const double primal = 0.5 * dot(now_.point, now_.point, features_) + sums_.loss();
        const double dual = sums_.dual(now_.scale) - 0.5 * squared;
        const double gap = std::isfinite(primal - dual) ? std::max(0.0, primal - dual) : infinity;
        now_.gap = gap / std::max(primal, std::numeric_limits<double>::min());
        best_ = std::min(best_, now_.gap);
        if (now_.gap < kept_gap_) kept_gap_ = now_.gap, kept_ = now_.point;
    }

    std::optional<Status> limit() {
        if (settings_.ends && settings_.ends(now_.steps, now_.gap)) return Status::iteration_limit;
        if (settings_.polish && kept_gap_ <= settings_.tol && now_.steps >= linear_policy::most_polished) return Status::converged;
        if (now_.steps >= settings_.max_iter) return Status::iteration_limit;
        if (settings_.expired()) return Status::time_limit;
        return {};
    }

    // What solves with the Hessian at this point.
    Solve hessian() {
        const bool empty = sums_.between() == 0;
        if (!formed_) return conjugate(empty);
        const Index width = features_ + 1;
        // where no row is between breakpoints the bias has no curvature: that of all rows is an upper bound
        std::vector<double> H = sums_.hessian(settings_.most_rows, empty), unit(width);
        for (Index j = 0; j < width; ++j) unit[j] = 1 / std::sqrt(now_.sigma * H[j * (width + 1)] + (j < features_));
        for (Index i = 0; i < width; ++i)
            for (Index j = 0; j < width; ++j) H[i * width + j] *= now_.sigma * unit[i] * unit[j];
        Factor& factor = width <= linear_policy::factored_here || !settings_.large ? small_ : *settings_.large;
        for (double ridge = 0; std::isfinite(ridge); ridge = std::max(1e-14, 10 * ridge)) {
            for (Index j = 0; j < width; ++j) H[j * (width + 1)] = 1 + ridge;
            if (!factor.make(H)) continue;
            return [unit = std::move(unit), &factor](std::vector<double>& v) {
                for (std::size_t j = 0; j < v.size(); ++j) v[j] *= unit[j];
                factor.solve(v);
                for (std::size_t j = 0; j < v.size(); ++j) v[j] *= unit[j];
            };
        }
        // H has overflowed: the slope is not a number, which ends these steps
        return [](std::vector<double>& v) { std::fill(v.begin(), v.end(), std::numeric_limits<double>::quiet_NaN()); };
    }

    // Conjugate gradients, with the diagonal as the preconditioner.
    Solve conjugate(bool empty) {
        Point inverse = sums_.hessian_diagonal(empty);
        for (Index j = 0; j <= features_; ++j) inverse[j] = 1 / (now_.sigma * inverse[j] + (j < features_));
        const auto conditioned = [inverse](const Point& v) {
            Point z = v;
            for (std::size_t j = 0; j < z.size(); ++j) z[j] *= inverse[j];
            return z;
        };
        if (empty) return [conditioned](Point& v) { v = conditioned(v); };
        return [this, conditioned](Point& v) {
            const auto add = lanes<double>().add;
            const Index size = features_ + 1;
            Point x(size, 0.0), r = v, p = conditioned(r);
            double rho = dot(r, p);
            const double first = rho;
            for (int step = 0; step < linear_policy::cg_steps; ++step) {
                Point q = sums_.hessian_times(p);
                for (Index j = 0; j <= features_; ++j) q[j] = now_.sigma * q[j] + (j < features_ ? p[j] : 0.0);
                const double alpha = rho / dot(p, q);
                add(x.data(), p.data(), alpha, size);
                add(r.data(), q.data(), -alpha, size);
                Point z = conditioned(r);
                const double next = dot(r, z);
                if (next <= linear_policy::cg_accuracy * linear_policy::cg_accuracy * first) break;
                add(z.data(), p.data(), next / rho, size);
                p = std::move(z);
                rho = next;
            }
            v = std::move(x);
        };
    }

    // Moves along the direction to where the slope is at most `flat` of the first one. The slope is piecewise linear and rises,
    // so Newton's steps on it, kept inside the bracket, soon find its zero.
    void search(const Point& direction, double first) {
        const double offset = dot(now_.point, direction, features_), rate = dot(direction, direction, features_);
        sums_.along(direction);
        const double step = sums_.at_once() == 1 ? one_by_one(offset, rate, first) : several(offset, rate, first);
        sums_.move(step);
        lanes<double>().add(now_.point.data(), direction.data(), step, features_ + 1);
    }

    double one_by_one(double offset, double rate, double first) {
        double low = 0, high = infinity, step = 1;
        for (int trial = 0; trial < linear_policy::trials; ++trial) {
            const std::vector<double> found = sums_.slopes(now_.sigma, {step});
            const double slope = offset + step * rate + found[0], bend = rate + found[1];
            if (std::abs(slope) <= linear_policy::flat * std::abs(first)) break;
            (slope < 0 ? low : high) = step;
            double following = bend > 0 ? step - slope / bend : infinity;
            if (!(low < following && following < high)) following = std::isinf(high) ? 2 * step : 0.5 * (low + high);
            step = std::min(following, 10 * step);
        }
        return step;
    }

    // Where many lengths cost as much as one: each call narrows the bracket to two neighbours.
    double several(double offset, double rate, double first) {
        std::vector<double> steps(std::begin(linear_policy::first_steps), std::end(linear_policy::first_steps));
        double low = 0, high = infinity, best = infinity, at = 1;
        for (int trial = 0; trial < linear_policy::trials; ++trial) {
            const std::vector<double> found = sums_.slopes(now_.sigma, steps);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                const double slope = offset + steps[s] * rate + found[s];
                if (std::abs(slope) < best) best = std::abs(slope), at = steps[s];
                if (slope < 0) low = std::max(low, steps[s]);
                if (slope >= 0) high = std::min(high, steps[s]);
            }
            if (best <= linear_policy::flat * std::abs(first)) break;
            const double count = static_cast<double>(sums_.at_once());
            steps.resize(sums_.at_once());
            for (std::size_t s = 0; s < steps.size(); ++s) {
                const double share = static_cast<double>(s);
                steps[s] = std::isinf(high) ? low * elementary::exp(ln_10 * (0.1 + 1.9 * share / std::max(1.0, count - 1)))
                                            : low + (high - low) * (share + 1) / (count + 1);
            }
        }
        return at;
    }

    LinearSums& sums_;
    const NewtonSettings& settings_;
    Index features_;
    bool formed_;
    SmallFactor small_;
    NewtonSolution now_;
    double best_ = infinity, kept_gap_ = infinity;  // the least gap so far, and since the multipliers changed
    Point kept_;                                    // the point with the latter
};

}  // namespace

NewtonSolution newton(LinearSums& sums, Point start, double sigma, const NewtonSettings& settings) {
    return Run(sums, std::move(start), sigma, settings).solution();
}

}  // namespace abstain
