// Every tuned number of the linear machine's solvers.
#pragma once

#include "index.hpp"

namespace abstain::linear_policy {

// ---- Newton steps (linear_newton.cpp) ----

inline constexpr double polished = 1e-15;  // relative gap below which nothing can be gained
// Relative gap below which so many penalties that do not halve it mean rounding; and steps that do not halve the decrement.
inline constexpr double rounded = 1e-10;
inline constexpr int stalls = 3, idle_steps = 2;
// Of sigma, after an inner problem of at most so many steps or where stalls end the fit, and otherwise. Steps with 3, 1.6, and both:
// sparse 3,000 x 500: 59, 37, 44; 20,000 x 20: 8, 13, 8; the same with C = 10,000: 22, 39, 17.
inline constexpr double growth = 3, slow_growth = 1.6;
inline constexpr Index easy = 1;
inline constexpr double inner = 0.1;        // share of the change of the multipliers that the error of an inner problem may have
inline constexpr double flat = 0.1;         // share of the first slope at which a line search may end
inline constexpr int most_inner = 40;       // Newton steps of one inner problem
inline constexpr int penalties = 60;        // values of sigma
inline constexpr Index most_polished = 500;  // Newton steps after which polishing ends
inline constexpr int trials = 60;           // step lengths of one line search, or calls for several
inline constexpr int cg_steps = 200;        // of conjugate gradients, where the Hessian is not formed, and their accuracy
inline constexpr double cg_accuracy = 0.1;
inline constexpr double first_steps[] = {0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.3, 2.0, 5.0};  // for several at once

// Entries of a point up to which a Hessian is factored here: beyond, LAPACK is faster.
inline constexpr Index factored_here = 100;

// Share of its entries that a sum of (x_i, 1)(x_i, 1)' may have on average, for it to be summed entry by entry.
inline constexpr double sparse_outer = 0.1;

// Share of its largest value that a diagonal entry of a Hessian must keep, for rows to be taken from it: otherwise it is summed
// again.
inline constexpr double left_over = 1e-3;

// ---- Coordinate descent (linear_descent.cpp) ----

// Share of a row's multiplier below which it has not moved, or is on a breakpoint.
inline constexpr double resting = 1e-12;

// Penalty on r over the mean of |x_i|^2: a large one shortens every step, with a small one the bias lags behind. Epochs with
// 1, 0.1, 0.05, 0.01 and 0.001: text, 20,000 x 20,000: 223, 101, 95, 89, 88; 300 x 5,000: 32, 13, 12, 15, 82.
inline constexpr double bias_share = 0.05;

// Epochs that a row which does not move is left out of at most. Text, 20,000 x 20,000: passes x1.4 (C = 1) at 3, x2.7 at 0.
inline constexpr int longest_nap = 15;

// Epochs before the duality gap is computed first, epochs for each of the passes allowed, and what (w, b) is stretched by at most.
inline constexpr Index first_look = 6;
inline constexpr double epochs_per_pass = 2, most_stretch = 0.1;

// A pass for eight problems over one for a single problem; epochs after which a problem is not left for interior point steps: the
// passes made would be lost.
inline constexpr double pass_of_eight = 2;
inline constexpr Index decided = 16;

// A row is visited again at once if its part of the duality gap is so many times the mean.
inline constexpr double waking = 0.01;

// Epochs before the first step over the rows between breakpoints, and between two of them, for one problem and for several, whose
// epochs cost little more and whose steps cost as much each. Sparse 300 x 500: 0.38 ms with 10 and 6, 0.60 with 30 and 10; ten
// classes: 1.9 and 1.3.
inline constexpr Index first_face[] = {10, 30}, face_epochs[] = {6, 10};
// Turns of conjugate gradients in each, and the share of the first residual's square at which they end; share of the rows that may
// leave their piece; least share of a step. 1,000 x 500: 10 ms with 100 and 1e-6, 7 with 40 and 1e-3.
inline constexpr int face_turns = 40;
inline constexpr double face_accuracy = 1e-3, leaving = 0.03, least_share = 0.01;

// ---- Interior point method (linear_interior.cpp) ----

// Share of the way to the nearest bound that a step takes; least step; and the gap over the tolerance from which it is computed
// exactly.
inline constexpr double inside = 0.99, least_step = 1e-6, near_gap = 2;
// Corrections of a direction, unless it reaches so far; how much further each tries to reach, and must, together; and the products
// over their aim that are left as they are. Steps for 12 tables with 0, 1, 2 and 3: 129, 106, 90, 88.
inline constexpr int corrections = 2;
inline constexpr double far = 0.95, further = 0.3, gained = 0.02, least_product = 0.1, most_product = 10;
inline constexpr Index panel = 1 << 14;  // entries of dense rows that are summed at a time

// ---- Certificate (row_check.cpp) ----

inline constexpr Index checked = 1 << 14;  // entries of rows that are summed at a time: they stay in the processor's cache

}  // namespace abstain::linear_policy
