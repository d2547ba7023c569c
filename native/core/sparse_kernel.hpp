// Kernels of sparse rows (CSR). A row of the kernel matrix is the sum of a few columns of X, taken in double; it is
// cached, since computing it costs far more than reading it.
//
//   x.y = sum_k x_k y_k            |x - y|^2 = |x|^2 + |y|^2 - 2 x.y
//   for laplacian, with min(|x_k|, |y_k|) where the signs are equal, else 0, in place of x_k y_k:
//                                  sum_k |x_k - y_k| = |x|_1 + |y|_1 - 2 sum_k overlap(x_k, y_k)
#pragma once

#include "aligned.hpp"
#include "kernel.hpp"
#include "kernel_matrix.hpp"
#include "row_cache.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

// Some rows by columns, and their kernel values with other rows. The columns of a row must ascend.
class SparseColumns {
  public:
    SparseColumns(const KernelSpec& spec, const SparseRows& X);

    Index rows() const { return std::ssize(norm_); }
    double norm(Index i) const { return norm_[i]; }  // overlap of the row with itself
    // The overlap of a row of `from` with every row here.
    void overlaps(const SparseRows& from, Index row, double* out) const;
    // For a row x of `from`, from its norm and the overlap: k(x, x_j), or for kernels of distances its exponent of 1/2.
    double term(const SparseRows& from, Index row, double norm, double overlap, Index j) const;
    // Makes kernel values of terms.
    void finish(double* terms, Index count) const;

  private:
    KernelSpec spec_;
    SparseRows X_;
    std::vector<double> norm_;
    std::vector<double> values_;
    std::vector<std::int32_t> rows_;
    std::vector<Index> starts_;
};

// out[i][j] = k(x_i, y_j)
void sparse_values(const KernelSpec& spec, const SparseRows& X, const SparseRows& Y, double* out, ThreadPool& pool, Watch& watch);

class SparseKernel final : public KernelMatrix<double> {
  public:
    SparseKernel(const KernelSpec& spec, const SparseRows& X, double cache_bytes, ThreadPool& pool, Watch& watch);

    double diagonal(Index i) const override { return spec_.value(spec_.scale() * columns_.norm(i), 0); }
    void block(const std::vector<Index>& rows, double* out, Index stride) override;
    void activate(const std::vector<Index>& rows) override;
    void accumulate(const SparseVector& coef, double* sums) override;
    void row(Index i, double* out) override;

  private:
    // k(x_i, x_c) for the given columns, the rest of `padded` entries 0. scratch: an entry per row of X
    void make_row(Index i, const std::vector<Index>& columns, Index padded, double* scratch, double* out) const;

    KernelSpec spec_;
    SparseRows X_;
    SparseColumns columns_;
    std::vector<Index> active_;
    RowCache<double> cache_;
    ThreadPool& pool_;
    Watch& watch_;
};

}  // namespace abstain
