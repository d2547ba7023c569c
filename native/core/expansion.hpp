// f(x) = sum_s coef_s k(x, s) for new rows x, and kernel values with them, in double.
#pragma once

#include <span>

#include "kernel.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

void expand(const KernelSpec& spec, const DenseRows& X, const DenseRows& support, const double* coef, double* out,
            ThreadPool& pool, Watch& watch);

// out[i][j] = k(x_i, y_j). Kernels of dot products are faster by a product of matrices.
void kernel_values(const KernelSpec& spec, const DenseRows& X, const DenseRows& Y, double* out, ThreadPool& pool, Watch& watch);

// For each part, some of the rows of X (their indices from starts[p] to starts[p + 1]) with coefficients: the sums of its
// expansion at its own rows. The rows are scaled once for all parts, or all kernel values are given.
struct Parts {
    std::span<const Index> rows, starts;  // one start more than there are parts

    Index count() const { return std::ssize(starts) - 1; }
    std::span<const Index> of(Index part) const { return rows.subspan(starts[part], starts[part + 1] - starts[part]); }
};
using PartedRows = std::variant<DenseRows, GramRows>;
template <class T> class ScaledRows;
void expand_part(const ScaledRows<double>& scaled, std::span<const Index> rows, const double* coef, double* out, Watch& watch);
void expand_part(const GramRows& K, std::span<const Index> rows, const double* coef, double* out, Watch& watch);
void expand_parts(const KernelSpec& spec, const PartedRows& X, const Parts& parts, const double* coef, double* out,
                  ThreadPool& pool, Watch& watch);

// Indices that follow each other, so that their values lie side by side.
struct Run {
    Index first, count;
};
std::vector<Run> runs_of(std::span<const Index> rows);

}  // namespace abstain
