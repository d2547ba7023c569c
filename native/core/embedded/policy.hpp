// Every tuned number of FR02's solvers; policy.hpp has those of the others.
#pragma once

#include "embedded/descent.hpp"

namespace abstain::policy::embedded {

// ---- The loss (loss.cpp, inner.cpp) ----

// A sigmoid is 1 to the last bit beyond; a minimum left of a step lies where the step's slope, falling as exp(-s distance),
// meets the slope sought: within this many 1 / s.
inline constexpr double reach = 40;

// Newton's steps for the least slack end at this share of it: they converge quadratically, and the next would be at 1e-20.
inline constexpr double slack_settled = 1e-10;

// Samples of the loss: from `reach` below a step to `rise` above it, this far apart near it, all in 1 / s.
inline constexpr double rise = 2, spacing = 0.05;

// Newton's steps for an inner minimum, and the share of its value at which they end.
inline constexpr int inner_steps = 12;
inline constexpr double inner_settled = 1e-15;

// A start this much above the best one cannot win: spaced so, t / s is what it may gain.
inline constexpr double inner_start_worth = 0.02;

// Share of a cell of the table within which a multiplier counts as on its border.
inline constexpr double on_border = 0.01;

// ---- One descent (descent.cpp) ----

// Wolfe's conditions, attempts to meet them, and the share of |step| |change| that a pair's curvature must have.
inline constexpr double least_fall = 1e-4, least_flattening = 0.9;
inline constexpr int attempts = 30;
inline constexpr double least_curvature = 1e-10;

// ---- The search over minima (primal.cpp) ----

// Shares of the steepness. The first descent passes through all of `annealing`; later ones begin at 0.12 or above, for
// from blunter steps every start falls to the same point.
inline constexpr double annealing[] = {0.03, 0.06, 0.12, 0.25, 0.5, 1.0};

// Hops are many: each begins at one of three shares, and reaches the full steepness by way of one more. Without a band
// the loss is one high step, and blunter beginnings pay too.
struct Shares {
    double first[3];
    double middle[2];
};
inline constexpr Shares with_band{{0.12, 0.25, 0.5}, {0.5, 0.25}}, without_band{{0.12, 0.18, 0.25}, {0.25, 0.25}};

// Descents: the first one of a hop, at a share of the steepness, at all of it, further, on all rows, to the last digits.
inline constexpr DescentSettings off{30, 1e-4}, blunt{60, 1e-4}, steep{200, 1e-4}, further{200, 1e-5}, polish{1000, 1e-7},
    exact{5000, 1e-11};

inline constexpr double push = 1.0;      // of a hop: spread of the logarithms of weights and costs
inline constexpr double heavy = 8.0;     // weight of a row that a hop means to win back
inline constexpr Index patience = 150;   // hops without a fall after which another chain of hops begins
inline constexpr double hop_rise = 3e-3;  // the next hop starts from where this one ended unless F rose by more than this share
inline constexpr double worth = 5e-3;    // what ends higher than this is not descended further
inline constexpr double near = 1e-3;     // what ends higher than this is not polished
inline constexpr double same = 1e-6;     // two values of F that differ by less than this share count as one minimum

// ---- The dual (dual.cpp) ----

inline constexpr Index steps_between_slacks = 50;  // steps between two looks at which eps are near the minimum
inline constexpr int rounds_without_rise = 3, most_failures = 50;
inline constexpr std::size_t most_near = 6;        // values of eps
inline constexpr double least_weight = 0.01;       // of such a value
inline constexpr double heat = 0.1, cooling = 0.3;
inline constexpr double least_slope = 1e-9, least_bend = 1e-12;
inline constexpr double least_interval = 4e-3;     // of a line search, in steps of the table

}  // namespace abstain::policy::embedded
