// U' U = A for a symmetric, positive definite A that is given at once: by blocks of rows, which stay in the processor's cache.
#pragma once

#include "aligned.hpp"
#include "index.hpp"

namespace abstain {

class UpperFactor {
  public:
    explicit UpperFactor(Index size) : size_(size), stride_(rounded_up(size, 16)), values_(stride_ * stride_, 0.0) {}

    // The upper half of A, row-major, which `make` overwrites with U; false if A is not positive definite.
    double* values() { return values_.data(); }
    Index stride() const { return stride_; }
    bool make();
    void solve(double* x) const;  // A x = b in place

  private:
    double* row(Index i) { return values_.data() + i * stride_; }
    const double* row(Index i) const { return values_.data() + i * stride_; }

    Index size_, stride_;
    Aligned<double> values_;
};

}  // namespace abstain
