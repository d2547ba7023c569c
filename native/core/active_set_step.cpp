// A step of the active set towards the solution on T, which takes out the rows that meet a breakpoint on the way.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "active_set.hpp"
#include "inverse.hpp"
#include "policy.hpp"

namespace abstain {

// The positions of the rows that meet their breakpoints first in a full step, the first of all at the front.
std::vector<Index> ActiveSet::first_to_leave(const std::vector<double>& direction) const {
    std::vector<std::pair<double, Index>> steps;
    for (std::size_t t = 0; t < inside_.size(); ++t) {
        if (direction[t] == 0) continue;
        const Coordinate& now = state_[inside_[t]];
        const int k = next_breakpoint(problem_, inside_[t], now.code, direction[t] > 0 ? 1 : -1);
        const double step = distance_to(problem_, inside_[t], now, k) / std::abs(direction[t]);
        if (step < 1) steps.emplace_back(step, static_cast<Index>(t));
    }
    const auto end = steps.begin() + std::min(std::ssize(steps), policy::columns_at_once);
    std::partial_sort(steps.begin(), end, steps.end());
    std::vector<Index> first;
    for (auto s = steps.begin(); s != end; ++s) first.push_back(s->second);
    return first;
}

// True if T now solves its system; false if a row that met a breakpoint ended the step. Rows that meet one leave, and what is left
// of the step goes on in the inverse without them; the factor follows at the end. The part r - b of the residuals that a step
// removes is known, so F is left until a step is full.
bool ActiveSet::full_step(Index limit) {
    if (inside_.empty()) return true;
    const std::size_t m = inside_.size();
    std::vector<double> delta(m), ones(m, 1.0), direction(m);
    double balance = -problem_.total;  // sum beta drifts from the total by rounding; the step corrects it
    for (const Coordinate& c : state_) balance += c.beta;
    for (std::size_t t = 0; t < m; ++t) delta[t] = residual(inside_[t]);
    factor_.solve(delta.data(), ones.data());
    Inverse inverse(factor_);
    std::vector<Index> gone;
    bool full = false;
    while (!full) {
        const double sum = std::accumulate(delta.begin(), delta.end(), 0.0), unit = std::accumulate(ones.begin(), ones.end(), 0.0);
        const double b = (sum + balance) / unit;
        for (std::size_t t = 0; t < m; ++t) direction[t] = delta[t] - b * ones[t];
        add_up_to(-balance, direction, ones);
        bias_ = b - constant_ * balance;  // K' delta = K delta - constant * balance
        const Hit hit = first_hit(inside_, direction, 1.0);
        full = hit.row < 0;
        const Index p = std::find(inside_.begin(), inside_.end(), hit.row) - inside_.begin();
        const bool last = full || !dependent_.empty() || gone.size() + 1 == std::min(m, policy::leave_at_once) || changes_ + 1 >= limit;
        if (!last && !inverse.knows(p)) inverse.learn(first_to_leave(direction));
        move(inside_, direction, hit);
        share_ *= 1 - hit.step;
        offset_ += hit.step * (bias_ - offset_);
        if (!full) gone.push_back(hit.row);
        if (last || watch_.expired() || !inverse.remove(p)) break;
        for (std::size_t t = 0; t < m; ++t) delta[t] = (1 - hit.step) * delta[t] + hit.step * bias_ * ones[t];
        balance *= 1 - hit.step;
        for (auto* x : {&delta, &ones}) inverse.follow(*x);
        watch_.look();
    }
    if (full || !dependent_.empty()) add_pending_to_F();  // rows that depended on those gone may enter T
    if (std::ssize(gone) > policy::removals_worth_a_factor) refactor(dependent_within_);
    else for (Index i : gone) leave(i);
    if (inside_.empty()) add_pending_to_F();
    return full;
}

}  // namespace abstain
