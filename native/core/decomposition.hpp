// The dual of problem.hpp by decomposition: the worst violators form a working set, PairSolver solves their block of
// the kernel matrix while it sits in the processor's cache, and F of all active rows follows in one sweep.
//
// A sweep costs (working set) x (active rows) kernel values made in registers and never stored; the thousands of pair
// steps in between cost little beside it. Rows that rest on a breakpoint and cannot move are taken out of the sweep
// (shrinking by compaction); before the end their F is updated and they are checked again.
#pragma once

#include <functional>
#include <optional>

#include "aligned.hpp"
#include "kernel_matrix.hpp"
#include "outcome.hpp"
#include "pair_solver.hpp"
#include "policy.hpp"
#include "rows_on_demand.hpp"

namespace abstain {

struct Settings {
    double tol = 1e-3;
    Index max_iterations = 10'000'000;
    int working_set = policy::working_set;  // rows to begin with
    bool on_demand = false;                 // the working set is the whole problem, its kernel values are made row by row
    int largest_working_set = policy::largest_working_set;
    // The cost of ending otherwise, with so many rows between breakpoints and so many changes to come (policy.hpp), or empty.
    std::function<double(double between, double changes)> otherwise = {};
};

template <class T> class Decomposition {
  public:
    Decomposition(const Problem& problem, KernelMatrix<T>& kernel, const Settings& settings, Watch& watch);

    // start: nullptr or coefficients to begin with (clipped to the box and made to add up to the total).
    Outcome run(const double* start);

  private:
    void begin(const double* start);
    void balance(const double (&sum)[2]);
    void raise(bool positive, double missing);
    void refresh(std::size_t a);  // up and down of an active row
    void measure();               // highest and lowest
    void select();                // the working set
    void fill_up(const std::vector<std::size_t>& last, std::size_t size);
    bool improve();  // false: nothing moved
    typename PairSolver<T>::Result solve_block(const std::vector<Index>& rows, const double* diagonal, const double* F,
                                               std::vector<Coordinate>& state);
    void note_progress();
    bool too_slow() const;  // pair steps are likely to cost more than another way to the end
    Index between() const;
    Index violators() const;
    void shrink();
    void restore();  // all rows active again
    Outcome outcome(Status status);

    const Problem& problem_;
    KernelMatrix<T>& kernel_;
    Settings settings_;
    Watch& watch_;
    PairSolver<T> pairs_;

    std::vector<Coordinate> state_;  // of every row
    std::vector<double> F_;          // of every row; of an inactive one as it was when it left
    std::vector<Index> active_;      // ascending
    Aligned<double> sums_;           // F of the active rows
    std::vector<double> up_, down_;  // of the active rows

    // Rows that left together, and the coefficients of the rows that stayed, as they were then.
    struct Departure {
        std::vector<Index> gone, stayed;
        std::vector<double> beta;
    };
    std::vector<Departure> departures_;

    std::vector<std::size_t> working_;  // positions among the active rows
    Aligned<T> block_;                  // its kernel values
    std::optional<RowsOnDemand<T>> on_demand_;  // or those of the rows needed
    double highest_ = 0, lowest_ = 0;   // max(up - F), min(down - F)
    double dual_ = 0;                   // objective
    double knots_ = 0;                  // how far apart they are at most: the violation at beta = 0
    double milestone_ = 0;              // violation that the next rounds are to halve
    double spent_ = 0, halving_ = 0;    // cost of the rounds since then, and of the last halving
    int rounds_ = 0, since_milestone_ = 0;
    Index iterations_ = 0, steps_ = 0;  // of all rounds, and of the last one
};

}  // namespace abstain
