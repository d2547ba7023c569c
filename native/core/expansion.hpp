// f(x) = sum_s coef_s k(x, s) for new rows x, in double.
#pragma once

#include "kernel.hpp"
#include "rows.hpp"
#include "thread_pool.hpp"
#include "watch.hpp"

namespace abstain {

void expand(const KernelSpec& spec, const DenseRows& X, const DenseRows& support, const double* coef, double* out,
            ThreadPool& pool, Watch& watch);

}  // namespace abstain
