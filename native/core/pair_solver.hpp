// Sequential minimal optimisation on a dense block of the kernel matrix: one pair at a time, the first by the largest
// gain (up - F), its partner by the second-order estimate of the rise (Fan, Chen & Lin, JMLR 6, 2005).
//
// Two things differ from a plain hinge: a coordinate on an inner breakpoint has two one-sided slopes, and the line search
// continues across breakpoints while the dual rises.
#pragma once

#include "aligned.hpp"
#include "coordinate.hpp"
#include "kernel_matrix.hpp"
#include "lanes/lanes.hpp"
#include "watch.hpp"

namespace abstain {

template <class T> class PairSolver {
  public:
    PairSolver(const Problem& problem, Watch& watch) : problem_(problem), watch_(watch) {}

    struct Result {
        Index iterations;
        double rise;       // of the dual objective
        double violation;  // left in the block
    };

    // The block's rows, their kernel values (a Block or RowsOnDemand) and F = K beta there; moves `state` until the
    // violation is at most tol, `limit` steps are done, or the dual, `dual` at the start, no longer rises.
    template <class Matrix>
    Result solve(const std::vector<Index>& rows, Matrix& K, const double* diagonal, const double* F,
                 std::vector<Coordinate>& state, double dual, double tol, Index limit);

  private:
    double middle(const std::vector<Index>& rows, const double* F, const std::vector<Coordinate>& state) const;
    void load(const std::vector<Index>& rows, const double* diagonal, const double* F, const std::vector<Coordinate>& state);
    void refresh(const std::vector<Index>& rows, int a, const Coordinate& now) {
        up_[a] = static_cast<T>(problem_.up(rows[a], now.code));
        down_[a] = static_cast<T>(problem_.down(rows[a], now.code));
    }

    const Problem& problem_;
    Watch& watch_;
    int size_ = 0;
    Aligned<T> F_, up_, down_, diagonal_;
};

}  // namespace abstain
