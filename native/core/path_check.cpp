// Whether the path has drifted from the optimum, and the way back to it.
#include <cmath>

#include "path.hpp"
#include "policy.hpp"

namespace abstain {

// (primal - dual) / primal at lambda, which F and gamma as they are kept decide in O(n):
//
//   primal - dual = sum_i |loss_i(z_i) + g_i z_i - lambda phi_i(g_i)| + |bias sum_i gamma_i|      z = y (F + bias),  g = y gamma
//
//   loss_i(z) = max_g lambda phi_i(g) - g z = sum_k (w_i u_(k+1) - w_i u_k) max(0, lambda t_k - z)
double Path::relative_gap() const {
    const double lambda = sets_.lambda();
    double bias = sets_.bias();
    if (sets_.inside().empty()) {
        Index rising = -1, falling = -1;
        const double width = band(lambda, &rising, &falling);
        bias = lambda * up(rising) - sets_.F(rising) + 0.5 * width;
    }
    double gap = 0, losses = 0, product = 0, sum = 0;
    for (Index i = 0; i < problem_.size; ++i) {
        if (problem_.weight[i] == 0) continue;
        const double gamma = sets_.coordinate(i).beta, z = problem_.sign[i] * (sets_.F(i) + bias), g = problem_.sign[i] * gamma;
        double loss = 0, phi = 0;
        for (int k = 0; k < problem_.pieces(); ++k) {
            const double from = problem_.breakpoint(i, k), to = problem_.breakpoint(i, k + 1), slope = lambda * problem_.slope(i, k);
            loss += (to - from) * std::max(0.0, slope - z);
            phi += std::max(0.0, std::min(g, to) - from) * slope;
        }
        gap += std::abs(loss + g * z - phi);
        losses += loss;
        product += gamma * sets_.F(i);
        sum += gamma;
    }
    return (gap + std::abs(bias * sum)) / (0.5 * product + losses);
}

bool Path::certified() const { return !solver_ || relative_gap() <= policy::gap_of_path; }

// After a piece from here has failed. The next try has a new factor, the one after that new sets, and those that follow are
// shorter and shorter. False: none of it helps.
bool Path::repair(Index limit) {
    if (++failures_ > policy::failures_of_piece || ++repairs_ > policy::repairs_of_path(problem_.size)) return false;
    if (failures_ > policy::failures_before_shortening) return true;
    if (failures_ > 1) return solve_again(limit);
    sets_.refactor();
    return (sets_.refresh(limit) && certified()) || solve_again(limit);
}

// The sets from a fit at this lambda.
bool Path::solve_again(Index limit) {
    if (!solver_) return false;
    std::vector<double> gamma;
    for (Index i = 0; i < problem_.size; ++i) gamma.push_back(sets_.coordinate(i).beta);
    sets_.begin(solver_(sets_.lambda(), gamma));
    sets_.finish(limit);
    return certified();
}

}  // namespace abstain
