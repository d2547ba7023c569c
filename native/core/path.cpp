#include "path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policy.hpp"

namespace abstain {

// As lambda falls by s, beta_i going up gains (lambda - s) up_i - (F_i - s F_rate_i) against a bias of bias - s bias_rate.
Path::Event Path::next_event(const Rates& rates, double left) const {
    Event event{left};
    double violation = 0;
    const std::vector<Index>& inside = sets_.inside();
    for (std::size_t t = 0; t < inside.size(); ++t) {
        if (rates.beta[t] == 0) continue;
        const Coordinate& now = sets_.coordinate(inside[t]);
        const int way = rates.beta[t] < 0 ? 1 : -1;
        const int k = next_breakpoint(problem_, inside[t], now.code, way);
        const double step = distance_to(problem_, inside[t], now, k) / std::abs(rates.beta[t]);
        if (step < event.step) event = {step, inside[t], k, way};
    }
    for (Index i = 0; i < problem_.size; ++i) {
        if (sets_.coordinate(i).code % 2) continue;
        for (const int way : {+1, -1}) {
            const double knot = way > 0 ? up(i) : down(i);
            if (!std::isfinite(knot)) continue;
            const double closing = way * (rates.F[i] + rates.bias - knot);
            if (!(closing > 0)) continue;
            const double distance = way * (sets_.bias() + sets_.F(i) - sets_.lambda() * knot), room = std::max(0.0, distance);
            violation = std::max(violation, -distance);
            if (room / closing < event.step) event = {room / closing, i, -1, way};
        }
    }
    event.violation = violation;
    return event;
}

// A row that depends on T stays where it is if its score stays on its knot (a duplicate), and replaces a row of T if not.
// False: none has to move.
bool Path::settle_dependent(const Rates& rates) {
    for (Index i : sets_.dependent()) {
        const double drift = rates.F[i] + rates.bias - up(i);
        if (std::abs(drift) > policy::drift_of_dependent * sets_.largest_knot()) return sets_.slide(i, drift > 0 ? 1 : -1);
    }
    return false;
}

// With nothing between breakpoints, gamma and F stand still, and any bias in [max(up - F), min(down - F)] will do: the
// width of this band at lambda, and the rows that bound it.
double Path::band(double lambda, Index* rising, Index* falling) const {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (Index i = 0; i < problem_.size; ++i) {
        const double gain = lambda * up(i) - sets_.F(i), loss = lambda * down(i) - sets_.F(i);
        if (gain > highest) highest = gain, *rising = i;
        if (loss < lowest) lowest = loss, *falling = i;
    }
    return lowest - highest;
}

// Down to the lambda at which the band closes and its two rows leave their breakpoints; false where it never does. The
// width is concave and piecewise linear, so Newton's steps from where it is negative end at its root from below.
bool Path::cross_band(double lowest) {
    Index rising = -1, falling = -1;
    double lambda = lowest;
    for (int step = 0; step < policy::steps_across_band; ++step) {
        const double width = band(lambda, &rising, &falling);
        const double slope = down(falling) - up(rising);
        if (!(width < 0) || !(slope > 0) || lambda - width / slope <= lambda) break;
        lambda = std::min(sets_.lambda(), lambda - width / slope);
    }
    sets_.set_lambda(lambda);
    if (lambda <= lowest) return false;
    sets_.leave_breakpoint(rising, +1);
    sets_.leave_breakpoint(falling, -1);
    sets_.take_bias_from(rising);
    return true;
}

// A piece that began at lambda = start and ends here, and on which these rows moved.
void Path::record(PathPieces& path, double start, const std::vector<Index>& rows, const std::vector<double>& rates,
                  double bias_rate) {
    const Index piece = std::ssize(path.start);
    path.start.push_back(start);
    path.end.push_back(sets_.lambda());
    path.bias.push_back(sets_.bias());
    path.bias_rate.push_back(bias_rate);
    for (Index t : rows) path.gamma.push_back(known_[t] = sets_.coordinate(t).beta);
    path.rows.insert(path.rows.end(), rows.begin(), rows.end());
    path.rate.insert(path.rate.end(), rates.begin(), rates.end());
    path.first.push_back(std::ssize(path.rows));
    bool turned = false;
    for (Index i = 0; i < problem_.size; ++i) {
        const Coordinate& now = sets_.coordinate(i);
        turned |= std::exchange(codes_[i], now.code) != now.code;
        if (now.beta == known_[i]) continue;
        known_[i] = now.beta;
        path.settled_from.push_back(piece);
        path.settled_row.push_back(i);
        path.settled_gamma.push_back(now.beta);
    }
    path.turned.push_back(turned);
    for (Index t : rows) known_[t] = std::numeric_limits<double>::quiet_NaN();  // on the move
}

void Path::take(const Event& event) {
    if (event.row < 0) return;
    if (event.breakpoint < 0) sets_.leave_breakpoint(event.row, event.direction);
    else sets_.land_on(event.row, event.breakpoint);
}

PathPieces Path::follow(const Outcome& start, double lowest, Index limit) {
    sets_.begin(start);
    PathPieces path;
    path.first.push_back(0);
    known_.assign(problem_.size, 0.0);
    codes_.assign(problem_.size, Code(-1));
    bool optimal = settle(sets_.finish(some_of(limit))) || solve_again(limit);
    keep(path);
    int idle = 0;
    for (Index round = 0; optimal && round < limit && sets_.changes() < limit; ++round, watch_.look()) {
        if (watch_.expired()) break;
        const Rates rates = sets_.rates();
        if (sets_.inside().empty()) {
            if (!verify(path, optimal, lowest, limit)) continue;
            record(path, sets_.lambda(), {}, {}, 0.0);
            if (!cross_band(lowest)) return path;
            continue;
        }
        if (idle < policy::idle_events && settle_dependent(rates)) {
            ++idle;
            continue;
        }
        const double lambda = sets_.lambda(), left = lambda - lowest;
        const double reach = std::min(left, (1 - policy::lambda_share_between_refreshes) * lambda);
        const Event event = next_event(rates, reach);
        if (is_off(event) && !verify(path, optimal, lowest, limit)) continue;
        sets_.lower_lambda(rates, event.step);
        if (event.step > 0) {
            record(path, lambda, sets_.inside(), rates.beta, rates.bias);
            if (is_due(path, rates, event) && !verify(path, optimal, lowest, limit)) continue;
        }
        if (event.row < 0 && reach == left) return path;
        take(event);
        idle = event.step > policy::idle_step * lambda ? 0 : idle + 1;
        if (idle > policy::idle_events) sets_.set_lambda(std::max(lowest, sets_.lambda() * (1 - policy::nudge)));
        else if (event.row >= 0 && path.start.size() % policy::pieces_between_refreshes != 0 &&
                 sets_.lambda() >= policy::lambda_share_between_refreshes * refreshed_)
            continue;
        refreshed_ = sets_.lambda();
        optimal = settle(sets_.refresh(some_of(limit))) || solve_again(limit);
        idle = 0;
    }
    take_back(path);
    path.complete = false;
    return path;
}

bool Path::arrive(Outcome& outcome, const Outcome& start, Index limit) {
    if (!follow(start, 1.0, limit).complete) return false;
    sets_.set_lambda(1);
    const bool optimal = sets_.refresh(limit);
    sets_.write(outcome);
    return optimal;
}

}  // namespace abstain
