// The dual of a kernel machine with a convex piecewise-linear margin loss of K knots per class:
//
//   max  sum_i phi_i(y_i beta_i) - 1/2 beta' K beta      s.t.  sum_i beta_i = 0,  0 <= y_i beta_i <= w_i u_K
//
// phi_i is concave and piecewise linear: slope t_k on [w_i u_k, w_i u_(k+1)], with 0 = u_0 < ... < u_K the
// breakpoints and t_0 > ... > t_(K-1) the knots of the loss of y_i's class, w_i = C times the sample's weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace abstain {

using Index = std::int64_t;

// Where g_i = y_i beta_i rests: code 2k on breakpoint k, 2k + 1 strictly between breakpoints k and k + 1.
using Code = std::int8_t;

struct Problem {
    Index size;
    const std::int8_t* sign;                // y_i, -1 or +1
    const double* weight;                   // w_i >= 0; a row of weight 0 never moves, but F is kept for it
    int pieces;                             // K
    std::vector<double> slopes[2];          // t_0 > ... > t_(K-1) of the negative and of the positive class
    std::vector<double> breakpoints[2];     // u_0 = 0 < ... < u_K

    int side(Index i) const { return sign[i] > 0; }
    double breakpoint(Index i, int k) const { return weight[i] * breakpoints[side(i)][k]; }
    Code top() const { return static_cast<Code>(2 * pieces); }

    double slope_right(Index i, Code c) const { return slopes[side(i)][c / 2]; }
    double slope_left(Index i, Code c) const { return slopes[side(i)][(c - 1) / 2]; }

    double phi(Index i, double g) const {
        double value = 0;
        for (int k = 0; k < pieces && g > breakpoint(i, k); ++k)
            value += slopes[side(i)][k] * (std::min(g, breakpoint(i, k + 1)) - breakpoint(i, k));
        return value;
    }

    // beta_i going up gains (up - F_i), going down loses (down - F_i), where F = K beta.
    double up(Index i, Code c) const {
        if (weight[i] == 0) return -std::numeric_limits<double>::infinity();
        if (sign[i] > 0) return c < top() ? slope_right(i, c) : -std::numeric_limits<double>::infinity();
        return c > 0 ? -slope_left(i, c) : -std::numeric_limits<double>::infinity();
    }
    double down(Index i, Code c) const {
        if (weight[i] == 0) return std::numeric_limits<double>::infinity();
        if (sign[i] > 0) return c > 0 ? slope_left(i, c) : std::numeric_limits<double>::infinity();
        return c < top() ? -slope_right(i, c) : std::numeric_limits<double>::infinity();
    }
};

}  // namespace abstain
