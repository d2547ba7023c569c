// The path in C, judged at random C by the optimality conditions, which are computed here from the kernel's definition.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "cases.hpp"
#include "random.hpp"
#include "solve.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

int controls = 0;

// Two clouds; every sixth point is twice the one before, every twelfth has no weight; `ties`: on whole numbers.
Case make_case(std::uint64_t seed, Index rows, int pieces, bool ties) {
    Random random(seed);
    Case c;
    c.rows = rows;
    c.features = 2;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back(i < 2 ? static_cast<std::int8_t>(1 - 2 * i) : static_cast<std::int8_t>(random.uniform() < 0.5 ? 1 : -1));
        for (Index k = 0; k < c.features; ++k) {
            const double x = random.normal() + 0.6 * c.sign.back();
            const bool twice = i % 6 == 5;
            c.X.push_back(twice ? c.X[(i - 1) * c.features + k] : ties ? std::round(2 * x) : x);
        }
        c.weight.push_back(i % 12 == 11 ? 0.0 : 0.5 + random.uniform());
    }
    give_losses(c, pieces, 0.6);
    return c;
}

// gamma of all rows at lambda = 1 / C, put together from the pieces as path.hpp lays them.
std::vector<double> gamma_at(const PathPieces& path, const Case& c, double lambda) {
    std::size_t piece = 0;
    while (piece + 1 < path.start.size() && path.start[piece + 1] >= lambda) ++piece;
    std::vector<double> gamma(c.rows, 0.0);
    for (std::size_t e = 0; e < path.settled_from.size() && path.settled_from[e] <= static_cast<Index>(piece); ++e)
        gamma[path.settled_row[e]] = path.settled_gamma[e];
    for (Index t = path.first[piece]; t < path.first[piece + 1]; ++t)
        gamma[path.rows[t]] = path.gamma[t] + (lambda - path.end[piece]) * path.rate[t];
    return gamma;
}

// max(up - F) - min(down - F) at beta = C gamma, in units of the score. Rounding may leave a row on a breakpoint a little
// off it: within 1e-9 of its box it counts as on it.
double violation_at(const Case& c, const std::vector<double>& K, const std::vector<double>& gamma, double C) {
    const Problem problem = c.problem();
    double highest = -1e300, lowest = 1e300, sum = 0;
    for (Index i = 0; i < c.rows; ++i) {
        double F = 0;
        for (Index j = 0; j < c.rows; ++j) F += C * K[i * c.rows + j] * gamma[j];
        sum += gamma[i];
        const double g = c.sign[i] * gamma[i], top = problem.breakpoint(i, problem.pieces()), slack = 1e-9 * top;
        assert(g >= -slack && g <= top + slack);
        Code code = 0;
        for (int k = 0; k <= problem.pieces(); ++k) {
            if (g > problem.breakpoint(i, k) + slack) code = static_cast<Code>(2 * k + 1);
            else if (g >= problem.breakpoint(i, k) - slack) code = static_cast<Code>(2 * k);
        }
        highest = std::max(highest, problem.up(i, code) - F);
        lowest = std::min(lowest, problem.down(i, code) - F);
    }
    assert(std::abs(sum) < 1e-9);
    return std::max(0.0, highest - lowest);
}

void check(Case& c, const KernelSpec& spec, std::uint64_t seed, double lowest, double highest) {
    const auto K = gram_of(spec, c);
    ThreadPool pool(1);
    Watch watch;
    const PathPieces path = follow_path(c.problem(), spec, c.dense(), lowest, highest, {}, pool, watch);
    assert(path.complete);
    assert(path.first.size() == path.start.size() + 1 && path.first.back() == static_cast<Index>(path.rows.size()));
    assert(std::is_sorted(path.start.rbegin(), path.start.rend()) && path.start.front() == 1 / lowest);

    Random random(seed);
    double off = 0;  // control: the coefficients of another C
    for (int k = 0; k < 40; ++k) {
        const double C = lowest * std::pow(highest / lowest, random.uniform());
        const double worst = violation_at(c, K, gamma_at(path, c, 1 / C), C);
        if (!(worst <= 1e-6))
            std::printf("kernel %d rows %ld pieces %d C %g: %g\n", int(spec.name), long(c.rows), c.losses.pieces, C, worst);
        assert(worst <= 1e-6);
        off = std::max(off, violation_at(c, K, gamma_at(path, c, 0.9 / C), C));
    }
    controls += off > 1e-3;
}

void check_end_of_patience() {
    Case c = make_case(3, 60, 2, false);
    const DenseRows X = c.dense();
    ThreadPool pool(1);
    Watch late({}, -1.0);
    assert(!follow_path(c.problem(), {KernelName::rbf, 0.5, 0, 3}, X, 1e-2, 1e2, {}, pool, late).complete);
}

// A path that rounding ends is taken back to its last certified point, with all its parts.
void check_end_by_rounding() {
    Case c = make_case(4, 40, 2, false);
    for (std::size_t k = 0; k < c.X.size(); ++k) c.X[k] *= std::pow(10.0, static_cast<double>(k % 3));
    const KernelSpec spec{KernelName::poly, 1, 1, 3};
    ThreadPool pool(1);
    Watch watch;
    const PathPieces path = follow_path(c.problem(), spec, c.dense(), 1e-12, 1e6, {}, pool, watch);
    assert(!path.complete && !path.start.empty() && 1 / path.end.back() < 1e6);
    const std::size_t pieces = path.start.size();
    for (const std::size_t size : {path.end.size(), path.bias.size(), path.bias_rate.size(), path.turned.size()})
        assert(size == pieces);
    assert(path.first.size() == pieces + 1);
    for (const std::size_t size : {path.gamma.size(), path.rate.size()}) assert(size == path.rows.size());
    assert(path.first.back() == static_cast<Index>(path.rows.size()));
    assert(path.settled_row.size() == path.settled_from.size() && path.settled_gamma.size() == path.settled_from.size());
    assert(std::all_of(path.settled_from.begin(), path.settled_from.end(),
                       [&](Index piece) { return piece < static_cast<Index>(pieces); }));
}

}  // namespace

int main() {
    std::uint64_t seed = 1;
    int cases = 0;
    for (const KernelSpec spec : {KernelSpec{KernelName::linear, 1, 0, 3}, KernelSpec{KernelName::rbf, 0.5, 0, 3}})
        for (int pieces : {1, 2, 3})
            for (Index rows : {2, 5, 24, 60})
                for (const bool ties : {false, true}) {
                    Case c = make_case(seed++, rows, pieces, ties);
                    check(c, spec, seed, 1e-2, 1e2);
                    ++cases;
                }
    assert(controls > cases / 2);
    Case wide = make_case(seed++, 60, 2, false);
    check(wide, {KernelName::rbf, 0.5, 0, 3}, seed, 1e-6, 1e2);
    check_end_of_patience();
    check_end_by_rounding();
}
