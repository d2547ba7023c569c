// The dual of problem.hpp exactly, from a start that is nearly right (GRKC08, algorithm 1).
//
// The rows strictly between two breakpoints, T, meet their knot: F_i + b = y_i lambda t_k(i), where lambda = 1 unless the
// path (path.hpp) moves it. With c > 0 and K' = K + c 11', which changes nothing where changes add up to 0, a change
// delta of beta_T solves
//
//   K'_TT delta + b 1 = r,   1' delta = 0,      r_i = y_i lambda t_k(i) - F_i
//
// One Cholesky factor of K'_TT is kept and changed in O(m^2) as rows enter and leave. The step towards the solution
// ends at the first breakpoint met, which takes that row out of T; after a full step the rows that violate their
// optimality conditions most enter. A row that is linearly dependent on the others (a duplicate, a kernel of low rank) is
// moved along the direction that changes no score, until it or another row meets a breakpoint.
#pragma once

#include <utility>
#include <vector>

#include "aligned.hpp"
#include "cholesky.hpp"
#include "coordinate.hpp"
#include "kernel_matrix.hpp"
#include "outcome.hpp"
#include "policy.hpp"
#include "watch.hpp"

namespace abstain {

class ActiveSet {
  public:
    ActiveSet(const Problem& problem, KernelMatrix<double>& kernel, Watch& watch, double lambda = 1)
        : problem_(problem), kernel_(kernel), watch_(watch), lambda_(lambda) {}

    // Improves the outcome in place, in at most `limit` changes of the set; true where it ends at the optimum to within
    // rounding. The kernel must have all rows active.
    bool run(Outcome& outcome, Index limit);

    // The steps of run(), for the path.
    void begin(const Outcome& outcome);
    bool finish(Index limit);   // as run(), from the current point
    bool refresh(Index limit);  // the same after recomputing F, since a sum of many small changes drifts
    // Computes the factor anew, since its changes drift too, and counts rows from now on as dependent to within `tolerance`.
    void refactor(double tolerance = policy::dependent);
    void write(Outcome& outcome);

    // How T, the bias and F change per unit of lambda while no row enters or leaves.
    struct Rates {
        std::vector<double> beta;  // of T
        double bias = 0;
        Aligned<double> F;  // of every row
        bool off = false;   // by rounding: the knots are missed
    };
    Rates rates() const;
    void lower_lambda(const Rates& rates, double step);
    void set_lambda(double lambda) { lambda_ = lambda; }
    void take_bias_from(Index row) { bias_ = target(row) - F_[row]; }  // a row of T
    void take_bias_from_knots();                                       // of all of T

    void land_on(Index row, int breakpoint);          // a row between breakpoints ends on one
    void leave_breakpoint(Index row, int direction);  // a row on a breakpoint leaves it, upwards (+1) or downwards (-1)
    bool slide(Index row, double direction);          // a dependent row moves until a row meets a breakpoint; false: none does

    const std::vector<Index>& inside() const { return inside_; }
    const std::vector<Index>& dependent() const { return dependent_; }
    const Coordinate& coordinate(Index i) const { return state_[i]; }
    double F(Index i) const { return F_[i]; }
    double bias() const { return bias_; }
    double root(Index i) const { return root_[i]; }
    double lambda() const { return lambda_; }
    double largest_knot() const { return largest_knot_; }
    Index changes() const { return changes_; }

  private:
    struct Hit {
        double step;
        Index row;  // -1: none, the step is full
        int breakpoint;
    };

    void enter(const std::vector<Index>& rows);
    void admit(const Index* rows, Index count, Aligned<double>& values, Index stride);
    void untie(Index row, int direction);
    void leave(Index i);
    bool full_step(Index limit);
    std::vector<Index> first_to_leave(const std::vector<double>& direction) const;
    bool slide_one();
    bool release();
    void add_pending_to_F();
    double residual(Index t) const { return share_ * (target(t) - F_[t]) + offset_; }  // of a row of T, without the bias
    std::pair<double, double> violations() const;
    void recompute_F();
    void estimate_rounding();
    double rounding(Index i) const { return rounding_of_knots_ + rounding_of_sums_ * root_[i]; }  // of F_i
    std::vector<double> column(Index i) const;
    void add_up_to(double total, std::vector<double>& direction, const std::vector<double>& ones) const;
    Hit first_hit(const std::vector<Index>& rows, const std::vector<double>& direction, double most) const;
    void move(const std::vector<Index>& rows, const std::vector<double>& direction, const Hit& hit);

    double up(Index i) const { return lambda_ * problem_.up(i, state_[i].code); }
    double down(Index i) const { return lambda_ * problem_.down(i, state_[i].code); }
    double target(Index i) const { return up(i); }  // of a row between breakpoints

    const Problem& problem_;
    KernelMatrix<double>& kernel_;
    Watch& watch_;
    double lambda_;  // of all knots
    std::vector<Coordinate> state_;
    Aligned<double> F_;
    std::vector<double> pending_;   // changes of beta that are not in F yet; they leave share * r + offset of T's residuals r
    double share_ = 1, offset_ = 0;
    std::vector<Index> inside_;     // T, in the factor's order
    std::vector<Index> dependent_;  // between breakpoints too, but linearly dependent on T
    Cholesky factor_;
    double dependent_within_ = policy::dependent;
    double constant_ = 1, bias_ = 0;
    double largest_knot_ = 1;
    std::vector<double> root_;  // of each row's diagonal: |k(x_i, x_j)| <= root_i root_j
    double rounding_of_knots_ = 0, rounding_of_sums_ = 0;
    std::vector<char> released_;  // at the last release
    std::vector<char> barred_;    // released in vain since the last real step
    std::size_t at_once_ = policy::released_at_once;
    Index changes_ = 0;
};

}  // namespace abstain
