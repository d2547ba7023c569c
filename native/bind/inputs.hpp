// What the binding files read from Python alike: entries of dicts, indices of compressed rows, losses and signed rows.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "problem.hpp"

namespace abstain::bind {

using Signs = View<std::int8_t, 1>;
using Kinds = View<std::int32_t, 1>;

// An array out of a dict, which nanobind does not check by itself.
template <class Array> Array entry(const nb::dict& from, const char* name) {
    Array array;
    if (!from.contains(name)) throw nb::value_error((std::string(name) + " is missing").c_str());
    if (!nb::try_cast<Array>(from[name], array, false))
        throw nb::type_error((std::string(name) + " must be a C-contiguous array of the right type and dimension").c_str());
    return array;
}

// A whole number or a dict out of a dict or a list, with the name of what it is for the error.
template <class Value> Value plain(const nb::handle& from, const char* rule) {
    Value value;
    if (!nb::try_cast<Value>(from, value, false)) throw nb::type_error(rule);
    return value;
}

// The indices of compressed rows, copied: another thread may change the caller's arrays after they were checked.
struct Indices {
    std::vector<Index> starts;
    std::vector<std::int32_t> columns;
};

// knots and slopes of the losses, (L, K) from left to right, become slopes and breakpoints of the dual.
inline std::shared_ptr<const LossTable> table_of(const Matrix& knots, const Matrix& slopes) {
    const std::size_t L = knots.shape(0), K = knots.shape(1);
    require(slopes.shape(0) == L && slopes.shape(1) == K && K >= 1 && K <= most_pieces,
            "knots and slopes must both have shape (L, K) with 1 <= K < 60");
    for (std::size_t kind = 0; kind < L; ++kind) {
        const double *t = knots.data() + kind * K, *u = slopes.data() + kind * K;
        for (std::size_t k = 0; k < K; ++k) {
            require(std::isfinite(t[k]) && (k == 0 || t[k] > t[k - 1]), "knots must be finite and ascend");
            require(std::isfinite(u[k]) && u[k] < 0 && (k == 0 || u[k] > u[k - 1]), "slopes must be finite, negative and ascend");
        }
    }
    LossTable table{static_cast<int>(K), {}, {}};
    for (std::size_t kind = 0; kind < L; ++kind) {
        table.breakpoints.push_back(0.0);
        for (std::size_t k = K; k-- > 0;) {
            table.slopes.push_back(knots.data()[kind * K + k]);
            table.breakpoints.push_back(-slopes.data()[kind * K + k]);
        }
    }
    return std::make_shared<const LossTable>(std::move(table));
}

// One problem's arrays, kept alive with the table made from them.
struct Inputs {
    Signs sign;
    Vector weight;
    Kinds kind;
    std::shared_ptr<const LossTable> losses;

    Problem problem(Index rows) const {
        const std::size_t n = static_cast<std::size_t>(rows);
        require(sign.shape(0) == n && weight.shape(0) == n && kind.shape(0) == n,
                "sign, weight and kind must have an entry per row");
        const auto kinds = static_cast<Index>(losses->slopes.size()) / losses->pieces;
        for (std::size_t i = 0; i < n; ++i) {
            require(sign.data()[i] == 1 || sign.data()[i] == -1, "sign must be -1 or 1");
            require(kind.data()[i] >= 0 && kind.data()[i] < kinds, "kind must name a row of knots and slopes");
            require(weight.data()[i] >= 0 && weight.data()[i] < std::numeric_limits<double>::infinity(),
                    "weight must be finite and >= 0");
        }
        return {rows, sign.data(), weight.data(), kind.data(), losses.get()};
    }
};

}  // namespace abstain::bind
