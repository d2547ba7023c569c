// Shared by the tests of whole problems: a case that owns its rows and losses, the kernels by their definition, and
// optimality computed from the coefficients alone.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "coordinate.hpp"
#include "kernel.hpp"
#include "rows.hpp"

namespace abstain::testing {

struct Case {
    std::vector<double> X, weight;
    std::vector<std::int8_t> sign;
    std::vector<std::int32_t> kind;
    Index rows, features;
    LossTable losses;
    double total = 0;

    const double* row(Index i) const { return X.data() + i * features; }
    DenseRows dense() const { return {X.data(), rows, features}; }
    Problem problem() const { return {rows, sign.data(), weight.data(), kind.data(), &losses, total}; }
};

// Losses of so many pieces, a different one for each kind; `drop` is how far a knot lies below the one before.
inline LossTable losses_of(int kinds, int pieces, double drop) {
    LossTable table{pieces, {}, {}};
    for (int kind = 0; kind < kinds; ++kind) {
        table.breakpoints.push_back(0);
        for (int k = 0; k < pieces; ++k) {
            table.slopes.push_back(1.0 - drop * k + 0.1 * kind);
            table.breakpoints.push_back(table.breakpoints.back() + 0.3 + 0.2 * kind);
        }
    }
    return table;
}

// One loss per class.
inline void give_losses(Case& c, int pieces, double drop) {
    c.losses = losses_of(2, pieces, drop);
    for (std::int8_t y : c.sign) c.kind.push_back(y > 0);
}

inline double kernel(const KernelSpec& spec, const double* a, const double* b, Index features) {
    double dot = 0, distance = 0, absolute = 0;
    for (Index k = 0; k < features; ++k) {
        dot += a[k] * b[k];
        absolute += std::abs(a[k] - b[k]);
        distance += (a[k] - b[k]) * (a[k] - b[k]);
    }
    switch (spec.name) {
        case KernelName::linear: return dot;
        case KernelName::rbf: return std::exp(-spec.gamma * distance);
        case KernelName::laplacian: return std::exp(-spec.gamma * absolute);
        case KernelName::poly: return std::pow(spec.gamma * dot + spec.coef0, spec.degree);
        default: return std::tanh(spec.gamma * dot + spec.coef0);
    }
}

inline std::vector<double> gram_of(const KernelSpec& spec, const Case& c) {
    std::vector<double> K;
    for (Index i = 0; i < c.rows; ++i)
        for (Index j = 0; j < c.rows; ++j) K.push_back(kernel(spec, c.row(i), c.row(j), c.features));
    return K;
}

// max(up - F) - min(down - F), F and the codes from beta alone; and beta must be feasible.
inline double violation(const Problem& problem, const std::vector<double>& K, const double* beta) {
    double highest = -1e300, lowest = 1e300, sum = 0;
    for (Index i = 0; i < problem.size; ++i) {
        double F = 0;
        for (Index j = 0; j < problem.size; ++j) F += K[i * problem.size + j] * beta[j];
        const Coordinate now = coordinate_at(problem, i, beta[i]);
        assert(now.beta == beta[i]);  // inside its box
        highest = std::max(highest, problem.up(i, now.code) - F);
        lowest = std::min(lowest, problem.down(i, now.code) - F);
        sum += beta[i];
    }
    assert(std::abs(sum - problem.total) < 1e-9 * static_cast<double>(problem.size));
    return highest - lowest;
}

struct Compressed {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<Index> starts{0};
    SparseRows rows(Index features) const {
        return {values.data(), columns.data(), starts.data(), std::ssize(starts) - 1, features};
    }
};

inline Compressed compress(const Case& c) {  // zeros are left out
    Compressed s;
    for (Index i = 0; i < c.rows; ++i) {
        for (Index k = 0; k < c.features; ++k) {
            if (c.row(i)[k] == 0) continue;
            s.values.push_back(c.row(i)[k]);
            s.columns.push_back(static_cast<std::int32_t>(k));
        }
        s.starts.push_back(std::ssize(s.values));
    }
    return s;
}

}  // namespace abstain::testing
