// The training problem of FR02 by descent: annealed in the steepness of the steps, then from several starts and by
// hops from the best point so far. The result is the lowest of all stationary points found, which need not be the global
// minimum.
#pragma once

#include <cstdint>

#include "embedded/descent.hpp"

namespace abstain {

struct PrimalSettings {
    Index hops = 500;
    std::uint64_t seed = 0;
    Index max_iter = 1'000'000;  // descent steps in all
};

struct PrimalOutcome {
    Point point;       // u, b, eps
    double value = 0;  // F / C
    Status status = Status::converged;
    Index iterations = 0;
};

// `rough`: the same problem with rounded numbers, its rows in any order. The search runs on it, so that rounding errors in
// `rows` cannot lead it to another minimum; what it finds is polished on `rows`.
// `starts`: points (u, b, eps) to begin from besides u = 0; `later`: points tried after all hops, which they do not change.
// Where w_R >= 1/2, eps is fixed at 0: under the loss 0 / w_R / 1 moving b by eps, one way or the other, never costs more
// than the band does. More hops never raise F.
PrimalOutcome solve_primal(const EmbeddedRows& rows, const EmbeddedRows& rough, const EmbeddedLoss& loss,
                           const std::vector<Point>& starts, const std::vector<Point>& later, const PrimalSettings& settings,
                           Watch& watch);

}  // namespace abstain
