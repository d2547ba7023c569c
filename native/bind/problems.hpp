// Kernels, options and dual problems as Python gives them, checked.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "solve.hpp"

namespace abstain::bind {

using Signs = View<std::int8_t, 1>;
using Kinds = View<std::int32_t, 1>;

inline KernelSpec kernel_spec(const std::string& name, double gamma, double coef0, int degree) {
    require(gamma >= 0 && std::isfinite(gamma) && std::isfinite(coef0), "gamma must be finite and >= 0, coef0 finite");
    if (name == "precomputed") return {KernelName::linear, gamma, coef0, degree};
    for (std::size_t k = 0; k < std::size(kernel_names); ++k)
        if (name == kernel_names[k]) return {static_cast<KernelName>(k), gamma, coef0, degree};
    throw nb::value_error("kernel must be precomputed, linear, rbf, poly, sigmoid or laplacian");
}

inline Method method_of(const std::string& name) {
    if (name == "auto") return Method::automatic;
    if (name == "smo") return Method::pairs;
    if (name == "active-set") return Method::active_set;
    if (name == "search") return Method::search;
    throw nb::value_error("method must be auto, smo, active-set or search");
}

inline Options options_of(const std::string& method, double tol, Index max_iter, double cache_size) {
    require(tol >= 0, "tol must be a number >= 0");
    require(cache_size >= 0, "cache_size must be a number >= 0");
    return {method_of(method), tol, max_iter, cache_size * 1e6};
}

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

inline DenseRows dense_rows(const Matrix& X) {
    require(X.shape(0) > 0 && X.shape(1) > 0, "X must have at least one row and one column");
    return {X.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1))};
}

// Copied: the solvers follow these numbers, and the caller may change the arrays after they were checked.
template <class T> using Kept = std::shared_ptr<const std::vector<T>>;
template <class T> Kept<T> kept(const View<T, 1>& given) {
    return std::make_shared<const std::vector<T>>(given.data(), given.data() + given.shape(0));
}

// One problem's arrays, kept alive with the table made from them.
struct Inputs {
    Kept<std::int8_t> sign;
    Vector weight;
    Kept<std::int32_t> kind;
    std::shared_ptr<const LossTable> losses;
    double total = 0;

    Problem problem(Index rows) const {
        const std::size_t n = static_cast<std::size_t>(rows);
        require(sign->size() == n && weight.shape(0) == n && kind->size() == n,
                "sign, weight and kind must have an entry per row");
        const auto kinds = static_cast<Index>(losses->slopes.size()) / losses->pieces;
        for (std::size_t i = 0; i < n; ++i) {
            require((*sign)[i] == 1 || (*sign)[i] == -1, "sign must be -1 or 1");
            require((*kind)[i] >= 0 && (*kind)[i] < kinds, "kind must name a row of knots and slopes");
            require(weight.data()[i] >= 0 && weight.data()[i] < std::numeric_limits<double>::infinity(),
                    "weight must be finite and >= 0");
        }
        require(std::isfinite(total), "total must be finite");
        return {rows, sign->data(), weight.data(), kind->data(), losses.get(), total};
    }
};

}  // namespace abstain::bind
