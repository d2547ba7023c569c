#include "path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace abstain {

namespace {
constexpr int refresh_every = 256;  // pieces between two computations of F from the coefficients
constexpr double refresh_below = 0.25;  // of lambda at the last one: what rounding left of a larger F would show
constexpr int stuck = 64;           // events in a row that do not move lambda
constexpr double nudge = 1e-9;      // of lambda, to get past a knot of simultaneous events
}  // namespace

Path::Direction Path::direction() const {
    Direction d;
    d.F_rate.assign(F_.size(), 0.0);
    if (inside_.empty()) return d;
    std::vector<double> ones(inside_.size(), 1.0);
    for (Index t : inside_) d.rate.push_back(problem_.up(t, state_[t].code));
    factor_.solve(d.rate.data(), ones.data());
    d.bias_rate = std::accumulate(d.rate.begin(), d.rate.end(), 0.0) / std::accumulate(ones.begin(), ones.end(), 0.0);
    for (std::size_t t = 0; t < ones.size(); ++t) d.rate[t] -= d.bias_rate * ones[t];
    kernel_.accumulate(inside_, d.rate, d.F_rate.data());
    return d;
}

// As lambda falls by s, beta_i going up gains (lambda - s) up_i - (F_i - s F_rate_i) against a bias of bias - s bias_rate.
Path::Event Path::next_event(const Direction& d, double left) const {
    Event event{left};
    for (std::size_t t = 0; t < inside_.size(); ++t) {
        const Index i = inside_[t];
        if (d.rate[t] == 0) continue;
        const int way = d.rate[t] < 0 ? 1 : -1;
        const int k = next_breakpoint(problem_, i, state_[i].code, way);
        const double step = distance_to(problem_, i, state_[i], k) / std::abs(d.rate[t]);
        if (step < event.step) event = {step, i, k, way};
    }
    for (Index i = 0; i < problem_.size; ++i) {
        const Code code = state_[i].code;
        if (code % 2) continue;
        for (const int way : {+1, -1}) {
            const double knot = way > 0 ? problem_.up(i, code) : problem_.down(i, code);
            if (!std::isfinite(knot)) continue;
            const double closing = way * (d.F_rate[i] + d.bias_rate - knot);
            if (!(closing > 0)) continue;
            const double room = std::max(0.0, way * (bias_ + F_[i] - scale_ * knot));
            if (room / closing < event.step) event = {room / closing, i, -1, way};
        }
    }
    return event;
}

void Path::advance(const Direction& d, double step) {
    scale_ -= step;
    for (std::size_t t = 0; t < inside_.size(); ++t) state_[inside_[t]].beta -= step * d.rate[t];
    for (std::size_t i = 0; i < state_.size(); ++i) F_[i] -= step * d.F_rate[i];
    bias_ = 0;  // from the knots: a bias that shrinks with lambda would keep the rounding of when it was large
    for (Index t : inside_) bias_ += (target(t) - F_[t]) / static_cast<double>(inside_.size());
}

void Path::apply(const Event& event) {
    ++changes_;
    if (event.breakpoint < 0) return leave_breakpoint(event.row, event.direction);
    Coordinate& now = state_[event.row];
    const double before = now.beta;
    land(problem_, event.row, now, event.breakpoint);
    pending_[event.row] += now.beta - before;
    settle();
    leave(event.row);
    admit();
}

// A row that depends on T stays where it is if its score keeps to its knot by itself (a duplicate), and takes the place of
// a row of T if not. False: none has to.
bool Path::settle_dependent(const Direction& d) {
    for (Index i : outside_) {
        const double drift = d.F_rate[i] + d.bias_rate - problem_.up(i, state_[i].code);
        if (std::abs(drift) > 1e-8 * knots_) return slide_row(i, drift > 0 ? 1 : -1);
    }
    return false;
}

// With nothing between breakpoints, gamma and F stand still, and any bias in [max(up - F), min(down - F)] will do: the
// width of this band at lambda, and the rows that bound it.
double Path::band(double lambda, Index* rising, Index* falling) const {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (Index i = 0; i < problem_.size; ++i) {
        const double up = lambda * problem_.up(i, state_[i].code) - F_[i];
        const double down = lambda * problem_.down(i, state_[i].code) - F_[i];
        if (up > highest) highest = up, *rising = i;
        if (down < lowest) lowest = down, *falling = i;
    }
    return lowest - highest;
}

