// Kernels of dense rows. Values are made by the lanes from packed blocks; where making one costs more than reading
// it back, the rows of support vectors are kept in a cache.
#pragma once

#include <functional>

#include "aligned.hpp"
#include "kernel_matrix.hpp"
#include "lanes/lanes.hpp"
#include "row_cache.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

// Rows by blocks of block_rows: values[block][feature][lane]; rows past the end are zero.
template <class T> struct PackedRows {
    Aligned<T> values, half;
    Index count = 0;
};

// Support vectors by fours: values[tile][feature][4].
template <class T> struct PackedSupport {
    Aligned<T> values, half, coef;
    int tiles = 0;
};

// Rows scaled for their Form, row-major, with |x|^2 / 2.
template <class T> class ScaledRows {
  public:
    // centre: nullptr, or what is subtracted from each row (kernels that depend on differences only, and the linear
    // one under sum beta = 0, keep their digits when data lie far from the origin).
    ScaledRows(const KernelSpec& spec, const DenseRows& X, const double* centre, bool far);

    Shape<T> shape;
    Aligned<T> values, half;

    void pack(const Index* which, Index count, PackedRows<T>& out) const;
    void pack(const std::vector<Index>& which, const double* coef, PackedSupport<T>& out) const;
};

// The largest |x - centre|^2 / 2 of the scaled rows: beyond policy::far_spread distances are taken by differences.
double spread(const KernelSpec& spec, const DenseRows& X, const double* centre);

std::vector<double> column_means(const DenseRows& X);

template <class T> class DenseKernel final : public KernelMatrix<T> {
  public:
    DenseKernel(const KernelSpec& spec, const DenseRows& X, double cache_bytes, ThreadPool& pool, Watch& watch);

    double diagonal(Index i) const override { return diagonal_[i]; }
    void block(const std::vector<Index>& rows, T* out, Index stride) override;
    void activate(const std::vector<Index>& rows) override;
    void accumulate(const std::vector<Index>& support, const std::vector<double>& coef, double* sums) override;

  private:
    enum class Half { both, upper };
    void make(const PackedRows<T>& columns, const std::vector<Index>& which, std::vector<T*> to, Half half);
    void by_blocks(Index rows, Index support, const std::function<void(Index)>& work);
    void accumulate_made(const std::vector<Index>& support, const std::vector<double>& coef, double* sums);
    void accumulate_cached(const std::vector<Index>& support, const std::vector<double>& coef, double* sums);

    ScaledRows<T> rows_;
    std::vector<double> diagonal_;
    std::vector<Index> active_;
    PackedRows<T> packed_;
    PackedSupport<T> support_;
    RowCache<T> cache_;
    ThreadPool& pool_;
    Watch& watch_;
};

}  // namespace abstain
