#include "active_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace abstain {

ActiveSet::ActiveSet(const Problem& problem, KernelMatrix<double>& kernel, Watch& watch)
    : problem_(problem), kernel_(kernel), watch_(watch) {}

void ActiveSet::begin(const Outcome& outcome) {
    const std::size_t n = problem_.size;
    state_.resize(n);
    F_.assign(rounded_up(problem_.size), 0.0);
    pending_.assign(n, 0.0);
    barred_.assign(n, 0);
    constant_ = largest_ = 0;
    std::vector<Index> between;
    for (std::size_t i = 0; i < n; ++i) {
        state_[i] = {outcome.beta[i], outcome.codes[i]};
        F_[i] = outcome.expansion[i];
        const double diagonal = kernel_.diagonal(static_cast<Index>(i));
        largest_ = std::max(largest_, std::abs(diagonal));
        constant_ += diagonal / static_cast<double>(n);
        if (state_[i].code % 2) between.push_back(static_cast<Index>(i));
    }
    for (const auto& slopes : problem_.slopes)
        for (double t : slopes) knots_ = std::max(knots_, std::abs(t));
    if (!(constant_ > 0)) constant_ = 1;
    weigh_rounding();

    const Index stride = rounded_up(std::ssize(between));
    Aligned<double> block(stride * stride);
    if (!between.empty()) kernel_.block(between, block.data(), stride);
    std::vector<double> entries;
    std::vector<std::size_t> admitted;
    for (std::size_t a = 0; a < between.size(); ++a) {
        const double* row = block.data() + static_cast<Index>(a) * stride;
        entries.clear();
        for (std::size_t b : admitted) entries.push_back(row[b] + constant_);
        if (factor_.append(entries.data(), kernel_.diagonal(between[a]) + constant_)) {
            admitted.push_back(a);
            inside_.push_back(between[a]);
        } else {
            outside_.push_back(between[a]);
        }
        if (a % 16 == 0) watch_.look();
    }
}

// What F can be wrong by through rounding alone: a violation below it means nothing.
void ActiveSet::weigh_rounding() {
    double weight = 0;
    for (const Coordinate& c : state_) weight += std::abs(c.beta);
    rounding_ = 1e-13 * scale_ * knots_ + 4e-16 * weight * largest_;
}

// Brings F up to date with the moves made since.
void ActiveSet::settle() {
    std::vector<Index> moved;
    std::vector<double> change;
    for (std::size_t i = 0; i < pending_.size(); ++i)
        if (pending_[i] != 0) {
            moved.push_back(static_cast<Index>(i));
            change.push_back(pending_[i]);
            pending_[i] = 0;
        }
    if (!moved.empty()) kernel_.accumulate(moved, change, F_.data());
}

void ActiveSet::enter(Index i) {
    std::vector<double> sums(rounded_up(problem_.size), 0.0), entries;
    kernel_.accumulate({i}, {1.0}, sums.data());
    for (Index t : inside_) entries.push_back(sums[t] + constant_);
    if (factor_.append(entries.data(), kernel_.diagonal(i) + constant_)) inside_.push_back(i);
    else outside_.push_back(i);
}

void ActiveSet::leave(Index i) {
    const auto found = std::find(inside_.begin(), inside_.end(), i);
    if (found != inside_.end()) {
        factor_.remove(found - inside_.begin());
        inside_.erase(found);
    } else {
        std::erase(outside_, i);
    }
}

// After a row has left, one that depended on it may stand on its own.
void ActiveSet::admit() {
    const std::vector<Index> waiting = std::move(outside_);
    outside_.clear();
    for (Index i : waiting) enter(i);
}

ActiveSet::Hit ActiveSet::first_hit(const std::vector<Index>& rows, const std::vector<double>& direction, double most) const {
    Hit hit{most, -1, 0};
    for (std::size_t t = 0; t < rows.size(); ++t) {
        if (direction[t] == 0) continue;
        const Coordinate& now = state_[rows[t]];
        const int k = next_breakpoint(problem_, rows[t], now.code, direction[t] > 0 ? 1 : -1);
        const double step = distance_to(problem_, rows[t], now, k) / std::abs(direction[t]);
        if (step < hit.step) hit = {step, rows[t], k};
    }
    return hit;
}

void ActiveSet::move(const std::vector<Index>& rows, const std::vector<double>& direction, const Hit& hit) {
    for (std::size_t t = 0; t < rows.size(); ++t) {
        Coordinate& now = state_[rows[t]];
        const double before = now.beta;
        if (rows[t] == hit.row) land(problem_, rows[t], now, hit.breakpoint);
        else now.beta += hit.step * direction[t];
        pending_[rows[t]] += now.beta - before;
    }
    settle();
    ++changes_;
    if (hit.step > 0) std::fill(barred_.begin(), barred_.end(), char(0));
    if (hit.row < 0) return;
    if (hit.row == released_) barred_[hit.row] = 1;
    leave(hit.row);
    admit();
}

