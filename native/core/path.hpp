// Every optimum along C, after Hastie, Rosset, Tibshirani & Zhu (JMLR 5, 2004), here with K knots.
//
// With gamma = beta / C and lambda = 1 / C the breakpoints s_i u_k of gamma stand still and the knots are lambda t_k: the
// optimum is the one of the same problem with weights s_i and all knots scaled by lambda. Between two events only the rows
// T between breakpoints move, linearly in lambda:
//
//   K'_TT rate + bias_rate 1 = y t_k(T),   1' rate = 0,      gamma_T(lambda) = gamma_T(start) + (lambda - start) rate
//
// and so does F = K gamma for all rows. An event is a row of T that meets a breakpoint, or a row on a breakpoint whose
// score meets its knot; it changes T by that row, at O(m^2) for the factor and O(n m) for the next direction.
//
// On a hard kernel rounding leads astray. So the duality gap is computed after every few pieces, and after each one near a
// sign of drift. Pieces that end with a gap are taken back and tried again one by one: with a new factor, then from an exact
// fit; then a chord to the exact fit at a lower lambda takes their place, if its middle is certified too. If none is, the path
// ends there (path_check.cpp).
#pragma once

#include <functional>
#include <utility>

#include "active_set.hpp"

namespace abstain {

// The path as straight pieces, end to end. Piece p holds for lambda from start[p] down to start[p + 1]; bias and gamma are
// those at end[p], since from there errors are as small as lambda is.
struct PathPieces {
    std::vector<double> start, end, bias, bias_rate;
    std::vector<std::uint8_t> turned;  // 0: the sets are those of the piece before, which ended for a check
    std::vector<Index> first;          // of piece p among rows, gamma and rate; one more than pieces
    std::vector<Index> rows;           // T
    std::vector<double> gamma, rate;
    // Where the other rows rest: row settled_row[e] at settled_gamma[e] from piece settled_from[e] on. A piece without
    // rows has no bias of its own: any in a band will do.
    std::vector<Index> settled_from, settled_row;
    std::vector<double> settled_gamma;
    bool complete = true;
};

// Drives an ActiveSet down lambda, from event to event.
class Path {
  public:
    // The optimum at a lambda, from the given gamma, by any means.
    using Solver = std::function<Outcome(double lambda, const std::vector<double>& gamma)>;

    // highest: the lambda to begin with. Without a solver nothing is certified.
    Path(const Problem& problem, KernelMatrix<double>& kernel, Watch& watch, double highest, Solver solver = {})
        : problem_(problem), watch_(watch), sets_(problem, kernel, watch, highest), solver_(std::move(solver)),
          refreshed_(highest) {}

    // From the optimum at the highest lambda (`start`, gamma) down to lambda = lowest, in at most `limit` rounds and
    // as many changes of the sets.
    PathPieces follow(const Outcome& start, double lowest, Index limit);

    // The optimum at lambda = 1 by the same route, for problems on which other methods stall; true where it got there.
    bool arrive(Outcome& outcome, const Outcome& start, Index limit);

  private:
    using Rates = ActiveSet::Rates;
    struct Event {
        double step;          // by which lambda falls
        Index row = -1;       // -1: as far as was asked for
        int breakpoint = -1;  // -1: the row leaves one, else it meets this one
        int direction = 0;
        double violation = 0;  // of the conditions of rows on a breakpoint, before the step
    };

    bool settle_dependent(const Rates& rates);
    Event next_event(const Rates& rates, double left) const;
    double band(double lambda, Index* rising, Index* falling) const;
    bool cross_band(double lowest);
    void take(const Event& event);
    void record(PathPieces& path, double start, const std::vector<Index>& rows, const std::vector<double>& rates,
                double bias_rate);

    // path_check.cpp
    struct Point {  // of the path, or between two of them
        double lambda, bias;
        std::vector<double> gamma, F;
    };
    struct Proof {
        double gap;     // (primal - dual) / primal
        double hidden;  // what rounding may hide of it
    };
    struct Checkpoint {
        Point point;
        std::vector<Code> codes, codes_of_piece;
        std::vector<double> known;
        std::size_t pieces = 0, settled = 0;
    };
    Point here() const;
    static Point half_way(const Point& a, const Point& b);
    Proof proof(const Point& at) const;
    double allowed_gap() const { return failures_ == 0 ? policy::gap_of_path : policy::gap_of_repaired_path; }
    bool certified(const Point& at) const { return proof(at).gap <= allowed_gap(); }
    bool settle(bool finished);
    bool is_off(const Event& event) const;
    bool is_due(const PathPieces& path, const Rates& rates, const Event& event) const;
    bool verify(PathPieces& path, bool& optimal, double lowest, Index limit);
    void keep(const PathPieces& path);
    void take_back(PathPieces& path);
    bool repair(Index limit);
    bool solve_again(Index limit);
    bool draw_chord(PathPieces& path, double lowest, Index limit);
    // Rounding may keep the sets from an end: the changes they are allowed at one lambda.
    Index some_of(Index limit) const {
        return solver_ ? std::min(limit, sets_.changes() + policy::set_changes(problem_.size)) : limit;
    }

    double up(Index i) const { return problem_.up(i, sets_.coordinate(i).code); }
    double down(Index i) const { return problem_.down(i, sets_.coordinate(i).code); }

    const Problem& problem_;
    Watch& watch_;
    ActiveSet sets_;
    Solver solver_;
    double refreshed_;  // lambda at the last refresh
    Checkpoint kept_;   // the last point that was certified
    int failures_ = 0;  // of pieces from there
    int careful_ = 0;   // pieces still to be certified one by one
    Index repairs_ = 0;
    std::vector<double> known_;  // gamma of every row as the pieces so far have it
    std::vector<Code> codes_;    // of the last piece
};

}  // namespace abstain
