// The kernel values between the active rows of a small problem, each row made when a pair step first needs it: most never are.
#pragma once

#include <algorithm>

#include "aligned.hpp"
#include "kernel_matrix.hpp"
#include "lanes/lanes.hpp"
#include "policy.hpp"

namespace abstain {

template <class T> class RowsOnDemand {
  public:
    // The rows must be the active ones of the kernel.
    RowsOnDemand(KernelMatrix<T>& kernel, std::vector<Index> rows)
        : kernel_(kernel), rows_(std::move(rows)), values_(rows_.size(), nullptr), stride_(rounded_up(std::ssize(rows_))) {}

    // k(x_a, x_b) for all b, by positions among the rows.
    const T* row(Index a) {
        if (!values_[a]) kernel_.row(rows_[a], values_[a] = room());
        return values_[a];
    }

    // sums[b] += sum_a coef_a k(x_a, x_b)
    void accumulate(const SparseVector& coef, double* sums) {
        std::vector<const T*> rows;
        for (const Index a : coef.rows) rows.push_back(row(a));
        const std::vector<T> factors(coef.values.begin(), coef.values.end());
        lanes<T>().combine(rows.data(), factors.data(), static_cast<int>(rows.size()), 0, rounded_up(std::ssize(rows_)), sums);
    }

    // Only these positions from now on, ascending; the kernel's active rows follow.
    void keep(const std::vector<Index>& positions) {
        const std::size_t size = positions.size();
        for (std::size_t a = 0; a < size; ++a) {
            rows_[a] = rows_[positions[a]];
            T* row = values_[a] = values_[positions[a]];
            if (!row) continue;
            for (std::size_t b = 0; b < size; ++b) row[b] = row[positions[b]];
            std::fill(row + size, row + rounded_up(std::ssize(positions)), T(0));
        }
        rows_.resize(size);
        values_.resize(size);
    }

  private:
    // Pieces of one size are reused by the next problem, whatever its number of rows (aligned.hpp).
    T* room() {
        const Index piece = std::max<Index>(stride_, policy::values_in_piece);
        if (pieces_.empty() || used_ + stride_ > piece) {
            pieces_.emplace_back(piece);
            used_ = 0;
        }
        used_ += stride_;
        return pieces_.back().data() + used_ - stride_;
    }

    KernelMatrix<T>& kernel_;
    std::vector<Index> rows_;
    std::vector<T*> values_;  // nullptr: not made yet
    Index stride_, used_ = 0;
    std::vector<Aligned<T>> pieces_;
};

}  // namespace abstain
