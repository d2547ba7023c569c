// Rows sorted by class: sums in single precision are as exact, and fits take as many sweeps, as those of shuffled rows.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "cases.hpp"
#include "decomposition.hpp"
#include "dense_kernel.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

const KernelSpec spec{KernelName::rbf, 0.1, 0, 3};

// Two clouds that overlap, the rows of the first before those of the second, or mixed.
Case make_case(Index rows, bool sorted) {
    Random random(1);
    Case c;
    c.rows = rows;
    c.features = 10;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back((sorted ? i < rows / 2 : random.uniform() < 0.5) ? -1 : 1);
        for (Index k = 0; k < c.features; ++k) c.X.push_back(random.normal() + 0.35 * c.sign.back());
        c.weight.push_back(10);
    }
    c.kind.assign(rows, 0);
    c.losses = {1, {1}, {0, 1}};
    return c;
}

// The largest error of sums of `coef` in single precision.
double largest_error(const Case& c, const SparseVector& coef) {
    ThreadPool pool(1);
    Watch watch;
    const auto error = [&]<class T>(T) {
        DenseKernel<T> kernel(spec, c.dense(), 0, pool, watch);
        kernel.activate(all_rows(c.rows));
        Aligned<double> sums(rounded_up(c.rows), 0.0);
        kernel.accumulate(coef, sums.data());
        return sums;
    };
    const auto single = error(0.0f), exact = error(0.0);
    double largest = 0;
    for (Index i = 0; i < c.rows; ++i) largest = std::max(largest, std::abs(single[i] - exact[i]));
    return largest;
}

void check_sums() {
    double error[3];  // mixed, sorted, and of one class alone, whose sums cannot cancel
    for (const int kind : {0, 1, 2}) {
        const Case c = make_case(4000, kind == 1);
        SparseVector coef;
        for (Index i = 0; i < c.rows; ++i) coef.add(i, (kind == 2 ? 1 : c.sign[i]) * (5 + 5.0 * static_cast<double>(i % 7) / 6));
        error[kind] = largest_error(c, coef);
    }
    std::printf("errors of sums: mixed %g, sorted %g, one sign %g\n", error[0], error[1], error[2]);
    assert(error[1] < 1.5 * error[0]);
    assert(error[2] > 2 * error[0]);  // control: what order would cost
}

// Counts the sweeps over all rows.
class Counting final : public KernelMatrix<float> {
  public:
    Counting(const Case& c, ThreadPool& pool, Watch& watch) : kernel_(spec, c.dense(), 0, pool, watch) {}

    int sweeps = 0;
    double diagonal(Index i) const override { return kernel_.diagonal(i); }
    void block(const std::vector<Index>& rows, float* out, Index stride) override { kernel_.block(rows, out, stride); }
    void activate(const std::vector<Index>& rows) override { kernel_.activate(rows); }
    void row(Index i, float* out) override { kernel_.row(i, out); }
    void accumulate(const SparseVector& coef, double* sums) override {
        ++sweeps;
        kernel_.accumulate(coef, sums);
    }

  private:
    DenseKernel<float> kernel_;
};

// Where many more rows lie between breakpoints than half a working set keeps: 88 sweeps against 52 if all that it keeps are
// of one class.
void check_sweeps() {
    int sweeps[2];
    for (const bool sorted : {false, true}) {
        const Case c = make_case(6000, sorted);
        ThreadPool pool(1);
        Watch watch;
        Counting kernel(c, pool, watch);
        Settings settings;
        settings.working_set = 512;
        const Outcome outcome = Decomposition<float>(c.problem(), kernel, settings, watch).run(nullptr);
        assert(outcome.status == Status::converged);
        sweeps[sorted] = kernel.sweeps;
    }
    std::printf("sweeps: mixed %d, sorted %d\n", sweeps[0], sweeps[1]);
    assert(sweeps[1] < 1.2 * sweeps[0]);
}

}  // namespace

int main() {
    check_sums();
    check_sweeps();
}
