// Kernels of sparse rows (CSR). A row of the kernel matrix is the sum of a few columns of X, taken in double; it is
// cached, since computing it costs far more than reading it.
#pragma once

#include "aligned.hpp"
#include "kernel.hpp"
#include "kernel_matrix.hpp"
#include "row_cache.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

class SparseKernel final : public KernelMatrix<double> {
  public:
    SparseKernel(const KernelSpec& spec, const SparseRows& X, double cache_bytes, ThreadPool& pool, Watch& watch);

    double diagonal(Index i) const override { return value(square_[i], i, i); }
    void block(const std::vector<Index>& rows, double* out, Index stride) override;
    void activate(const std::vector<Index>& rows) override;
    void accumulate(const SparseVector& coef, double* sums) override;
    void row(Index i, double* out) override;

  private:
    double value(double dot, Index i, Index j) const;
    void dots(Index i, double* out) const;  // x_i . x_j for every j
    // k(x_i, x_c) for the given columns, the rest of `padded` entries 0. scratch: an entry per row of X
    void make_row(Index i, const std::vector<Index>& columns, Index padded, double* scratch, double* out) const;

    KernelSpec spec_;
    SparseRows X_;
    std::vector<double> square_;  // |x_i|^2
    std::vector<double> values_;  // X by columns
    std::vector<std::int32_t> rows_;
    std::vector<Index> starts_;
    std::vector<Index> active_;
    RowCache<double> cache_;
    ThreadPool& pool_;
    Watch& watch_;
};

}  // namespace abstain
