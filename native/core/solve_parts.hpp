// Problems over parts of the same rows, such as the pairs of classes: each is solved as if its rows were all there are, but the
// rows are scaled only once, or all kernel values are given, and the parts share the threads.
#pragma once

#include "expansion.hpp"
#include "solve.hpp"

namespace abstain {

// Of all parts one after another, as their rows are. The problem has the signs, weights and losses in the same order.
struct PartAnswers {
    std::vector<double> beta;
    std::vector<Index> iterations;
    std::vector<Status> status;  // time_limit, with zeros, for a part that was never begun
};

// The answers are the same bits for any number of threads. Values in single precision are not compared with double: the caller
// is to do that for all rows (expand_parts). Throws Interrupted.
PartAnswers solve_parts(const Problem& problem, const KernelSpec& spec, const PartedRows& X, const Parts& parts,
                        const Options& options, ThreadPool& pool, Watch& watch);

// The best bias of each part at these sums.
std::vector<double> best_biases(const Problem& problem, const Parts& parts, const double* expansion);

}  // namespace abstain
