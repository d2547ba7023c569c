// Many problems over the same rows: folds, classes, costs, kernel widths and grids of C, on one pool of threads.
//
// The kernel matrix of each width is made once, with all threads, and shared by its tasks where it fits the memory. A row
// that a task leaves out (held out by a fold) has weight 0: it never moves, but its F is computed. Within a
// task the scale C ascends, and each fit starts from the ones before: beta / C is piecewise linear in 1 / C. Tasks may come in
// rounds: after each, fits of later rounds can be left out.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <span>

#include "solve.hpp"

namespace abstain {

// Borrows what its problem borrows, and the start.
struct Task {
    Problem problem;                // its weights are those of scale 1
    std::vector<double> scales;     // of the weights, ascending
    const double* start = nullptr;  // coefficients to begin the first scale with, or none
    std::size_t kernel = 0;         // which of the kernels
    std::size_t round = 0;          // its tasks begin when those of earlier rounds over the kernels in memory have ended
};

// One entry per fit: the scales of the first task, those of the second, and so on. A fit that was never begun has status
// time_limit and zeros; one that the limit cut short has the point it reached.
struct Answers {
    std::vector<double> expansion;  // (fits, rows): F, without the bias
    std::vector<double> beta;       // (fits, rows), or empty if not requested
    std::vector<double> bias, violation;
    std::vector<Index> iterations;
    std::vector<Status> status;
    std::vector<std::exception_ptr> failures;  // one per task: the exception it threw, or nullptr; the other tasks are unaffected
};

enum class Keep { scores, coefficients_too };

// The seconds that each fit took, in the order of the answers; 0 until it is done, nan if it is left out. Can be read while the
// fits run.
using Durations = std::vector<std::atomic<double>>;

// Called after each round with the answers so far, and which fits are wanted, in their order: it may leave some out. Those that
// are not done then have status time_limit.
using Wanted = std::vector<bool>;
using Choose = std::function<void(const Answers&, Wanted&)>;

// The answers are the same bits for any number of threads. Throws Interrupted.
Answers solve_many(const Rows& rows, std::span<const KernelSpec> kernels, std::span<const Task> tasks, const Options& options,
                   Keep keep, ThreadPool& pool, Watch& watch, Durations& durations, const Choose& choose = {});
inline std::size_t number_of_fits(std::span<const Task> tasks) {
    std::size_t fits = 0;
    for (const Task& task : tasks) fits += task.scales.size();
    return fits;
}

}  // namespace abstain
