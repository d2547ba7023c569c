// From a problem and its data to an answer: which precision, which solver, and in which order.
#pragma once

#include <memory>
#include <variant>

#include "expansion.hpp"
#include "outcome.hpp"
#include "path.hpp"
#include "sparse_kernel.hpp"

namespace abstain {

// The kernel matrix itself, row-major and symmetric.
struct GramRows {
    const double* values;
};

using Rows = std::variant<DenseRows, SparseRows, GramRows>;

enum class Method {
    automatic,   // pair steps, and the active set where it is cheap
    pairs,
    active_set,  // exact, whatever it takes
};

struct Options {
    Method method = Method::automatic;
    double tol = 1e-3;
    Index max_iterations = 10'000'000;
    double cache_bytes = 500e6;
};

// The kernel in double, for any kind of rows.
std::unique_ptr<KernelMatrix<double>> kernel_in_double(const Problem& problem, const KernelSpec& spec, const Rows& rows,
                                                       double cache_bytes, ThreadPool& pool, Watch& watch);

// start: nullptr, or coefficients to begin with.
Outcome solve_exactly(const Problem& problem, KernelMatrix<double>& kernel, const double* start, const Options& options,
                      Watch& watch);
Outcome solve(const Problem& problem, const KernelSpec& spec, const Rows& rows, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch);

// All optima for C from lowest to highest; the weights of the problem are those of C = 1.
PathPieces follow_path(const Problem& problem, const KernelSpec& spec, const Rows& rows, double lowest, double highest,
                       const Options& options, ThreadPool& pool, Watch& watch);

}  // namespace abstain
