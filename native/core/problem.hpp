// The dual of a kernel machine with a convex piecewise-linear margin loss of K knots per row:
//
//   max  sum_i phi_i(y_i beta_i) - 1/2 beta' K beta      s.t.  sum_i beta_i = total,  0 <= y_i beta_i <= w_i u_K
//
// phi_i is concave and piecewise linear: slope t_k on [w_i u_k, w_i u_(k+1)], with 0 = u_0 < ... < u_K the
// breakpoints and t_0 > ... > t_(K-1) the knots of row i's loss, w_i = C times the row's weight. The total is 0, but for
// the machine of one class.
#pragma once

#include <algorithm>
#include <limits>

#include "index.hpp"

namespace abstain {

// Where g_i = y_i beta_i rests: code 2k on breakpoint k, 2k + 1 strictly between breakpoints k and k + 1.
using Code = std::int8_t;
inline constexpr int most_pieces = 59;  // so that every code fits an int8

// The distinct losses, one per line: two if they depend on the class only, up to n if each row has its own.
struct LossTable {
    int pieces;                       // K
    std::vector<double> slopes;       // (L, K): t_0 > ... > t_(K-1)
    std::vector<double> breakpoints;  // (L, K + 1): u_0 = 0 < ... < u_K

    // The same losses with every knot times `numerator` over `denominator`.
    LossTable scaled(double numerator, double denominator = 1) const {
        LossTable table = *this;
        for (double& t : table.slopes) t = t * numerator / denominator;
        return table;
    }
};

// Everything is borrowed: the arrays and the table must outlive the problem and every object that solves it.
struct Problem {
    Index size;
    const std::int8_t* sign;   // y_i, -1 or +1
    const double* weight;      // w_i >= 0; a row of weight 0 never moves, but F is kept for it
    const std::int32_t* kind;  // the line of the table with row i's loss
    const LossTable* losses;
    double total = 0;  // what the coefficients add up to

    int pieces() const { return losses->pieces; }
    double breakpoint(Index i, int k) const { return weight[i] * losses->breakpoints[Index(kind[i]) * (pieces() + 1) + k]; }
    double slope(Index i, int k) const { return losses->slopes[Index(kind[i]) * pieces() + k]; }
    Code top() const { return static_cast<Code>(2 * pieces()); }

    double phi(Index i, double g) const {
        double value = 0;
        for (int k = 0; k < pieces() && g > breakpoint(i, k); ++k)
            value += slope(i, k) * (std::min(g, breakpoint(i, k + 1)) - breakpoint(i, k));
        return value;
    }

    // beta_i going up gains (up - F_i), going down loses (down - F_i), where F = K beta.
    double up(Index i, Code c) const {
        if (weight[i] == 0) return -std::numeric_limits<double>::infinity();
        if (sign[i] > 0) return c < top() ? slope(i, c / 2) : -std::numeric_limits<double>::infinity();
        return c > 0 ? -slope(i, (c - 1) / 2) : -std::numeric_limits<double>::infinity();
    }
    double down(Index i, Code c) const {
        if (weight[i] == 0) return std::numeric_limits<double>::infinity();
        if (sign[i] > 0) return c > 0 ? slope(i, (c - 1) / 2) : std::numeric_limits<double>::infinity();
        return c < top() ? -slope(i, c / 2) : std::numeric_limits<double>::infinity();
    }
};

}  // namespace abstain
