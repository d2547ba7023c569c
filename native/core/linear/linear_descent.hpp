// Coordinate descent on the linear machine's dual: one multiplier at a time, in random order, with w at hand.
//
//   max  sum_i phi_i(gamma_i) - 1/2 |w|^2      w = sum_i y_i gamma_i x_i,   0 <= gamma_i <= top_i,   r = sum_i y_i gamma_i = 0
//
// The bias is the multiplier of r = 0, and b = b_0 + s r the penalty on it (s is a share of the mean of |x_i|^2): row i moves as if it had
// a feature sqrt(s) more, and b_0 <- b after each epoch. With the margins m_i = y_i (x_i . w + b) the duality gap is
//
//   sum_i [w_i loss_i(m_i) + gamma_i m_i - phi_i(gamma_i)] - b r
//
// It is computed after more and more epochs, with the primal value at the best multiple of (w, b): where all margins are nearly
// 1, a multiple that is a little larger has no losses. A row that did not move is left out of the next 1, 3, 7, 15 epochs.
//
// Hsieh et al. (ICML 2008) have this for the hinge with a penalised bias, and shrink instead.
#pragma once

#include "linear/linear_rows.hpp"
#include "problem.hpp"
#include "watch.hpp"

namespace abstain {

struct Descent {
    std::vector<double> gamma, margin;
    std::vector<double> point;  // the multiple of w and, last, b
    double gap;                 // relative; that of gamma if r = 0
    Index epochs;
};

// From multipliers `gamma`, n of them, and a bias; until the gap is at most `tol`, or for so many entries of the rows, each of
// them counted as often as it is read, as `passes` over all of them have; or for twice as many epochs, where rows rest.
Descent descend(const LinearRows& rows, const Problem& problem, const double* gamma, double bias, double tol, double passes,
                Index most_epochs, Watch& watch);

}  // namespace abstain
