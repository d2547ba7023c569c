#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "embedded/recovery.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Data {
    std::vector<double> z, penalty;
    std::vector<std::int8_t> sign;
    EmbeddedRows rows() const {
        return {z.data(), sign.data(), penalty.data(), static_cast<Index>(sign.size()), static_cast<Index>(penalty.size())};
    }
};

// Two overlapping clouds, labels in turn.
Data clouds(std::size_t n, std::size_t d, double apart = 1.5, std::uint64_t seed = 7) {
    Random random(seed);
    Data data{random.normals(n * d), {}, {}};
    for (std::size_t i = 0; i < n; ++i) {
        data.sign.push_back(i % 2 ? 1 : -1);
        if (d > 0) data.z[i * d] += apart * data.sign.back();
    }
    for (std::size_t k = 0; k < d; ++k) data.penalty.push_back(0.5 + random.uniform());
    return data;
}

const EmbeddedLoss paper{0.2, 0.04, 100, 0.05};
const EmbeddedLoss losses[] = {paper, {0.5, 0.1, 100, 0.05}, {0.05, 0.01, 12, 0.05}, {0.9, 0.3, 3, 1.0}, {0.3, 0.2, 1000, 0.01}};

// phi(m, eps) by its definition: h'' minimised over xi >= 1 - m on a grid around.
double brute_force(const EmbeddedLoss& loss, double m, double eps) {
    double best = infinity;
    for (int k = 0; k <= 20000; ++k) best = std::min(best, loss.value(1 - m + 8.0 * k / 20000, eps));
    return best;
}

void test_least_slack() {
    for (const EmbeddedLoss& loss : losses)
        for (double eps : {0.0, 0.01, 0.5, 0.99, 1.0}) {
            const double xi0 = loss.least_slack(eps), nearby = loss.least_slack(eps, 0.9 * xi0);
            assert(xi0 < 0 && std::abs(nearby - xi0) < 1e-9 * -xi0);
            assert(std::abs(loss.by_slack(xi0, eps)) < 1e-8 * loss.steepness);
            assert(loss.value(xi0, eps) <= brute_force(loss, 1 + 5 / loss.steepness, eps) + 1e-12);
        }
    assert(std::abs(EmbeddedLoss{0.5, 0.1, 100, 0.05}.least_slack(0.5) + 0.0723) < 1e-4);
    const EmbeddedLoss flat{0.5, 0.1, 100, 1e-300};  // its minimum lies where the sigmoid has no bits left
    assert(flat.least_slack(0.5) == -0.4);
}

void test_derivatives_of_the_loss() {
    for (const EmbeddedLoss& loss : losses)
        for (double xi = -0.3; xi < 2.5; xi += 0.037) {
            const double h = 1e-5 / loss.steepness, s = loss.steepness;
            const double slope = (loss.value(xi + h, 0.4) - loss.value(xi - h, 0.4)) / (2 * h);
            assert(std::abs(slope - loss.by_slack(xi, 0.4)) < 1e-6 * s);
            const double bend = (loss.by_slack(xi + h, 0.4) - loss.by_slack(xi - h, 0.4)) / (2 * h);
            assert(std::abs(bend - loss.bend(xi, 0.4)) < 1e-5 * s * s);
        }
}

// The vectors' loss, row by row: one feature that is the margin.
void test_lanes(const StepLanes& lane) {
    constexpr int n = 2 * block_rows<double>;
    for (const EmbeddedLoss& loss : losses)
        for (double eps : {0.0, 0.3, 1.0}) {
            const double xi0 = loss.least_slack(eps), point = 1;
            for (double m = -3; m < 3; m += 0.0625) {
                Aligned<double> rows(n, m), weight(n, 0.0), scratch(16);
                weight[3] = 2;
                double gradient, sums[2];
                lane.losses(loss.at_eps(eps, xi0), 1, rows.data(), weight.data(), &point, 2, &gradient, sums, scratch.data());
                const double xi = std::max(1 - m, xi0);
                assert(std::abs(sums[0] - 2 * loss.value(xi, eps)) < 1e-12);
                assert(std::abs(gradient - (1 - m > xi0 ? -2 * m * loss.by_slack(xi, eps) : 0)) < 1e-11 * loss.steepness);
            }
        }
    Aligned<double> base(16, 5.0), row(16, 1.0), out(16);
    base[11] = 4;
    row[3] = -3;
    const double* const rows[] = {row.data(), base.data()};
    const double factors[] = {1.0, 0.5};
    assert(lane.least_sum(base.data(), rows, factors, 2, 16, out.data()) == 4.5 && out[11] == 7 && out[3] == 4.5);
}

