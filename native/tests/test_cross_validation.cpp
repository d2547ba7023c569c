// Scores of held-out rows are those of separate solves, one per kernel, fold and C.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "cases.hpp"
#include "cross_validation.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

Case make_case(std::uint64_t seed, Index rows, Index features, int pieces) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = features;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back(random.uniform() < 0.4 ? 1 : -1);
        for (Index k = 0; k < features; ++k) c.X.push_back(random.normal() + 0.7 * c.sign.back());
        c.weight.push_back(i % 10 == 9 ? 0.0 : 0.5 + random.uniform());
    }
    c.problem = problem_of(rows, pieces, 0.7);
    return c;
}

// A machine trained on the rows of one fold alone, exactly; its scores of all rows, by the kernel's definition.
std::vector<double> separate(const Case& c, const KernelSpec& spec, const std::uint8_t* trains, double C) {
    std::vector<double> X, weight;
    std::vector<std::int8_t> sign;
    for (Index i = 0; i < c.rows; ++i) {
        if (!trains[i]) continue;
        X.insert(X.end(), c.X.begin() + i * c.features, c.X.begin() + (i + 1) * c.features);
        sign.push_back(c.sign[i]);
        weight.push_back(C * c.weight[i]);
    }
    Problem part = c.problem;
    part.size = static_cast<Index>(sign.size());
    part.sign = sign.data();
    part.weight = weight.data();
    Options options;
    options.method = Method::active_set;
    ThreadPool pool(1);
    Watch watch;
    const Outcome outcome = solve(part, spec, DenseRows{X.data(), part.size, c.features}, nullptr, options, pool, watch);
    assert(outcome.status == Status::optimal);
    double highest = -1e300, lowest = 1e300;  // the bias is half-way between the two
    for (Index i = 0; i < part.size; ++i) {
        highest = std::max(highest, part.up(i, outcome.codes[i]) - outcome.expansion[i]);
        lowest = std::min(lowest, part.down(i, outcome.codes[i]) - outcome.expansion[i]);
    }
    std::vector<double> scores;
    for (Index i = 0; i < c.rows; ++i) {
        double f = (highest + lowest) / 2;
        for (Index j = 0; j < part.size; ++j)
            f += outcome.beta[j] * kernel(spec, c.X.data() + i * c.features, X.data() + j * c.features, c.features);
        scores.push_back(f);
    }
    return scores;
}

Grid make_grid(const std::vector<KernelSpec>& kernels, const std::vector<double>& Cs, const std::vector<std::uint8_t>& trains, Index folds) {
    return {kernels, Cs, trains.data(), folds};
}

std::vector<std::uint8_t> thirds(Index rows) {
    std::vector<std::uint8_t> trains;
    for (Index fold = 0; fold < 3; ++fold)
        for (Index i = 0; i < rows; ++i) trains.push_back(i % 3 != fold);
    return trains;
}

CrossValidation search(const Case& c, const Grid& grid, const Rows& rows, double tol, int threads, Index* told) {
    Options options;
    options.method = Method::pairs;
    options.tol = tol;
    ThreadPool pool(threads);
    Watch watch;
    std::atomic<Index> finished{0};
    CrossValidation result = cross_validate(c.problem, rows, grid, options, pool, watch, finished);
    *told = finished;
    return result;
}

void check(Case& c, const std::vector<KernelSpec>& kernels, int threads) {
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    const std::vector<double> Cs{0.1, 1.0, 7.0};
    const auto trains = thirds(c.rows);
    const Grid grid = make_grid(kernels, Cs, trains, 3);
    const double tol = 1e-4;
    Index told = 0;
    const CrossValidation result = search(c, grid, DenseRows{c.X.data(), c.rows, c.features}, tol, threads, &told);
    assert(told == static_cast<Index>(kernels.size() * 3 * Cs.size()));
    double worst = 0, apart = 0;
    std::size_t fit = 0;
    for (const KernelSpec& spec : kernels)
        for (Index fold = 0; fold < 3; ++fold)
            for (const double C : Cs) {
                assert(result.endings[fit] == Ending::optimal);
                const auto expected = separate(c, spec, trains.data() + fold * c.rows, C);
                for (Index i = 0; i < c.rows; ++i) {
                    const double found = result.scores[fit * c.rows + i];
                    worst = std::max(worst, std::abs(found - expected[i]));
                    // control: the scores of the next fit are others
                    const std::size_t other = (fit + 1) % result.endings.size();
                    apart = std::max(apart, std::abs(result.scores[other * c.rows + i] - expected[i]));
                }
                ++fit;
            }
    if (!(worst < 0.01)) std::printf("rows %ld pieces %d: %g\n", long(c.rows), c.problem.pieces, worst);
    assert(worst < 0.01);  // what a violation of 1e-4 leaves of the scores
    assert(apart > 0.1);

    const CrossValidation again = search(c, grid, DenseRows{c.X.data(), c.rows, c.features}, tol, 3 - threads, &told);
    assert(again.scores == result.scores);  // the same bits for any number of threads
    if (kernels.size() > 1) return;
    std::vector<double> K;
    for (Index i = 0; i < c.rows; ++i)
        for (Index j = 0; j < c.rows; ++j)
            K.push_back(kernel(kernels[0], c.X.data() + i * c.features, c.X.data() + j * c.features, c.features));
    const CrossValidation given = search(c, grid, GramRows{K.data()}, tol, threads, &told);
    for (std::size_t k = 0; k < given.scores.size(); ++k) assert(std::abs(given.scores[k] - result.scores[k]) < 0.02);
}

