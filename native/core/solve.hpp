// Chooses the precision and the method for a problem; all the numbers are in policy.hpp.
#pragma once

#include "budget.hpp"
#include "decomposition.hpp"
#include "kernel_source.hpp"
#include "outcome.hpp"
#include "path.hpp"

namespace abstain {

enum class Method {
    automatic,  // pair steps, and the active set where the problem is small or they stall
    pairs,
    active_set,  // exact, at any cost
    search,      // pair steps in the fastest precision, not polished: scores for comparing settings
};

struct Options {
    Method method = Method::automatic;
    double tol = 1e-3;
    Index max_iterations = 10'000'000;
    double cache_bytes = 500e6;
    bool one_of_many = false;  // kernel rows on demand, and no comparison of F with double: the caller does that for all rows
    bool some_rows = false;    // one of many over some of the rows: there are many more of these, and a small gap is enough
};

// Solves one problem after another over the same kernel values, on one thread of control.
class Fitter {
  public:
    Fitter(KernelSource& source, const Options& options, ThreadPool& pool, Watch& watch)
        : source_(source), options_(options), pool_(pool), watch_(watch) {}

    // start: nullptr, or coefficients to begin with.
    Outcome fit(const Problem& problem, const double* start);
    PathPieces follow_path(const Problem& problem, double lowest, double highest);

  private:
    template <class T> KernelMatrix<T>& kernel();
    KernelMatrix<double>& exact_kernel();
    template <class T> Outcome decompose(const Problem& problem, const double* start, Settings settings, Budget& budget);
    bool few_move(const Problem& problem) const;
    // continued: the start is what pair steps reached.
    Outcome solve_exactly(const Problem& problem, const double* start, double tol, Budget& budget, bool continued = false);
    struct ActiveSetCost {
        double factor, change, sums;
    };
    ActiveSetCost active_set_cost(Index between) const;
    Index affordable_changes(const Problem& problem, const Outcome& outcome, double tol, const Budget& budget) const;
    void walk_up(const Problem& problem, Outcome& outcome, Index changes, Budget& budget);
    template <class T>
    Outcome decompose_all_first(const Problem& problem, const double* start, Settings first, const Settings& settings,
                                Budget& budget);
    template <class T> Outcome fit_large(const Problem& problem, const double* start, Budget& budget);
    template <class T> Outcome fit_for_search(const Problem& problem, const double* start, Budget& budget);

    KernelSource& source_;
    Options options_;
    ThreadPool& pool_;
    Watch& watch_;
    std::tuple<std::unique_ptr<KernelMatrix<float>>, std::unique_ptr<KernelMatrix<double>>> kernels_;
};

Outcome solve(const Problem& problem, const KernelSpec& spec, const Rows& rows, const double* start, const Options& options,
              ThreadPool& pool, Watch& watch);

// All optima for C from lowest to highest; the weights of the problem are those of C = 1.
PathPieces follow_path(const Problem& problem, const KernelSpec& spec, const Rows& rows, double lowest, double highest,
                       const Options& options, ThreadPool& pool, Watch& watch);

}  // namespace abstain