// Down to the lambda at which the band closes and its two rows leave their breakpoints; false where it never does. The
// width is concave and piecewise linear, so Newton's steps from where it is negative end at its root from below.
bool Path::cross_band(double lowest) {
    Index rising = -1, falling = -1;
    double lambda = lowest;
    for (int step = 0; step < 1000; ++step) {
        const double width = band(lambda, &rising, &falling);
        const double slope = problem_.down(falling, state_[falling].code) - problem_.up(rising, state_[rising].code);
        if (!(width < 0) || !(slope > 0) || lambda - width / slope <= lambda) break;
        lambda = std::min(scale_, lambda - width / slope);
    }
    scale_ = lambda;
    if (lambda <= lowest) return false;
    leave_breakpoint(rising, +1);
    leave_breakpoint(falling, -1);
    bias_ = target(rising) - F_[rising];
    return true;
}

void Path::record(PathPieces& path, const Direction& d) {
    const Index piece = std::ssize(path.start);
    path.start.push_back(scale_);
    path.end.push_back(scale_);
    path.turned.push_back(turned_);
    path.bias.push_back(bias_);
    path.bias_rate.push_back(d.bias_rate);
    for (std::size_t t = 0; t < inside_.size(); ++t) {
        path.rows.push_back(inside_[t]);
        path.gamma.push_back(state_[inside_[t]].beta);
        path.rate.push_back(d.rate[t]);
        known_[inside_[t]] = state_[inside_[t]].beta;
    }
    path.first.push_back(std::ssize(path.rows));
    for (std::size_t i = 0; i < state_.size(); ++i) {
        if (state_[i].beta == known_[i]) continue;
        known_[i] = state_[i].beta;
        path.settled_from.push_back(piece);
        path.settled_row.push_back(static_cast<Index>(i));
        path.settled_gamma.push_back(state_[i].beta);
    }
    for (Index t : inside_) known_[t] = std::numeric_limits<double>::quiet_NaN();  // on the move
}

void Path::record_end(PathPieces& path) const {
    path.end.back() = scale_;
    path.bias.back() = bias_;
    for (std::size_t t = 0; t < inside_.size(); ++t)
        path.gamma[path.gamma.size() - inside_.size() + t] = state_[inside_[t]].beta;
}

// F from the coefficients, and T on its knots again to the last digit.
bool Path::refresh(Index limit) {
    std::fill(barred_.begin(), barred_.end(), char(0));
    renew();
    refreshed_ = scale_;
    return finish(limit);
}

PathPieces Path::follow(Outcome start, double highest, double lowest, Index limit) {
    refreshed_ = scale_ = highest;
    begin(start);
    PathPieces path;
    path.first.push_back(0);
    known_.assign(state_.size(), 0.0);
    bool optimal = finish(limit);
    int idle = 0;
    for (Index round = 0; optimal && round < limit && changes_ < limit; ++round, watch_.look()) {
        if (watch_.expired()) break;
        if (inside_.empty()) {
            record(path, direction());
            if (!cross_band(lowest)) return path;
            continue;
        }
        const Direction d = direction();
        if (idle < stuck && settle_dependent(d)) {
            ++idle;
            continue;
        }
        const double left = scale_ - lowest, reach = std::min(left, (1 - refresh_below) * scale_);
        const Event event = next_event(d, reach);
        if (event.step > 0) record(path, d);
        idle = event.step > 1e-14 * scale_ ? 0 : idle + 1;
        advance(d, event.step);
        if (event.step > 0) record_end(path);
        if (event.row < 0 && reach == left) return path;
        turned_ = event.row >= 0;
        if (turned_) apply(event);
        if (idle > stuck) scale_ = std::max(lowest, scale_ * (1 - nudge));
        else if (turned_ && path.start.size() % refresh_every != 0 && scale_ >= refresh_below * refreshed_) continue;
        optimal = refresh(limit);
        idle = 0;
    }
    path.complete = false;
    return path;
}

bool Path::arrive(Outcome& outcome, const Outcome& start, double highest, Index limit) {
    if (!follow(start, highest, 1.0, limit).complete) return false;
    scale_ = 1;
    renew();
    const bool optimal = finish(limit);
    renew();
    write(outcome);
    return optimal;
}

}  // namespace abstain