void test_objective() {
    const Data data = clouds(75, 3);
    Random random(1);
    for (const EmbeddedLoss& loss : {losses[0], losses[3]}) {
        EmbeddedObjective objective(data.rows(), false);
        Point point = random.normals(5), gradient(5), unused(5);
        point[4] = 0.3;
        const double value = objective(loss, point, gradient);
        double expected = 0;
        for (std::size_t k = 0; k < 3; ++k) expected += data.penalty[k] * point[k] * point[k] / 2;
        for (std::size_t i = 0; i < 75; ++i) {
            double score = point[3];
            for (std::size_t k = 0; k < 3; ++k) score += data.z[i * 3 + k] * point[k];
            expected += brute_force(loss, data.sign[i] * score, point[4]);
        }
        assert(std::abs(value - expected) < 1e-5 * expected);
        for (std::size_t k = 0; k < 5; ++k) {
            Point high = point, low = point;
            const double h = 1e-6;
            high[k] += h, low[k] -= h;
            const double slope = (objective(loss, high, unused) - objective(loss, low, unused)) / (2 * h);
            assert(std::abs(slope - gradient[k]) < 1e-6 * (1 + std::abs(slope)) * loss.steepness);
        }
        objective.arrange(point);
        assert(std::abs(objective(loss, point, unused) - value) < 1e-12 * value);
        for (Index i = 1; i < 75; ++i) assert(objective.margin(i, point) <= objective.margin(i - 1, point) + 1e-12);
    }
}

void test_inner_minimum() {
    for (const EmbeddedLoss& loss : losses)
        for (double eps : {0.0, 0.004, 0.03, 0.5, 0.97, 1.0})
            for (double t : {0.0, 0.001, 0.05, 0.3, 0.5, 0.6, 1.4}) {
                double best = infinity;
                for (int k = 0; k <= 40000; ++k) {
                    const double xi = -0.5 + 18.0 * k / 40000;
                    best = std::min(best, loss.value(xi, eps) - t * xi);
                }
                const InnerMinimum found = inner_minimum(loss, eps, t);
                assert(found.value <= best + 1e-9);  // at least as low as any slack tried
                assert(std::abs(loss.value(found.slack, eps) - t * found.slack - found.value) < 1e-12);
            }
}

void test_table() {
    const std::vector<double> grid = eps_grid(paper);
    assert(grid.front() == 0 && grid.back() == 1 && std::is_sorted(grid.begin(), grid.end()));
    const InnerTable table(paper, grid, 601, 1.5);
    for (double t : {0.0, 0.0113, 0.2, 0.5371, 1.5})
        for (std::size_t e = 0; e < grid.size(); ++e) {
            const auto place = table.place(t);
            const double value = (1 - place.share) * place.row[e] + place.share * place.next[e];
            const double exact = inner_minimum(paper, grid[e], t).value;
            assert(value < exact + 5e-4 && value > exact - 2e-3);  // sampled slacks raise it, chords lower it
        }
    for (Index cell = 1; cell < 600; ++cell) assert(table.slack(7, cell) > table.slack(7, cell - 1) - 1e-9);  // concave in t
    assert(table.cell(0.25 - 1e-7, 1) == table.cell(0.25, 1) && table.cell(0.25, -1) == table.cell(0.25, 1) - 1);
}

void test_primal() {
    const Data data = clouds(120, 4);
    for (const EmbeddedLoss& loss : {losses[0], losses[1]}) {
        Watch watch, again;
        const PrimalOutcome found = solve_primal(data.rows(), data.rows(), loss, {}, {}, {12, 3, 100000}, watch);
        assert(found.status == Status::converged && found.iterations == watch.iterations);
        assert(found.point.back() >= 0 && found.point.back() <= 1);
        assert(loss.reject_cost < 0.5 || found.point.back() == 0);
        EmbeddedObjective objective(data.rows(), loss.reject_cost >= 0.5);
        Point gradient(6), moved(6);
        assert(std::abs(objective(loss, found.point, gradient) - found.value) < 1e-12 * found.value);
        Random random(5);
        for (int k = 0; k < 200; ++k) {  // nothing lower next to it
            moved = found.point;
            for (double& x : moved) x += 1e-4 * random.normal();
            moved.back() = loss.reject_cost >= 0.5 ? 0 : std::clamp(moved.back(), 0.0, 1.0);
            assert(objective(loss, moved, gradient) > found.value - 1e-7);
        }
        const PrimalOutcome same = solve_primal(data.rows(), data.rows(), loss, {}, {}, {12, 3, 100000}, again);
        assert(same.point == found.point && same.value == found.value);
    }
}

void test_limits() {
    const Data data = clouds(200, 4);
    Watch watch, late({}, 0.0), stopped([](Index, double) { return Watch::Answer::interrupt; });
    const PrimalOutcome few = solve_primal(data.rows(), data.rows(), paper, {}, {}, {30, 0, 10}, watch);
    assert(few.status == Status::iteration_limit && few.iterations <= 11 && std::isfinite(few.value));
    const PrimalOutcome none = solve_primal(data.rows(), data.rows(), paper, {}, {}, {30, 0, 100000}, late);
    assert(none.status == Status::time_limit && std::isfinite(none.value));
    bool thrown = false;
    try {
        for (;;) solve_primal(data.rows(), data.rows(), paper, {}, {}, {1000, 0, 100000}, stopped);
    } catch (const Interrupted&) {
        thrown = true;
    }
    assert(thrown);
}

