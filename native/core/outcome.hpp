#pragma once

#include <cmath>
#include <exception>
#include <limits>
#include <vector>

#include "problem.hpp"

namespace abstain {

// How any solver here ended. `converged`: its own stopping rule holds, which is the optimum for the dual of problem.hpp and
// a stationary point for FR02's machine. `inaccurate`: rounding forbids further progress.
enum class Status : std::uint8_t { converged, inaccurate, iteration_limit, time_limit };

struct Outcome {
    std::vector<double> beta;
    std::vector<double> expansion;  // F = K beta
    std::vector<Code> codes;
    Status status = Status::converged;
    Index iterations = 0;
    double violation = 0;  // max(up - F) - min(down - F)
    double bias = 0;       // half-way between the two
};

// Violation and bias from codes and F, with all knots times `lambda`.
inline void judge(const Problem& problem, Outcome& outcome, double lambda = 1) {
    double highest = -std::numeric_limits<double>::infinity(), lowest = -highest;
    for (Index i = 0; i < problem.size; ++i) {
        highest = std::max(highest, lambda * problem.up(i, outcome.codes[i]) - outcome.expansion[i]);
        lowest = std::min(lowest, lambda * problem.down(i, outcome.codes[i]) - outcome.expansion[i]);
    }
    outcome.violation = highest - lowest;
    if (std::isfinite(highest + lowest)) outcome.bias = 0.5 * (highest + lowest);
}

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace abstain
