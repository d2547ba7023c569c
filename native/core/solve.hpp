// From a problem and its data to an answer: which precision, which solver, and in which order.
#pragma once

#include "expansion.hpp"
#include "outcome.hpp"
#include "sparse_kernel.hpp"

namespace abstain {

struct Options {
    double tol = 1e-3;
    Index max_iterations = 10'000'000;
    double cache_bytes = 500e6;
    bool polish = true;  // bring small problems to the optimum exactly
};

Outcome solve(const Problem& problem, const KernelSpec& spec, const DenseRows& X, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch);
Outcome solve(const Problem& problem, const KernelSpec& spec, const SparseRows& X, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch);
// gram: row-major, symmetric.
Outcome solve(const Problem& problem, const double* gram, const double* start, const Options& options, ThreadPool& pool,
              Watch& watch);

}  // namespace abstain
