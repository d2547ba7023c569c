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
// 1, a multiple that is a little larger has no losses. A row that did not move is left out of the next 1, 3, 7, 15 epochs. Where
// epochs are many, steps over the rows between breakpoints come between them (linear_face.hpp).
//
// Several problems over the same rows are solved side by side: a visit to a row reads it once for eight of them, whose weights
// lie side by side.
//
// Hsieh et al. (ICML 2008) have this for the hinge with a penalised bias, and shrink instead.
#pragma once

#include <vector>

#include "linear/linear_rows.hpp"
#include "problem.hpp"
#include "watch.hpp"

namespace abstain {

struct Descent {
    std::vector<double> gamma;
    std::vector<double> point;  // the multiple of w and, last, b
    double gap;                 // relative; that of gamma if r = 0
    Index epochs;
};

struct DescentSettings {
    double tol;
    double passes;      // over the entries of all rows, each counted as often as it is read
    Index most_epochs;  // besides twice as many epochs as passes, where rows rest
    double patience;    // a problem ends where two looks in a row predict that more passes than these are left for each
};

// From multipliers `gamma` of all problems, one after another, and their biases; until all gaps are at most `tol`, or a limit.
// The problems' losses have equally many pieces.
std::vector<Descent> descend(const LinearRows& rows, const std::vector<Problem>& problems, const double* gamma, const double* bias,
                             const DescentSettings& settings, Watch& watch);

}  // namespace abstain
