// What the tests of whole problems share: a case that owns its rows, its losses, and the kernels by their definition.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel_matrix.hpp"
#include "problem.hpp"

namespace abstain::testing {

struct Case {
    std::vector<double> X, weight;
    std::vector<std::int8_t> sign;
    Index rows, features;
    Problem problem;

    const double* row(Index i) const { return X.data() + i * features; }
};

// Losses of so many pieces, other ones for each class; `drop` is how far a knot lies below the one before.
inline Problem problem_of(Index rows, int pieces, double drop) {
    Problem problem{rows, nullptr, nullptr, pieces, {}, {}};
    for (int side = 0; side < 2; ++side) {
        problem.breakpoints[side].push_back(0);
        for (int k = 0; k < pieces; ++k) {
            problem.slopes[side].push_back(1.0 - drop * k + 0.1 * side);
            problem.breakpoints[side].push_back(problem.breakpoints[side].back() + 0.3 + 0.2 * side);
        }
    }
    return problem;
}

inline double kernel(const KernelSpec& spec, const double* a, const double* b, Index features) {
    double dot = 0, distance = 0;
    for (Index k = 0; k < features; ++k) {
        dot += a[k] * b[k];
        distance += (a[k] - b[k]) * (a[k] - b[k]);
    }
    switch (spec.name) {
        case KernelName::linear: return dot;
        case KernelName::rbf: return std::exp(-spec.gamma * distance);
        case KernelName::poly: return std::pow(spec.gamma * dot + spec.coef0, spec.degree);
        default: return std::tanh(spec.gamma * dot + spec.coef0);
    }
}

}  // namespace abstain::testing
