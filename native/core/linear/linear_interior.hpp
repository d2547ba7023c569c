// An interior point method on the linear machine's dual: six to twelve steps, whatever the rows are like.
//
//   max  sum_ik t_ik g_ik - 1/2 |w|^2      w = sum_i y_i gamma_i x_i,   gamma_i = sum_k g_ik,   0 <= g_ik <= u_ik,   sum_i y_i gamma_i = 0
//
// with one g for each piece of a row's loss, t its knot and u its width. With the shares s = g / u and h = 1 - s, and the
// multipliers p and q of their bounds, the optimum is where mu = 0:
//
//   p - q = m - t,   s p = h q = mu,      m_i = y_i (x_i . w + b)
//
// A step changes s, p and q by ds, dp and dq towards products a and c:
//
//   ds = rate (t - m - dm + a / s - c / h),   rate = 1 / (p / s + q / h),   dp = a / s - p - p ds / s,   dq = c / h - q + q ds / h
//   (I + sum_i D_i (x_i, 1)(x_i, 1)') (dw, db) = sum_i y_i [gamma_i + sum_k u rate (t - m + a / s - c / h)] (x_i, 1) - (w, 0)
//
// where D_i = sum_k u_ik rate_ik, and I has no entry for b. A factor of this matrix serves several directions: to mu = 0, then with
// the products of those changes (Mehrotra, SIAM Journal on Optimization 2, 1992), then towards products that are too far from the
// others (Gondzio, Computational Optimization and Applications 6, 1996). A row of weight k is like k rows of weight 1.
#pragma once

#include "linear/linear_descent.hpp"

namespace abstain {

// Solves the problems one after another, each until its relative gap is at most `tol`; how far it came where a step fails.
std::vector<Descent> interior(const LinearRows& rows, const std::vector<Problem>& problems, double tol, Index most_steps, Watch& watch);

}  // namespace abstain
