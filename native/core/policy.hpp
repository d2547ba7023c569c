// Every tuned number of the dual's solvers: when the precision, the method or the size of the work changes.
#pragma once

#include "index.hpp"

namespace abstain::policy {

// Which method (solve.cpp)
inline constexpr Index small_rows = 1000;
inline constexpr Index active_set_rows = 5000;
inline constexpr double nearly_right = 1e-6;
inline constexpr Index steps_before_active_set = 20;
inline constexpr Index search_steps_before_active_set = 60;
inline constexpr Index one_block_rows = 2048;
inline constexpr Index set_changes(Index n) { return 10 * n + 100; }
inline constexpr Index walk_up_changes(Index n) { return 50 * n + 1000; }
inline constexpr Index path_changes(Index n) { return 200 * n + 10000; }

// Which precision (solve.cpp)
inline constexpr Index steps_in_single = 200;
inline constexpr double fine_tolerance = 1e-4;
inline constexpr Index steps_in_single_if_fine = 20;
inline constexpr Index rows_checked_in_double = 256;
inline constexpr double drift_allowed = 0.5;
inline constexpr double rounding_share = 0.1;

// Blocks and sweeps (decomposition.cpp, shrinking.cpp, pair_solver.cpp)
inline constexpr int working_set = 1024;
inline constexpr int largest_working_set = 4096;
inline constexpr int rounds_to_halve = 8;
inline constexpr double violation_left_in_block = 0.1;
inline constexpr Index steps_in_block(Index rows) { return 200 * rows + 10000; }
inline constexpr int rounds_without_rise = 10;
inline constexpr double least_rise = 1e-15;
inline constexpr Index steps_between_looks = 512;
inline constexpr double share_that_stays = 0.7;

// Kernel values (dense_kernel.cpp, gram_kernel.cpp)
inline constexpr Index features_worth_caching = 64;
inline constexpr double far_spread = 512;
inline constexpr Index cost_of_scattered_read = 10;

// When F is recomputed (active_set.cpp, path.cpp)
inline constexpr int refinements = 3;
inline constexpr int pieces_between_refreshes = 256;
inline constexpr double lambda_share_between_refreshes = 0.25;
inline constexpr int idle_events = 64;
inline constexpr double nudge = 1e-9;

}  // namespace abstain::policy
