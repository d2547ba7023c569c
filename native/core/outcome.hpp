#pragma once

#include <exception>
#include <vector>

#include "problem.hpp"

namespace abstain {

enum class Status { optimal, inaccurate, iteration_limit, time_limit };

struct Outcome {
    std::vector<double> beta;
    std::vector<double> expansion;  // F = K beta
    std::vector<Code> codes;
    Status status = Status::optimal;
    Index iterations = 0;
    double violation = 0;           // max(up - F) - min(down - F)
    double bias = 0;                // half-way between the two
};

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace abstain
