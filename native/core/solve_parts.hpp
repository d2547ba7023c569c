// Problems over parts of the same rows, such as the pairs of classes: each is solved as if its rows were all there are, but the
// rows are scaled only once, or kernel values are shared, and the parts share the threads.
#pragma once

#include "expansion.hpp"
#include "solve.hpp"

namespace abstain {

// Of all parts one after another, as their rows are. The problem has the signs, weights and losses in the same order.
struct PartAnswers {
    std::vector<double> beta;
    std::vector<double> expansion;  // F = K beta, computed anew from beta
    std::vector<Index> iterations;
    std::vector<Status> status;  // time_limit, with zeros, for a part that was never begun
};

// With `values_first`, all values in double between the rows of a part are made before it is solved, unless they are given; the
// sums read them too. Else the solver makes those that it needs, perhaps in single precision, and the sums are made of others.
// The answers are the same bits for any number of threads. Throws Interrupted.
PartAnswers solve_parts(const Problem& problem, const KernelSpec& spec, const PartedRows& X, const Parts& parts,
                        const Options& options, bool values_first, ThreadPool& pool, Watch& watch);

// One of the problems, whose arrays are those of all.
Problem part_of(const Problem& all, const Parts& parts, Index p);

// The best bias of each part at these sums.
std::vector<double> best_biases(const Problem& problem, const Parts& parts, const double* expansion);

}  // namespace abstain
