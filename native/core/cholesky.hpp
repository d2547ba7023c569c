// L L' = A for a symmetric positive semidefinite A that grows and loses rows, O(m^2) each.
#pragma once

#include <vector>

#include "index.hpp"
#include "policy.hpp"

namespace abstain {

class Cholesky {
  public:
    Index size() const { return size_; }

    // A gains a last row with these entries (`column`, size() of them) and this diagonal. False, and nothing changed,
    // where the new row depends on the others to within `tolerance` of the diagonal.
    bool append(const double* column, double diagonal, double tolerance = policy::dependent);
    // The same for several rows, L being read once for all of them. Row p of `rows`, which is overwritten, has size() + p + 1
    // entries: those with A's rows, with the new rows before it, and the diagonal. Says which rows were taken.
    std::vector<bool> append(double* rows, Index stride, Index count, double tolerance = policy::dependent);
    void remove(Index position);
    void clear() { size_ = 0; }

    void solve(double* x) const;             // A x = b in place
    void solve(double* x, double* z) const;  // for two b, reading L once
    void solve(double* vectors, Index stride, Index count) const;  // for many, which begin a stride apart

  private:
    double* row(Index i) { return values_.data() + i * stride_; }
    const double* row(Index i) const { return values_.data() + i * stride_; }
    void reserve(Index size);
    void forward_all(double* vectors, Index stride, Index count) const;
    template <class... X> void forward(X*... x) const;   // L x = b in place, for each x
    template <class... X> void backward(X*... x) const;  // L' x = b

    std::vector<double> values_;  // row-major, lower triangle
    Index size_ = 0, stride_ = 0;
};

}  // namespace abstain
