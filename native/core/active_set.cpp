#include "active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "policy.hpp"

namespace abstain {

void ActiveSet::begin(const Outcome& outcome) {
    const Index n = problem_.size;
    state_.resize(n);
    F_.assign(rounded_up(n), 0.0);
    pending_.assign(n, 0.0);
    share_ = 1, offset_ = 0;
    released_.assign(n, 0);
    barred_.assign(n, 0);
    root_.resize(n);
    for (Index i = 0; i < n; ++i) {
        state_[i] = {outcome.beta[i], outcome.codes[i]};
        F_[i] = outcome.expansion[i];
        root_[i] = std::sqrt(std::abs(kernel_.diagonal(i)));
    }
    for (double t : problem_.losses->slopes) largest_knot_ = std::max(largest_knot_, std::abs(t));
    // The mean of the diagonal, but not that of a few rows far out, which would take the digits of all others.
    constant_ = 0;
    std::vector<double> diagonal(n);
    for (Index i = 0; i < n; ++i) constant_ += (diagonal[i] = kernel_.diagonal(i)) / static_cast<double>(n);
    const auto median = diagonal.begin() + n / 2;
    std::nth_element(diagonal.begin(), median, diagonal.end());
    if (*median > 0) constant_ = std::min(constant_, policy::mean_over_median * *median);
    if (!(constant_ > 0)) constant_ = 1;
    estimate_rounding();
    refactor(dependent_within_);
}

// The error of F from rounding alone (policy.hpp).
void ActiveSet::estimate_rounding() {
    double weight = 0;
    for (Index i = 0; i < problem_.size; ++i) weight += std::abs(state_[i].beta) * root_[i];
    rounding_of_knots_ = policy::rounding_of_knots * lambda_ * largest_knot_;
    rounding_of_sums_ = policy::rounding_of_sums * weight;
}

void ActiveSet::add_pending_to_F() {
    SparseVector change;
    change.reserve(pending_.size());
    for (Index i = 0; i < problem_.size; ++i) change.add(i, std::exchange(pending_[i], 0.0));
    if (!change.rows.empty()) kernel_.accumulate(change, F_.data());
    share_ = 1, offset_ = 0;
}

void ActiveSet::recompute_F() {
    std::fill(F_.begin(), F_.end(), 0.0);
    for (Index i = 0; i < problem_.size; ++i) pending_[i] = state_[i].beta;
    add_pending_to_F();
    estimate_rounding();
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
    ++changes_;
    if (hit.step > 0) std::fill(barred_.begin(), barred_.end(), char(0));
    if (hit.row >= 0) barred_[hit.row] = released_[hit.row];
}

void ActiveSet::land_on(Index row, int breakpoint) {
    ++changes_;
    const double before = state_[row].beta;
    land(problem_, row, state_[row], breakpoint);
    pending_[row] += state_[row].beta - before;
    add_pending_to_F();
    leave(row);
}

// The direction K'^-1 1 (`ones`) changes the sum at the least cost. A solution of the system has the right sum but for
// rounding, which an ill-conditioned K' magnifies.
void ActiveSet::add_up_to(double total, std::vector<double>& direction, const std::vector<double>& ones) const {
    const double unit = std::accumulate(ones.begin(), ones.end(), 0.0);
    for (int round = 0; round < 2 && unit > 0; ++round) {
        const double missing = (total - std::accumulate(direction.begin(), direction.end(), 0.0)) / unit;
        for (std::size_t t = 0; t < ones.size(); ++t) direction[t] += missing * ones[t];
    }
}

// Moves a dependent row that is off its knot. False: all are on theirs.
bool ActiveSet::slide_one() {
    for (Index i : dependent_) {
        const double residual = target(i) - F_[i] - bias_;
        if (std::abs(residual) > rounding(i)) return slide(i, residual > 0 ? 1 : -1);
    }
    return false;
}

// Along the null direction of K', which changes no score.
bool ActiveSet::slide(Index row, double way) {
    std::vector<double> direction = column(row);
    factor_.solve(direction.data());
    for (double& d : direction) d *= -way;
    std::vector<double> ones(inside_.size(), 1.0);
    factor_.solve(ones.data());
    add_up_to(-way, direction, ones);
    std::vector<Index> rows = inside_;
    rows.push_back(row);
    direction.push_back(way);
    const Hit hit = first_hit(rows, direction, std::numeric_limits<double>::infinity());
    if (hit.row < 0) return false;
    move(rows, direction, hit);
    leave(hit.row);
    add_pending_to_F();
    return true;
}

// The worst violators among the rows on a breakpoint leave it. False: none violates. A row that would move the wrong way
// together with the others meets its breakpoint again at once.
bool ActiveSet::release() {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    Index rising = -1, falling = -1;
    for (Index i = 0; i < problem_.size; ++i) {
        if (barred_[i]) continue;
        const double rise = up(i) - F_[i] - rounding(i), fall = down(i) - F_[i] + rounding(i);
        if (rise > highest) highest = rise, rising = i;
        if (fall < lowest) lowest = fall, falling = i;
    }
    if (!(highest > lowest)) return false;
    std::fill(released_.begin(), released_.end(), char(0));
    if (inside_.empty()) {  // nothing fixes the bias: two rows are needed to move at all
        leave_breakpoint(rising, +1);
        leave_breakpoint(falling, -1);
        return true;
    }
    struct Candidate {
        double violation;
        Index row;
        int direction;
    };
    const double enough = policy::share_of_worst_violation * std::max(highest - bias_, bias_ - lowest);
    std::vector<Candidate> candidates;
    for (Index i = 0; i < problem_.size; ++i) {
        if (barred_[i] || state_[i].code % 2) continue;
        const double rise = up(i) - F_[i] - bias_, fall = bias_ - down(i) + F_[i], violation = std::max(rise, fall) - rounding(i);
        if (violation >= enough) candidates.push_back({violation, i, rise > fall ? 1 : -1});
    }
    const std::size_t count = std::min(candidates.size(), at_once_);
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                      [](const Candidate& a, const Candidate& b) {
                          return a.violation != b.violation ? a.violation > b.violation : a.row < b.row;
                      });
    std::vector<Index> rows;
    for (std::size_t c = 0; c < count; ++c) {
        untie(candidates[c].row, candidates[c].direction);
        rows.push_back(candidates[c].row);
    }
    const std::size_t dependent = dependent_.size();
    enter(rows);
    ++changes_;
    // All but one of the new dependent rows stay where they are: T may have its full rank.
    at_once_ = dependent_.size() > dependent ? 1 : std::min(2 * at_once_, policy::released_at_once);
    while (dependent_.size() > dependent + 1) {
        Coordinate& now = state_[dependent_.back()];
        now = coordinate_at(problem_, dependent_.back(), now.beta);
        dependent_.pop_back();
    }
    return true;
}

