// What is proven without a solver: certificates, and rows that are surely not novel.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstring>

#include "certificate.hpp"
#include "problems.hpp"
#include "unsure.hpp"

using namespace nanobind::literals;

namespace abstain::bind {

void bind_proofs(nb::module_& m) {
    m.def(
        "measured",  // a line for each part, with the fields of Measures
        [](View<std::int64_t, 1> starts, Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, double total,
           Vector beta, Vector F, Vector bias, double lift) {
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes), total};
            const Problem whole = inputs.problem(static_cast<Index>(sign.shape(0)));
            require(beta.shape(0) == sign.shape(0) && F.shape(0) == sign.shape(0), "beta and F must have as many entries as sign");
            require(starts.shape(0) == bias.shape(0) + 1, "starts must have an entry more than bias");
            constexpr Index fields = sizeof(Measures) / sizeof(double);
            const auto parts = static_cast<Index>(bias.shape(0));
            Aligned<double> found(parts * fields);
            for (Index p = 0; p < parts; ++p) {
                const Index first = starts.data()[p], last = starts.data()[p + 1];
                require(0 <= first && first < last && last <= whole.size, "starts must ascend, up to the number of rows");
                Problem own = whole;
                own.size = last - first;
                own.sign += first, own.weight += first, own.kind += first;
                const Measures now = measured(own, beta.data() + first, F.data() + first, bias.data()[p], lift);
                std::memcpy(found.data() + p * fields, &now, sizeof now);
            }
            return to_numpy(std::move(found), parts, fields);
        },
        "starts"_a.noconvert(), "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(),
        "slopes"_a.noconvert(), "total"_a, "beta"_a.noconvert(), "F"_a.noconvert(), "bias"_a.noconvert(), "lift"_a);

    m.def(
        "made_feasible",  // None for coefficients that are
        [](Signs sign, Vector weight, Kinds kind, Matrix knots, Matrix slopes, double total, Vector beta) -> nb::object {
            const Inputs inputs{kept(sign), weight, kept(kind), table_of(knots, slopes), total};
            const Problem problem = inputs.problem(static_cast<Index>(sign.shape(0)));
            require(beta.shape(0) == sign.shape(0), "beta must have as many entries as sign");
            auto made = made_feasible(problem, beta.data());
            return made ? nb::cast(to_numpy(std::move(*made))) : nb::none();
        },
        "sign"_a.noconvert(), "weight"_a.noconvert(), "kind"_a.noconvert(), "knots"_a.noconvert(), "slopes"_a.noconvert(),
        "total"_a, "beta"_a.noconvert());

    m.def(
        "unsure_rows",
        [](Matrix X, Vector centre, Vector spread, Matrix residuals, double most, Matrix middles, Vector coef, double gamma,
           double least, double clip) {
            const DenseRows rows = dense_rows(X), by = dense_rows(residuals), near = dense_rows(middles);
            const auto d = static_cast<std::size_t>(rows.features);
            require(centre.shape(0) == d && spread.shape(0) == d && residuals.shape(1) == d && middles.shape(1) == d,
                    "centre, spread, residuals and middles must have a column per feature");
            require(residuals.shape(0) == d, "residuals must be square");
            require(coef.shape(0) == middles.shape(0), "coef must have an entry per row of middles");
            require(gamma >= 0 && clip >= 0 && std::isfinite(gamma * clip), "gamma and clip must be finite and >= 0");
            return to_numpy(unsure_rows(rows, {centre.data(), spread.data(), by, most, near, coef.data(), gamma, least, clip}));
        },
        "X"_a.noconvert(), "centre"_a.noconvert(), "spread"_a.noconvert(), "residuals"_a.noconvert(), "most"_a,
        "middles"_a.noconvert(), "coef"_a.noconvert(), "gamma"_a, "least"_a, "clip"_a);
}

}  // namespace abstain::bind
