// Kernels of dense rows. The lanes compute values from packed blocks; where computing a value costs more than reading it
// from memory, the rows of support vectors are cached.
#pragma once

#include <functional>
#include <span>

#include "aligned.hpp"
#include "kernel_matrix.hpp"
#include "lanes/lanes.hpp"
#include "row_cache.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

// Rows by groups of so many lanes: values[group][feature][lane]; rows past the end are zero. Rows that sums run over are
// packed in blocks of block_rows, support vectors in tiles of support_tile.
template <class T> struct PackedRows {
    Aligned<T> values, half;
    Index count = 0;

    int tiles() const { return static_cast<int>(rounded_up(count, support_tile) / support_tile); }
};

// Rows scaled for lanes/formulas.hpp, row-major, with |x|^2 / 2, for laplacian the sum of x_k / 2.
template <class T> class ScaledRows {
  public:
    // centre: nullptr, or what is subtracted from each row (kernels that depend on differences only, and the linear
    // one under sum beta = 0, keep their digits when data lie far from the origin).
    ScaledRows(const KernelSpec& spec, const DenseRows& X, const double* centre, bool far);
    ScaledRows(const KernelSpec& spec, const DenseRows& X);                        // centred where that is allowed
    ScaledRows(const ScaledRows& all, std::span<const Index> which);

    Shape<T> shape;
    Aligned<T> values, half;

    // The padded count is a multiple of `multiple`.
    void pack(std::span<const Index> which, Index lanes, Index multiple, PackedRows<T>& out) const;
    void pack_rows(std::span<const Index> which, PackedRows<T>& out) const { pack(which, block_rows<T>, 64, out); }
    void pack_support(std::span<const Index> which, PackedRows<T>& out) const { pack(which, support_tile, support_tile, out); }
};

// The largest |x - centre|^2 / 2 of the scaled rows, for laplacian the sum of |x_k - centre_k| / 2: beyond policy::far_spread distances are taken by differences.
double spread(const KernelSpec& spec, const DenseRows& X, const double* centre);

std::vector<double> column_means(const DenseRows& X);

template <class T> class DenseKernel final : public KernelMatrix<T> {
  public:
    DenseKernel(const KernelSpec& spec, ScaledRows<T> rows, double cache_bytes, ThreadPool& pool, Watch& watch);
    DenseKernel(const KernelSpec& spec, const DenseRows& X, double cache_bytes, ThreadPool& pool, Watch& watch)
        : DenseKernel(spec, ScaledRows<T>(spec, X), cache_bytes, pool, watch) {}

    double diagonal(Index i) const override { return diagonal_[i]; }
    void block(const std::vector<Index>& rows, T* out, Index stride) override;
    void activate(const std::vector<Index>& rows) override;
    void accumulate(const SparseVector& coef, double* sums) override;
    void row(Index i, T* out) override;

  private:
    enum class Half { both, upper };
    void make(const PackedRows<T>& columns, const std::vector<Index>& which, std::vector<T*> to, Half half);
    void by_blocks(Index rows, Index support, const std::function<void(Index)>& work);
    void accumulate_made(const SparseVector& coef, double* sums);
    void accumulate_cached(const SparseVector& coef, double* sums);

    ScaledRows<T> rows_;
    std::vector<double> diagonal_;
    std::vector<Index> active_;
    PackedRows<T> packed_, support_;
    RowCache<T> cache_;
    ThreadPool& pool_;
    Watch& watch_;
};

}  // namespace abstain