void ActiveSet::untie(Index row, int direction) {
    Code& code = state_[row].code;
    code = static_cast<Code>(direction * problem_.sign[row] > 0 ? code + 1 : code - 1);
    released_[row] = 1;
}

void ActiveSet::leave_breakpoint(Index row, int direction) {
    ++changes_;
    if (state_[row].code % 2) return;
    untie(row, direction);
    enter({row});
}

// The largest violation of rows on a breakpoint, and of rows between them by more than rounding.
std::pair<double, double> ActiveSet::violations() const {
    double on = 0, between = 0;
    for (Index i = 0; i < problem_.size; ++i)
        if (state_[i].code % 2 == 0 && !barred_[i]) on = std::max({on, up(i) - F_[i] - bias_, bias_ - down(i) + F_[i]});
    for (Index t : inside_)
        if (const double off = std::abs(target(t) - F_[t] - bias_); off > rounding(t)) between = std::max(between, off);
    return {on, between};
}

bool ActiveSet::finish(Index limit) {
    for (int refinements = 0, idle = 0; changes_ < limit && !watch_.expired() && idle <= policy::refinements;) {
        watch_.look();
        if (!full_step(limit)) continue;
        if (changes_ >= limit) break;
        if (slide_one()) continue;
        const auto [on, off] = violations();
        if (off > policy::settled * on && ++refinements <= policy::refinements) continue;
        refinements = 0;
        const std::size_t between = inside_.size() + dependent_.size();
        if (!release()) return true;
        idle = inside_.size() + dependent_.size() > between ? 0 : idle + 1;  // rounding in T is the worst violation
    }
    add_pending_to_F();
    return false;
}

bool ActiveSet::refresh(Index limit) {
    std::fill(barred_.begin(), barred_.end(), char(0));
    recompute_F();
    return finish(limit);
}

void ActiveSet::write(Outcome& outcome) {
    recompute_F();
    for (Index i = 0; i < problem_.size; ++i) {
        outcome.beta[i] = state_[i].beta;
        outcome.codes[i] = state_[i].code;
        outcome.expansion[i] = F_[i];
    }
    judge(problem_, outcome, lambda_);
    outcome.iterations += changes_;
}

bool ActiveSet::run(Outcome& outcome, Index limit) {
    begin(outcome);
    const bool optimal = finish(limit);
    write(outcome);
    return optimal;
}

}  // namespace abstain
