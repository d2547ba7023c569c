// Every tuned number of the solvers but FR02's (embedded/policy.hpp): when the precision, the method or the size of the work changes.
//
// "x1.7 at 2048" means that another value, 2048, took 1.7 times the CPU time. Measured in November 2026 on one core with
// AVX-512, on generated double-hinge problems of n rows with 5 or 6 features unless d says otherwise; the best of several
// runs, on a busy machine, so that 5 % is noise. "Commit" names a measurement in the history, benchmarks/ the tables.
#pragma once

#include "index.hpp"

namespace abstain::policy {

// ---- Which method (solve.cpp) ----

// Rows up to which the matrix is held in double and the answer polished by the active set. Chosen for exact small answers,
// not for speed: at 500 n = 900 takes x0.5 (C = 10), n = 700 x2.4 (C = 1000); at 2000 n = 1900 takes x4.
inline constexpr Index small_rows = 1000;

// Beyond, the active set takes over where pair steps stall, if its predicted cost is at most that of the pair steps left
// times 8: those would end without an answer. Costs are in multiplications, about 8 of them a nanosecond; with m rows between
// breakpoints a change costs m^2 for a column of the inverse, and m n kernel values for every 64th change, as full steps need F.
inline constexpr double cost_of_pair_step = 8 * 8192;
inline constexpr double cost_of_change(double m, double n, double value) { return m * m + m * n * value / 64; }
inline constexpr double cost_of_factor(double m) { return m * m * m / 10; }

// It also takes over where its cost, times the first number, is below that of the pair steps that are still to come: what a row
// costs in each, times the steps since the violation last halved, times the halvings to the tolerance. A row that violates on a
// breakpoint is likely to cost two changes, one between them one if the violation is as large as the knots are apart, and F in
// double of all rows is needed twice. A matrix is made in fresh memory first. Fits of few rounds end sooner than it is made.
inline constexpr double cost_of_row_in_step = 5, margin_of_pair_steps = 1, cost_of_fresh_value = 24;
inline constexpr double changes_of_violator = 2, sums_in_double = 2;

// Violation at which pair steps hand over to the active set: the sets are then nearly right. x0.8 to x1.06 at 1e-5, x1.03
// to x1.2 at 1e-7 (n = 700 to 900).
inline constexpr double nearly_right = 1e-6;

// The same for one of many problems, most of which are small: 50 classes of 40 rows take x1.45 at 1e-6, x1.1 at 1e-3, x1.06 at
// 1e-1; 10 classes of 250 rows (d = 784) x1.1, x1.0 and x1.1; 10 classes of 300 rows (d = 8, C = 100) x2.1 and x1.3.
inline constexpr double nearly_right_of_many = 1e-2;

// Beyond so few rows, a part that has some of the rows takes so many pair steps per row towards the tolerance first, and
// ends there if rows that miss it leave a relative gap of at most so many tolerances: 10 classes of 300 rows (d = 50) take
// x0.76, with C = 100 x1.0. Smaller parts end exactly, so that sparse and dense rows have the same machine to 1e-7; from
// 64 rows on, 50 classes of 40 rows would take x0.83.
inline constexpr Index few_rows = 128, steps_to_the_end = 2;
inline constexpr double gap_in_tolerances = 10;

// Pair steps per row until the active set takes over anyway, because pair steps are slow on ill-conditioned problems: at 80
// x3.2 (n = 700, C = 1000) and x1.8 (linear, columns of very different scale); at 5 x1.6 and x0.8.
inline constexpr Index steps_before_active_set = 20;

// The same in a search, whose tolerance pair steps usually reach; beyond small problems, in single precision: x1.2 at 15 (rbf, n = 500), x1.7 at 240 (poly, n = 300).
inline constexpr Index search_steps_before_active_set = 60;

// Rows up to which a search runs pair steps on the whole matrix (16 MB in single) instead of blocks and sweeps. Depends on
// the processor's cache: x0.7 at 1024 for n = 1500, but x0.64 at 4096 for n = 2500.
inline constexpr Index one_block_rows = 2048;

// Beyond, where the matrix is held: pair steps per row over all rows before blocks follow. Most fits of a search start near
// their end, in fewer steps than a block takes to make. x1.5 to x1.8 at 0 (n = 3000, 1.0 to 1.2 at 6000), x1.05 at 4, x1.0
// to x1.5 at 1000.
inline constexpr Index search_steps_on_all_rows = 2;

// Rows that enter the active set together, and the share of the worst violation that they must have.
inline constexpr std::size_t released_at_once = 64;
inline constexpr double share_of_worst_violation = 0.1;

// Rows that leave in one step before the factor follows it; columns of the inverse found together; rows whose removal from the
// factor costs as much as a new one (m = 500 to 3100).
inline constexpr std::size_t leave_at_once = 256;
inline constexpr Index columns_at_once = 16, removals_worth_a_factor = 100;

// Share of a pivot of the inverse below which rounding may show in what is left.
inline constexpr double pivot_left = 1e-8;

// A row depends on the others if they leave less than this share of its diagonal.
inline constexpr double dependent = 1e-12, dependent_if_fine = 1e-14;

// The constant added to the kernel of the active set is the mean of the diagonal, at most so many medians.
inline constexpr double mean_over_median = 1000;

// Rows that the Cholesky factor takes in one pass over it: they should fit the second-level cache.
inline constexpr Index rows_in_panel = 32;

// Changes of the active set after which it counts as stalled: limits against cycling, far above what the tests need.
inline constexpr Index set_changes(Index n) { return 10 * n + 100; }
inline constexpr Index walk_up_changes(Index n) { return 50 * n + 1000; }
inline constexpr Index path_changes(Index n) { return 200 * n + 10000; }

// ---- Which precision (solve.cpp) ----

// Pair steps per row after which single precision is left: it may be what holds the steps up. x1.0 at 800, x0.73 at 50
// (n = 5000, C = 1000).
inline constexpr Index steps_in_single = 200;

// Below this tolerance, single precision is likely to hold them up, and is left sooner: two to five times as fast as with
// 200 (commit 5c43391); x1.3 to x1.8 at 80, x0.8 to x1.1 at 5 (n = 2000 and 4000).
inline constexpr double fine_tolerance = 1e-4;
inline constexpr Index steps_in_single_if_fine = 20;

// Rows on which F in single precision is compared with double, and the share of the tolerance by which it may differ: half
// the tolerance leaves the other half to the solver. The check costs 256 / n of a sweep in double.
inline constexpr Index rows_checked_in_double = 256;
inline constexpr double drift_allowed = 0.5;

// In a search F counts as blurred if this share of the rounding bound, epsilon * sum |beta|, exceeds the tolerance: errors
// of both signs cancel. Found on a search with a large jump in C (commit 614614b).
inline constexpr double rounding_share = 0.1;

// ---- Blocks and sweeps (decomposition.cpp, shrinking.cpp, pair_solver.cpp) ----

// Rows of a block: 4 MB of values in single, which the second-level cache nearly holds. At 512 x0.9 (C = 1) to x1.4 (n =
// 4000, C = 100); at 2048 x1.1 to x1.75.
inline constexpr int working_set = 1024;

// What a block may grow to if progress is slow: 64 MB in single. x1.0 at 2048 and at 8192 (n = 4000 and 5000). Of one large
// problem, to the second number where it fits half of the cache.
inline constexpr int largest_working_set = 4096, largest_in_cache = 8192;

// Rows up to which one of many problems begins with pair steps over all its rows, with kernel rows made when they are first
// needed: 325 pairs of 1,230 rows (Letter, d = 16) take x0.3 of the time of blocks of 1024 rows, x0.55 of that of blocks of
// 192; a single fit of 2000 rows takes x0.75 to x0.9, but x1.5 at C = 1000. So blocks follow after so many steps a row.
inline constexpr Index rows_on_demand = 2048, steps_on_demand = 10;

// One class of at least so many rows, up to 1,000, does the same if its total is at most this share of what its rows allow:
// x0.8 (n = 1000, d = 8, 0.05), x1.0 (n = 200), x1.0 at a share of 0.2, x1.1 at 0.5, x1.4 at d = 500.
inline constexpr Index least_on_demand = 400;
inline constexpr double share_on_demand = 0.1;

// Share of the tolerance to which these pair steps go: F in single has to agree with its sum in double only up to the rest.
inline constexpr double tolerance_on_demand = 0.9;

// Pair steps before rows are first set aside there: x1.1 at n / 8 (C = 1), x1.05 without (C = 10).
inline constexpr Index steps_before_shrinking(Index rows) { return rows / 2; }

// Values of the pieces that these kernel rows are stored in: 256 KB in single.
inline constexpr Index values_in_piece = 1 << 16;

// Rounds in which the violation should halve, else the block grows. x0.9 to x1.07 at 4, x0.96 to x1.0 at 16. It also grows where
// the rows between breakpoints are so many times the block.
inline constexpr int rounds_to_halve = 8;
inline constexpr double blocks_between = 1.5;

// Share of the violation left in a block when its pair steps stop: x1.02 to x1.08 at 0.03, x1.02 to x1.12 at 0.3.
inline constexpr double violation_left_in_block = 0.1;

// Pair steps in one block after which the other rows get their turn: a limit against stalling, not tuned.
inline constexpr Index steps_in_block(Index rows) { return 200 * rows + 10000; }

// A rise of the dual below this share of it is rounding; after so many rounds without more, the answer is `inaccurate`.
inline constexpr double least_rise = 1e-15;
inline constexpr int rounds_without_rise = 10;

// Least curvature of a pair step, as a share of |K_ii + K_jj|: 1e-12 for rbf. Rounding can leave less between equal rows, or
// below 0. Relative, so that the unit of the rows does not matter.
inline constexpr double least_curvature = 5e-13;

// Share of the heavier class's sum that counts as rounding where coefficients are made to add up, and of a row's largest
// coefficient that puts it there.
inline constexpr double rounding_of_sum = 1e-12;

// A slope of the loss in the bias this small, as a share of all its bends, is 0.
inline constexpr double rounding_of_slope = 1e-12;

// Pair steps between two checks of the clock: 0.2 ms, at 0.4 us a step in a block of 1024 rows (ARCHITECTURE.md).
inline constexpr Index steps_between_looks = 512;

// Rows are packed anew if at most this share stays active: x0.94 to x1.09 at 0.5, x0.84 to x1.04 at 0.85.
inline constexpr double share_that_stays = 0.7;

// ---- Kernel values (dense_kernel.cpp, gram_kernel.cpp) ----

// Features from which rows of the kernel matrix are cached: below, computing a value is cheaper than touching fresh memory
// for it (commit 6ca748e). x1.0 at 32 (d = 40), x0.8 at 128 for a short fit (d = 100, n = 3000, C = 10).
inline constexpr Index features_worth_caching = 64;

// Distances of sparse rows below this share of the sum of the rows' sizes are taken from differences: from overlaps, they
// would lose more than three bits. Rows with few entries in common, the usual ones, have shares near 1. The loss is less than
// eight roundings of the kernel value where gamma times the sum is at most the second number.
inline constexpr double cancelled_share = 0.125, rounded_exponent = 8;

// Bytes up to which all values between the rows of parts are made at once: more are made piece by piece. 100 x 500 in
// 10 classes took x1.3 at 0 while columns of pieces were rounded up to 32; 300 x 500 in 4 takes x1.35 at 1 MB, 300 x 8 in 10 x1.0.
inline constexpr double values_in_cache = 1 << 18;

// Largest |x|^2 / 2 of the scaled, centred rows up to which distances are taken by products: beyond, rounding in
// float changes an exponent by more than 512 / 2^23 = 6e-5, and the kernel value by that share.
inline constexpr double far_spread = 512;

// Cost of reading a single value of a matrix in memory, relative to a value in a whole row (commit eac9f37): x1.3 at 3,
// x0.9 at 30 (search, n = 2500).
inline constexpr Index cost_of_scattered_read = 10;

// ---- When F is recomputed (active_set.cpp, path.cpp) ----

// Repeated full steps while the rows between breakpoints are off their knots by more than rounding.
inline constexpr int refinements = 3;

// Share of the worst violation on a breakpoint below which they need not be repeated before more rows enter.
inline constexpr double settled = 1e-3;

// The error of F from rounding, for each row: knots lambda max |t| + sums root_i sum_j |beta_j| root_j. A smaller violation
// means nothing.
inline constexpr double rounding_of_knots = 1e-13, rounding_of_sums = 4e-16;

// Share of the largest knot by which the score of a row that depends on others must drift to leave its knot.
inline constexpr double drift_of_dependent = 1e-8;

// A step below this share of lambda leaves it where it is.
inline constexpr double idle_step = 1e-14;

// Newton steps across a band without rows between breakpoints: a limit against cycling.
inline constexpr int steps_across_band = 1000;

// Share of the largest knot by which the rates of a path may miss their knots: rounding leaves about 1e-13 if K is well
// conditioned.
inline constexpr double rates_off = 1e-11;

// F is recomputed after so many pieces of the path, and where lambda has fallen to this share: rounding left from a larger F
// would show (commit 6dbde1a). Both cost little: x1.0 at 64 and 1024 pieces, x1.1 at 0.5, x1.0 at 0.1 (n = 250).
inline constexpr int pieces_between_refreshes = 256;
inline constexpr double lambda_share_between_refreshes = 0.25;

// Largest relative duality gap at which the end of a piece counts as on the path, and after a repair, which rounding may keep
// from more; 1e-6 is promised of every point.
inline constexpr double gap_of_path = 1e-7, gap_of_repaired_path = 5e-7, gap_hidden_by_rounding = 1e-6;
inline constexpr double near_a_knot = 10;  // in errors of the score

// Pieces between two checks; those checked one by one after a failure; and the violation, in knots, at which a check is made at
// once.
inline constexpr std::size_t pieces_between_checks = 8;
inline constexpr int pieces_after_failure = 64;
inline constexpr double violation_of_path = 1e-9;

// A piece that fails is tried again with a new factor, then from an exact fit; then chords are drawn, at most so many and of
// these shares of lambda. Repairs are limited because each costs as much as a fit.
inline constexpr int failures_before_chord = 2, failures_of_piece = 4, chords = 8;
inline constexpr double longest_chord = 1.0 / 64, chord_shrinks = 1.0 / 8;
inline constexpr Index repair_steps(Index n) { return 1000 * n; }
inline constexpr Index repairs_of_path(Index n) { return 2 * n + 100; }

// Events in a row that leave lambda where it is, after which lambda is lowered by the share `nudge`: simultaneous events
// (ties, duplicates) could cycle. The refresh that follows makes the answer exact again.
inline constexpr int idle_events = 64;
inline constexpr double nudge = 1e-9;

// ---- Linear machines (linear_block.cpp) ----

// Rows are summed by chunks, which threads share: at least so many rows, at most so many chunks, and at most so many entries
// in the sums of all of them (128 MB). The order of the sums, and so the last bits of the answer, depend on them.
inline constexpr Index least_chunk = 1024, most_chunks = 256, most_sums = 1 << 24;

// Bytes of the rows that a Hessian is summed from at a time, a panel; panels that threads sum before they wait for each other;
// rows of the Hessian that a thread sums at a time.
inline constexpr Index panel_bytes = 512 * 1024, panels = 8, strip = 32;

// Rows of a factor that are made before the rows below them learn of it.
inline constexpr Index factor_rows = 16;

// Chunks between two looks at the clock.
inline constexpr Index chunks_between_looks = 64;

}  // namespace abstain::policy