void test_starts_are_used() {
    const Data data = clouds(120, 4);
    Watch watch, again;
    const PrimalOutcome good = solve_primal(data.rows(), data.rows(), paper, {}, {}, {40, 1, 100000}, watch);
    const PrimalOutcome from_it = solve_primal(data.rows(), data.rows(), paper, {good.point}, {}, {0, 1, 100000}, again);
    assert(from_it.value <= good.value * (1 + 1e-9));
}

// More hops add to what was polished and change nothing before; so do later starts.
void test_more_never_raises() {
    int lower = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const Data data = clouds(60, 8, 0.3, seed);
        double before = infinity;
        for (Index hops : {0, 4, 20, 170, 340}) {
            Watch watch, again;
            const PrimalOutcome found = solve_primal(data.rows(), data.rows(), paper, {}, {}, {hops, 1, 1'000'000}, watch);
            assert(found.value <= before && found.status == Status::converged);
            lower += found.value < before * (1 - 1e-6);
            before = found.value;
            Point other(10, 0.1);
            assert(solve_primal(data.rows(), data.rows(), paper, {}, {other}, {hops, 1, 1'000'000}, again).value <= before);
        }
    }
    assert(lower > 6);  // the first of each seed, and some more
}

// The way of the search depends on the rough rows alone; the point is one of the exact rows.
void test_rough_rows_lead() {
    const Data data = clouds(120, 4);
    Data rough = data, shuffled = data;
    for (double& z : rough.z) z = std::round(z * 1024) / 1024;
    for (std::size_t i = 0; i < 120; ++i) {  // rows the other way round
        std::copy_n(data.z.begin() + static_cast<long>(4 * (119 - i)), 4, shuffled.z.begin() + static_cast<long>(4 * i));
        shuffled.sign[i] = data.sign[119 - i];
    }
    Watch watch, again;
    const PrimalOutcome found = solve_primal(data.rows(), rough.rows(), paper, {}, {}, {30, 3, 100000}, watch);
    const PrimalOutcome other = solve_primal(shuffled.rows(), rough.rows(), paper, {}, {}, {30, 3, 100000}, again);
    assert(std::abs(found.value - other.value) < 1e-9 * found.value);
    Point gradient(6);
    assert(std::abs(EmbeddedObjective(data.rows(), false)(paper, found.point, gradient) - found.value) < 1e-12 * found.value);
    assert(std::abs(EmbeddedObjective(rough.rows(), false)(paper, found.point, gradient) - found.value) > 1e-9 * found.value);
}

void test_dual() {
    const Data data = clouds(120, 4);
    for (const EmbeddedLoss& loss : {losses[0], losses[1]}) {
        Watch watch, again, other;
        const DualOutcome dual = solve_dual(data.rows(), loss, {}, watch);
        double balance = 0;
        for (std::size_t i = 0; i < 120; ++i) {
            assert(dual.multipliers[i] >= 0);
            balance += dual.multipliers[i] * data.sign[i];
        }
        assert(std::abs(balance) < 1e-10);
        assert(dual.trace.size() > 2 && std::is_sorted(dual.trace.begin(), dual.trace.end()));
        const Recovered found = recover(data.rows(), loss, dual, again);
        const PrimalOutcome primal = solve_primal(data.rows(), data.rows(), loss, {}, {}, {20, 0, 100000}, other);
        assert(found.bound <= primal.value && primal.value <= found.value * (1 + 1e-9));
        assert(found.bound > 0.3 * primal.value);
        assert(std::abs(found.bound - dual.trace.back()) < 0.02 * found.bound);
        EmbeddedObjective objective(data.rows(), false);
        Point gradient(6);
        assert(std::abs(objective(loss, found.point, gradient) - found.value) < 1e-9 * found.value);
    }
}

void test_no_features_and_few_rows() {
    for (std::size_t n : {2, 3, 33}) {
        const Data data = clouds(n, 0);
        Watch watch, again;
        const PrimalOutcome found = solve_primal(data.rows(), data.rows(), paper, {}, {}, {3, 0, 1000}, watch);
        assert(found.point.size() == 2 && std::isfinite(found.value));
        const DualOutcome dual = solve_dual(data.rows(), paper, {}, again);
        assert(recover(data.rows(), paper, dual, again).bound <= found.value + 1e-9);
    }
}

}  // namespace

int main() {
    test_least_slack();
    test_derivatives_of_the_loss();
    test_lanes(lanes_v2.steps);
#ifdef ABSTAIN_X86
    if (__builtin_cpu_supports("x86-64-v3")) test_lanes(lanes_v3.steps);
    if (__builtin_cpu_supports("x86-64-v4")) test_lanes(lanes_v4.steps);
#endif
    test_objective();
    test_inner_minimum();
    test_table();
    test_primal();
    test_limits();
    test_starts_are_used();
    test_more_never_raises();
    test_rough_rows_lead();
    test_dual();
    test_no_features_and_few_rows();
}
