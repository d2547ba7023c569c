// The inner minimisation of FR02's dual (equation 29) for one row, one eps and t = alpha / C:
//
//   g_eps(t) = min_xi h''(xi, eps) - t xi
//
// concave in t, with slope -xi at the minimiser. The local minima lie just left of the three steps, and where the
// parabola a xi^2 - t xi has its own.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "embedded/loss.hpp"
#include "index.hpp"

namespace abstain {

struct InnerMinimum {
    double value, slack;
};
InnerMinimum inner_minimum(const EmbeddedLoss& loss, double eps, double t);

// Values of eps from 0 to 1: a hundredth or a step's width apart, and closer near 0, where two steps merge and the
// minimum over eps is often found.
std::vector<double> eps_grid(const EmbeddedLoss& loss);

// g on a grid of t in [0, top] and of eps, all eps of one t side by side; linear in t between.
class InnerTable {
  public:
    InnerTable(const EmbeddedLoss& loss, const std::vector<double>& eps, Index t_values, double top);

    Index eps_values() const { return eps_values_; }
    Index stride() const { return stride_; }  // of a row; what fills it beyond eps_values() is huge
    double top() const { return top_; }
    double step() const { return step_; }

    // g_e(t) = (1 - share) row[e] + share next[e] for all e, with t in the cell [cell, cell + 1] of the grid.
    struct Place {
        const double *row, *next;
        double share;
    };
    Place place(double t) const;
    // The cell that -dg/dt is read from, right (side > 0) or left of t; the slope jumps at the grid's values, and a t
    // that a search left just short of one counts as there.
    Index cell(double t, int side) const;
    double slack(Index e, Index cell) const {
        const double* at = values_.data() + cell * stride_ + e;
        return (at[0] - at[stride_]) / step_;
    }

  private:
    Index eps_values_, stride_, t_values_;
    double top_, step_;
    Aligned<double> values_;
};

}  // namespace abstain
