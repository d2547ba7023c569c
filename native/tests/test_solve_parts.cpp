// Problems over parts of the same rows: the same optima as when each is solved by itself, the same bits for any threads.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "random.hpp"
#include "solve_parts.hpp"

using namespace abstain;
using abstain::testing::Random;

namespace {

struct Case {
    static constexpr Index n = 3300, d = 4;
    std::vector<double> X, weight;
    std::vector<Index> rows, starts{0};
    std::vector<std::int8_t> sign;
    std::vector<std::int32_t> kind;
    LossTable losses{1, {1, 1}, {0, 1, 0, 1}};
    KernelSpec spec{KernelName::rbf, 0.25, 0, 3};

    explicit Case(double C) : X(n * d) {
        Random random(7);
        for (double& x : X) x = random.normal();
        add(0, 1200, 1);     // on demand
        add(900, 1800, 2);   // on demand; shares rows with the first
        add(2900, 400, 1);   // small: exact
        weight.assign(rows.size(), C);
        kind.assign(rows.size(), 0);
    }

    void add(Index first, Index count, Index feature) {
        for (Index i = first; i < first + count && i < n; ++i) {
            rows.push_back(i);
            sign.push_back(X[i * d] * X[i * d + feature] + 0.3 * X[i * d + 3] > 0 ? 1 : -1);
        }
        starts.push_back(std::ssize(rows));
    }

    DenseRows data() const { return {X.data(), n, d}; }
    Parts parts() const { return {rows, starts}; }
    Problem problem() const { return {std::ssize(rows), sign.data(), weight.data(), kind.data(), &losses, 0}; }
    PartAnswers solve(int threads, Watch& watch, Index most = 10'000'000) const { return solve(data(), threads, watch, most); }
    PartAnswers solve(const PartedRows& given, int threads, Watch& watch, Index most = 10'000'000, bool values_first = false) const {
        ThreadPool pool(threads);
        Options options;
        options.max_iterations = most;
        return solve_parts(problem(), spec, given, parts(), options, values_first, pool, watch);
    }
};

double value(const Case& c, Index i, Index j) {
    double distance = 0;
    for (Index k = 0; k < Case::d; ++k) distance += std::pow(c.X[i * Case::d + k] - c.X[j * Case::d + k], 2);
    return std::exp(-c.spec.gamma * distance);
}

// Violation of the optimality conditions by the definition, in double.
double violation(const Case& c, const PartAnswers& found, Index p, const std::vector<double>& F) {
    double highest = -1e300, lowest = 1e300, sum = 0;
    for (Index a = c.starts[p]; a < c.starts[p + 1]; ++a) {
        const double y = c.sign[a], g = y * found.beta[a], top = c.weight[a];
        assert(g >= 0 && g <= top);
        sum += found.beta[a];
        if (y > 0 ? g < top : g > 0) highest = std::max(highest, y - F[a]);
        if (y > 0 ? g > 0 : g < top) lowest = std::min(lowest, y - F[a]);
    }
    assert(std::abs(sum) < 1e-9 * c.weight[0] * 1000);
    return highest - lowest;
}

// From rows, from all their kernel values, or from those of each part, made first.
enum class From { rows, values, rows_with_values_first };
void test_optima_and_sums(From from) {
    for (const double C : {1.0, 100.0}) {
        const Case c(C);
        Watch watch;
        ThreadPool pool(1);
        const Aligned<double> values = whole_matrix<double>(c.spec, c.data(), pool, watch);
        const GramRows gram{values.data(), c.n, whole_stride(c.n)};
        const PartedRows given = from == From::values ? PartedRows(gram) : PartedRows(c.data());
        const bool first = from == From::rows_with_values_first;
        const PartAnswers found = c.solve(given, 1, watch, 10'000'000, first);
        const PartAnswers again = c.solve(given, 3, watch, 10'000'000, first);
        assert(again.beta == found.beta && again.expansion == found.expansion);
        std::vector<double> F(c.rows.size());
        expand_parts(c.spec, given, c.parts(), found.beta.data(), F.data(), pool, watch);
        for (std::size_t a = 0; a < F.size(); ++a) assert(std::abs(F[a] - found.expansion[a]) < 1e-11 * C);
        F = found.expansion;
        for (Index p = 0; p < 3; ++p) {
            assert(found.status[p] == Status::converged && found.iterations[p] > 0);
            for (Index a = c.starts[p]; a < c.starts[p + 1]; a += 97) {
                double sum = 0;
                for (Index b = c.starts[p]; b < c.starts[p + 1]; ++b)
                    if (found.beta[b] != 0) sum += found.beta[b] * value(c, c.rows[a], c.rows[b]);
                assert(std::abs(sum - F[a]) < 1e-11 * C);
            }
            assert(violation(c, found, p, F) <= 1.05e-3);
        }
        const std::vector<double> biases = best_biases(c.problem(), c.parts(), F.data());
        for (Index p = 0; p < 3; ++p) {  // no other bias has a smaller loss
            const auto loss = [&](double bias) {
                double total = 0;
                for (Index a = c.starts[p]; a < c.starts[p + 1]; ++a) total += std::max(0.0, 1 - c.sign[a] * (F[a] + bias));
                return total;
            };
            const double least = loss(biases[p]);
            for (const double step : {-1e-2, -1e-4, 1e-4, 1e-2}) assert(loss(biases[p] + step) >= least - 1e-9);
        }
        PartAnswers wrong = found;  // control: a coefficient that is moved shows
        for (Index a = c.starts[0]; a < c.starts[1]; ++a)
            if (c.sign[a] * wrong.beta[a] == C) {
                wrong.beta[a] *= 0.5;
                for (Index b = c.starts[0]; b < c.starts[1]; ++b)
                    F[b] += (wrong.beta[a] - found.beta[a]) * value(c, c.rows[a], c.rows[b]);
                break;
            }
        double highest = -1e300, lowest = 1e300;
        for (Index a = c.starts[0]; a < c.starts[1]; ++a) {
            const double y = c.sign[a], g = y * wrong.beta[a];
            if (y > 0 ? g < C : g > 0) highest = std::max(highest, y - F[a]);
            if (y > 0 ? g > 0 : g < C) lowest = std::min(lowest, y - F[a]);
        }
        assert(highest - lowest > 0.01);
    }
}

void test_threads_give_the_same_bits() {
    const Case c(10);
    Watch watch;
    const PartAnswers one = c.solve(1, watch), two = c.solve(2, watch);
    assert(one.beta == two.beta && one.iterations == two.iterations);
}

void test_limits() {
    const Case c(10);
    Watch none({}, -1.0);
    for (const Status status : c.solve(1, none).status) assert(status == Status::time_limit);
    Watch watch;
    const PartAnswers few = c.solve(1, watch, 50);
    for (Index p = 0; p < 3; ++p) assert(few.status[p] == Status::iteration_limit && few.iterations[p] <= 50);
    Watch interrupting([](Index, double) { return Watch::Answer::interrupt; });
    bool stopped = false;
    try {
        for (int round = 0; round < 50 && !stopped; ++round) c.solve(1, interrupting);
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
}

}  // namespace

int main() {
    test_optima_and_sums(From::rows);
    test_optima_and_sums(From::values);
    test_optima_and_sums(From::rows_with_values_first);
    test_threads_give_the_same_bits();
    test_limits();
    std::puts("ok");
}
