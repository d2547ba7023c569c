// Scores of held-out rows for every kernel width, fold and C.
//
// A held-out row is a row of weight 0, which never moves while its F is kept like any other's, so one small kernel matrix
// serves all folds and all C of a width. Within a fold C ascends, and each fit starts from the one before with
// its coefficients scaled by the ratio of the two C, which keeps every row on its breakpoint and the sum at 0.
#pragma once

#include <atomic>

#include "solve.hpp"

namespace abstain {

struct Grid {
    std::vector<KernelSpec> kernels;
    std::vector<double> Cs;         // ascending
    const std::uint8_t* trains;     // (folds, rows): 1 where the row trains in the fold
    Index folds;
};

enum Ending : std::uint8_t { optimal, iteration_limit, unfinished };

struct CrossValidation {
    std::vector<double> scores;         // (kernels, folds, Cs, rows): F + bias; 0 where unfinished
    std::vector<std::uint8_t> endings;  // (kernels, folds, Cs): an Ending each
};

// The weights of the problem are those of C = 1. `finished` counts the fits, for whoever watches. When the time is up, what
// is not finished is left so.
CrossValidation cross_validate(const Problem& problem, const Rows& rows, const Grid& grid, const Options& options,
                               ThreadPool& pool, Watch& watch, std::atomic<Index>& finished);

}  // namespace abstain