// Stopped by whoever watches, it ends at once and does not begin what is left.
void check_interrupt() {
    Case c = make_case(9, 600, 4, 2);
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    const auto trains = thirds(c.rows);
    std::vector<double> Cs;
    for (int k = 0; k < 40; ++k) Cs.push_back(std::pow(10.0, 0.1 * k));
    const Grid grid = make_grid({{KernelName::rbf, 0.5, 0, 3}, {KernelName::rbf, 0.1, 0, 3}}, Cs, trains, 3);
    int asked = 0;
    // only once, as a signal is seen once
    Watch watch([&](Index, double) { return asked++ == 0 ? Watch::Answer::interrupt : Watch::Answer::go_on; });
    ThreadPool pool(2);
    std::atomic<Index> finished{0};
    bool stopped = false;
    try {
        cross_validate(c.problem, DenseRows{c.X.data(), c.rows, c.features}, grid, {}, pool, watch, finished);
    } catch (const Interrupted&) {
        stopped = true;
    }
    assert(stopped);
    assert(finished < 3 * 2 * 40);
    assert(asked == 1);
}

// When the time is up nothing more is begun, and what is not done says so.
void check_time() {
    Case c = make_case(9, 600, 4, 2);
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    const auto trains = thirds(c.rows);
    const Grid grid = make_grid({{KernelName::rbf, 0.5, 0, 3}, {KernelName::rbf, 0.1, 0, 3}}, {1, 10, 100}, trains, 3);
    for (double seconds : {0.0, 1e9}) {
        Watch watch({}, seconds);
        ThreadPool pool(2);
        std::atomic<Index> finished{0};
        const auto result = cross_validate(c.problem, DenseRows{c.X.data(), c.rows, c.features}, grid, {}, pool, watch, finished);
        const Ending expected = seconds > 0 ? Ending::optimal : Ending::unfinished;
        for (const auto ending : result.endings) assert(ending == expected);
        assert(finished == (seconds > 0 ? 18 : 0));
    }
}

// Columns of very different scale, on which pair steps crawl: the active set takes over.
void check_ill_conditioned() {
    Case c = make_case(5, 120, 3, 2);
    c.problem.sign = c.sign.data();
    c.problem.weight = c.weight.data();
    for (std::size_t k = 0; k < c.X.size(); k += 3) c.X[k] *= 1000;
    const auto trains = thirds(c.rows);
    const Grid grid = make_grid({{KernelName::linear, 1, 0, 3}}, {1, 100}, trains, 3);
    Index told = 0;
    const auto result = search(c, grid, DenseRows{c.X.data(), c.rows, c.features}, 1e-4, 1, &told);
    std::size_t fit = 0;
    for (Index fold = 0; fold < 3; ++fold)
        for (const double C : grid.Cs) {
            assert(result.endings[fit] == Ending::optimal);
            const auto expected = separate(c, grid.kernels[0], trains.data() + fold * c.rows, C);
            for (Index i = 0; i < c.rows; ++i) assert(std::abs(result.scores[fit * c.rows + i] - expected[i]) < 0.01);
            ++fit;
        }
}

}  // namespace

int main() {
    for (int pieces : {1, 2, 3}) {
        Case c = make_case(static_cast<std::uint64_t>(pieces), 90, 3, pieces);
        check(c, {{KernelName::rbf, 0.5, 0, 3}, {KernelName::rbf, 0.1, 0, 3}}, 2);
        check(c, {{KernelName::linear, 1, 0, 3}}, 1);
    }
    Case large = make_case(7, 2100, 3, 2);  // beyond one block: each task makes its own values
    check(large, {{KernelName::rbf, 0.3, 0, 3}, {KernelName::rbf, 1.0, 0, 3}}, 2);
    check_interrupt();
    check_time();
    check_ill_conditioned();
}
