// A kernel matrix in memory: given by the user, or made once by a KernelSource.
#pragma once

#include "aligned.hpp"
#include "kernel_matrix.hpp"
#include "lanes/lanes.hpp"
#include "thread_pool.hpp"

namespace abstain {

template <class T> class GramKernel final : public KernelMatrix<T> {
  public:
    // Entries between size and stride must be finite.
    GramKernel(const T* values, Index size, Index stride, ThreadPool& pool)
        : values_(values), size_(size), stride_(stride), pool_(pool) {}

    double diagonal(Index i) const override { return static_cast<double>(values_[i * stride_ + i]); }
    void block(const std::vector<Index>& rows, T* out, Index stride) override;
    Block<T> whole() const override {
        return stride_ >= rounded_up(size_, block_rows<T>) ? Block<T>{values_, stride_} : Block<T>{};
    }
    void activate(const std::vector<Index>& rows) override { active_ = rows; }
    void accumulate(const SparseVector& coef, double* sums) override;
    void row(Index i, T* out) override;

  private:
    const T* values_;
    Index size_, stride_;
    std::vector<Index> active_;
    std::vector<double> sums_;
    ThreadPool& pool_;
};

}  // namespace abstain