// True where T now solves its system; false where a breakpoint was in the way.
bool ActiveSet::full_step() {
    if (inside_.empty()) return true;
    std::vector<double> delta(inside_.size()), ones(inside_.size(), 1.0);
    double balance = 0;  // sum beta strays from 0 by rounding; the step takes it back
    for (std::size_t i = 0; i < state_.size(); ++i) balance += state_[i].beta;
    for (std::size_t t = 0; t < inside_.size(); ++t) delta[t] = target(inside_[t]) - F_[inside_[t]];
    factor_.solve(delta.data(), ones.data());
    const double sum = std::accumulate(delta.begin(), delta.end(), 0.0), unit = std::accumulate(ones.begin(), ones.end(), 0.0);
    const double b = (sum + balance) / unit;
    for (std::size_t t = 0; t < delta.size(); ++t) delta[t] -= b * ones[t];
    bias_ = b - constant_ * balance;  // K' delta = K delta - constant * balance
    const Hit hit = first_hit(inside_, delta, 1.0);
    move(inside_, delta, hit);
    return hit.row < 0;
}

// A dependent row off its knot has to move. False: none is off.
bool ActiveSet::slide() {
    for (Index i : outside_) {
        const double residual = target(i) - F_[i] - bias_;
        if (std::abs(residual) > rounding_) return slide_row(i, residual > 0 ? 1 : -1);
    }
    return false;
}

// Along the null direction of K', which leaves all scores as they are, until a breakpoint ends it.
bool ActiveSet::slide_row(Index i, double way) {
    std::vector<double> sums(rounded_up(problem_.size), 0.0), direction;
    kernel_.accumulate({i}, {1.0}, sums.data());
    for (Index t : inside_) direction.push_back(sums[t] + constant_);
    factor_.solve(direction.data());
    for (double& d : direction) d *= -way;
    std::vector<Index> rows = inside_;
    rows.push_back(i);
    direction.push_back(way);
    const Hit hit = first_hit(rows, direction, std::numeric_limits<double>::infinity());
    if (hit.row < 0) return false;
    move(rows, direction, hit);
    return true;
}

// The worst violator among the rows on a breakpoint leaves it. False: none violates.
bool ActiveSet::release() {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    Index rising = -1, falling = -1;
    for (Index i = 0; i < problem_.size; ++i) {
        if (barred_[i]) continue;
        if (up(i) - F_[i] > highest) highest = up(i) - F_[i], rising = i;
        if (down(i) - F_[i] < lowest) lowest = down(i) - F_[i], falling = i;
    }
    if (!(highest - lowest > 2 * rounding_)) return false;
    if (inside_.empty()) {  // nothing fixes the bias: two rows are needed to move at all
        leave_breakpoint(rising, +1);
        leave_breakpoint(falling, -1);
    } else if (highest - bias_ > bias_ - lowest) {
        leave_breakpoint(rising, +1);
    } else {
        leave_breakpoint(falling, -1);
    }
    return true;
}

void ActiveSet::leave_breakpoint(Index i, int direction) {
    Code& code = state_[i].code;
    ++changes_;
    if (code % 2) return;
    code = static_cast<Code>(direction * problem_.sign[i] > 0 ? code + 1 : code - 1);
    released_ = i;
    enter(i);
}

// F from the coefficients alone: sums of many small changes drift.
void ActiveSet::renew() {
    std::fill(F_.begin(), F_.end(), 0.0);
    for (std::size_t i = 0; i < state_.size(); ++i) pending_[i] = state_[i].beta;
    settle();
    weigh_rounding();
}

bool ActiveSet::finish(Index limit) {
    for (int refinements = 0; changes_ < limit && !watch_.expired();) {
        watch_.look();
        if (!full_step()) continue;
        if (slide()) continue;
        double residual = 0;
        for (Index t : inside_) residual = std::max(residual, std::abs(target(t) - F_[t] - bias_));
        if (residual > rounding_ && ++refinements <= 3) continue;
        refinements = 0;
        if (!release()) return true;
    }
    return false;
}

void ActiveSet::write(Outcome& outcome) const {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (std::size_t i = 0; i < state_.size(); ++i) {
        outcome.beta[i] = state_[i].beta;
        outcome.codes[i] = state_[i].code;
        outcome.expansion[i] = F_[i];
        highest = std::max(highest, up(static_cast<Index>(i)) - F_[i]);
        lowest = std::min(lowest, down(static_cast<Index>(i)) - F_[i]);
    }
    outcome.violation = highest - lowest;
    if (std::isfinite(highest + lowest)) outcome.bias = 0.5 * (highest + lowest);
    outcome.iterations += changes_;
}

bool ActiveSet::run(Outcome& outcome, Index limit) {
    begin(outcome);
    const bool optimal = finish(limit);
    renew();
    write(outcome);
    return optimal;
}

}  // namespace abstain
