// The training problem of FR02 by descent: annealed in the steepness of the steps, then from several starts and by
// hops from the best point so far. The result is the lowest stationary point found, which need not be the global minimum.
#pragma once

#include <cstdint>

#include "embedded/descent.hpp"

namespace abstain {

struct PrimalSettings {
    Index hops = 32;
    std::uint64_t seed = 0;
    Index max_iter = 1'000'000;  // descent steps in all
};

struct PrimalOutcome {
    Point point;       // u, b, eps
    double value = 0;  // F / C
    Status status = Status::converged;
    Index iterations = 0;
};

// `starts`: points (u, b, eps) to begin from besides u = 0. Where w_R >= 1/2, eps is fixed at 0: under the loss
// 0 / w_R / 1 moving b by eps, one way or the other, never costs more than the band does.
PrimalOutcome solve_primal(const EmbeddedRows& rows, const EmbeddedLoss& loss, const std::vector<Point>& starts,
                           const PrimalSettings& settings, Watch& watch);

}  // namespace abstain
