// The dual of problem.hpp exactly, from a start that is nearly right (GRKC08, algorithm 1).
//
// The rows strictly between two breakpoints, T, meet their knot: F_i + b = y_i t_k(i). With c > 0 and K' = K + c 11',
// which changes nothing where the coefficients add up to 0, a change delta of beta_T solves
//
//   K'_TT delta + b 1 = r,   1' delta = 0,      r_i = y_i t_k(i) - F_i
//
// One Cholesky factor of K'_TT is kept and changed in O(m^2) as rows enter and leave. The step towards the solution
// ends at the first breakpoint met, which takes that row out of T; after a full step the row that violates its
// optimality condition most enters. A row that depends on the others (a duplicate, a kernel of low rank) is moved along
// the direction that leaves all scores as they are, until a breakpoint ends it.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "cholesky.hpp"
#include "coordinate.hpp"
#include "kernel_matrix.hpp"
#include "outcome.hpp"
#include "watch.hpp"

namespace abstain {

class ActiveSet {
  public:
    ActiveSet(const Problem& problem, KernelMatrix<double>& kernel, Watch& watch);

    // Improves the outcome in place, in at most `limit` changes of the set; true where it ends at the optimum to within
    // rounding. The kernel must have all rows active.
    bool run(Outcome& outcome, Index limit);

  protected:
    struct Hit {
        double step;
        Index row;   // -1: none, the step is full
        int breakpoint;
    };

    void begin(const Outcome& outcome);
    bool finish(Index limit);
    void write(Outcome& outcome) const;
    void enter(Index i);
    void leave(Index i);
    void admit();
    bool full_step();
    bool slide();
    bool slide_row(Index i, double direction);
    bool release();
    void settle();
    Hit first_hit(const std::vector<Index>& rows, const std::vector<double>& direction, double most) const;
    void move(const std::vector<Index>& rows, const std::vector<double>& direction, const Hit& hit);
    void leave_breakpoint(Index i, int direction);
    void renew();
    void weigh_rounding();

    double up(Index i) const { return scale_ * problem_.up(i, state_[i].code); }
    double down(Index i) const { return scale_ * problem_.down(i, state_[i].code); }
    double target(Index i) const { return up(i); }  // of a row between breakpoints

    const Problem& problem_;
    KernelMatrix<double>& kernel_;
    Watch& watch_;
    std::vector<Coordinate> state_;
    Aligned<double> F_;
    std::vector<double> pending_;   // changes of beta that F does not know yet
    std::vector<Index> inside_;     // T, in the factor's order
    std::vector<Index> outside_;    // between breakpoints too, but dependent on T
    Cholesky factor_;
    double constant_ = 1, bias_ = 0;
    double scale_ = 1;              // of all knots (path.hpp)
    double knots_ = 1, largest_ = 0, rounding_ = 0;
    Index released_ = -1;
    std::vector<char> barred_;      // released in vain since the last real step
    Index changes_ = 0;
};

}  // namespace abstain
