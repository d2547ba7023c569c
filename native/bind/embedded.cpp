// The solvers of FR02's machine, for abstain.solvers.
#include <nanobind/stl/tuple.h>

#include <limits>
#include <tuple>

#include "arrays.hpp"
#include "embedded/recovery.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

namespace {

using Costs = std::tuple<double, double, double, double>;  // w_R, w_C, s, a

EmbeddedLoss loss_of(const Costs& costs) {
    const EmbeddedLoss loss{std::get<0>(costs), std::get<1>(costs), std::get<2>(costs), std::get<3>(costs)};
    require(loss.margin_cost > 0 && loss.margin_cost < loss.reject_cost && loss.reject_cost <= 1,
            "the costs must satisfy 0 < w_C < w_R <= 1");
    require(loss.steepness > 0 && loss.slack_penalty > 0, "steepness and slack penalty must be positive");
    return loss;
}

EmbeddedRows rows_of(const Matrix& z, const View<std::int8_t, 1>& sign, const Vector& penalty) {
    require(z.shape(0) == sign.shape(0) && z.shape(0) > 0, "z must have as many rows as sign has entries, and some");
    require(z.shape(1) == penalty.shape(0), "penalty must have as many entries as z has columns");
    return {z.data(), sign.data(), penalty.data(), static_cast<Index>(z.shape(0)), static_cast<Index>(z.shape(1))};
}

std::vector<Point> points_of(const Matrix& points, Index size) {
    require(static_cast<Index>(points.shape(1)) == size, "a start must have two more entries than z has columns");
    std::vector<Point> all;
    for (std::size_t k = 0; k < points.shape(0); ++k)
        all.emplace_back(points.data() + k * points.shape(1), points.data() + (k + 1) * points.shape(1));
    return all;
}

}  // namespace

void bind_embedded(nb::module_& m) {
    m.def(
        "embedded_objective",
        [](Matrix z, View<std::int8_t, 1> sign, Vector penalty, Costs costs, Vector point) {
            const EmbeddedRows rows = rows_of(z, sign, penalty);
            require(static_cast<Index>(point.shape(0)) == rows.features + 2,
                    "point must have two more entries than z has columns");
            Point gradient(point.shape(0));
            const double value =
                EmbeddedObjective(rows, false)(loss_of(costs), {point.data(), point.data() + point.shape(0)}, gradient);
            return nb::make_tuple(value, to_numpy(std::move(gradient)));
        },
        "z"_a.noconvert(), "sign"_a.noconvert(), "penalty"_a.noconvert(), "costs"_a, "point"_a.noconvert());

    m.def(
        "embedded_primal",
        [](Matrix z, View<std::int8_t, 1> sign, Vector penalty, Matrix rough_z, View<std::int8_t, 1> rough_sign,
           Vector rough_penalty, Costs costs, Matrix starts, Matrix later, Index hops, std::uint64_t seed, Index max_iter,
           double seconds, nb::object report) {
            const EmbeddedRows rows = rows_of(z, sign, penalty), rough = rows_of(rough_z, rough_sign, rough_penalty);
            require(rough.rows == rows.rows && rough.features == rows.features, "rough_z must have the shape of z");
            const EmbeddedLoss loss = loss_of(costs);
            const std::vector<Point> first = points_of(starts, rows.features + 2), last = points_of(later, rows.features + 2);
            PrimalOutcome outcome = without_lock(report, seconds, [&](Watch& watch) {
                return solve_primal(rows, rough, loss, first, last, {hops, seed, max_iter}, watch);
            });
            return nb::make_tuple(to_numpy(std::move(outcome.point)), outcome.value, word(outcome.status, "local"),
                                  outcome.iterations);
        },
        "z"_a.noconvert(), "sign"_a.noconvert(), "penalty"_a.noconvert(), "rough_z"_a.noconvert(), "rough_sign"_a.noconvert(),
        "rough_penalty"_a.noconvert(), "costs"_a, "starts"_a.noconvert(), "later"_a.noconvert(), "hops"_a, "seed"_a, "max_iter"_a,
        "seconds"_a, "report"_a.none());

    m.def(
        "embedded_dual",
        [](Matrix z, View<std::int8_t, 1> sign, Vector penalty, Costs costs, Index max_iter, double seconds, nb::object report) {
            const EmbeddedRows rows = rows_of(z, sign, penalty);
            const EmbeddedLoss loss = loss_of(costs);
            DualSettings settings;
            settings.max_iter = max_iter;
            auto [dual, found] = without_lock(report, seconds, [&](Watch& watch) {
                DualOutcome ascent = solve_dual(rows, loss, settings, watch);
                Recovered back = recover(rows, loss, ascent, watch);
                return std::pair{std::move(ascent), std::move(back)};
            });
            return nb::make_tuple(to_numpy(std::move(found.point)), found.value, word(dual.status, "local"), dual.iterations,
                                  found.bound, to_numpy(std::move(dual.multipliers)), to_numpy(std::move(dual.trace)));
        },
        "z"_a.noconvert(), "sign"_a.noconvert(), "penalty"_a.noconvert(), "costs"_a, "max_iter"_a, "seconds"_a,
        "report"_a.none());

    m.def(
        "embedded_inner",
        [](Costs costs, double eps, double t) {
            const InnerMinimum found = inner_minimum(loss_of(costs), eps, t);
            return nb::make_tuple(found.value, found.slack);
        },
        "costs"_a, "eps"_a, "t"_a);
}

}  // namespace abstain::bind
