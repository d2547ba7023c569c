// Whether the active set is worth its cost (solve.cpp); all the numbers are in policy.hpp.
#include <algorithm>
#include <limits>

#include "policy.hpp"
#include "solve.hpp"

namespace abstain {

// What the active set would cost with so many rows between breakpoints; infinite if its factor and the values that it is made of
// exceed the memory.
Fitter::ActiveSetCost Fitter::active_set_cost(Index between) const {
    const auto* dense = std::get_if<DenseRows>(&source_.rows);
    const double features = dense ? static_cast<double>(dense->features) : std::numeric_limits<double>::infinity();
    const double rank = source_.spec.name == KernelName::linear ? features + 1 : std::numeric_limits<double>::infinity();
    const double m = std::max(1.0, std::min(rank, static_cast<double>(between))), n = static_cast<double>(source_.size);
    const bool made = dense && !source_.fits<double>();
    const double value = made ? 8 + features : 8, first = made ? value : policy::cost_of_fresh_value + (dense ? features : 0);
    const double memory = std::max(options_.cache_bytes, KernelSource::bytes<double>(policy::small_rows));
    const bool fits = 2 * KernelSource::bytes<double>(between) <= memory;
    return {fits ? policy::cost_of_factor(m) : std::numeric_limits<double>::infinity(), policy::cost_of_change(m, n, value), n * n * first};
}

// Changes of the active set that cost as much as the pair steps left are worth; 0 if fewer than it is likely to need.
Index Fitter::affordable_changes(const Problem& problem, const Outcome& outcome, double tol, const Budget& budget) const {
    if (options_.method == Method::active_set || problem.size <= policy::small_rows) return std::numeric_limits<Index>::max();
    Index between = 0, violating = 0;
    for (Index i = 0; i < problem.size; ++i) {
        const Code code = outcome.codes[i];
        const double score = outcome.expansion[i] + outcome.bias;
        between += code % 2;
        violating += problem.up(i, code) - score > tol || score - problem.down(i, code) > tol;
    }
    const ActiveSetCost cost = active_set_cost(between);
    const double changes = (policy::cost_of_pair_step * static_cast<double>(budget.left()) - cost.factor) / cost.change;
    return changes < static_cast<double>(violating) ? 0 : static_cast<Index>(std::min(changes, 1e15));
}

}  // namespace abstain
