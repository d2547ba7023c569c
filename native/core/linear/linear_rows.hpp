// Rows of the linear machine as their owner keeps them, in single or double precision, dense or compressed. Borrowed.
#pragma once

#include <variant>

#include "index.hpp"

namespace abstain {

template <class T> struct DenseLinearRows {
    const T* values;       // row-major
    const double* centre;  // subtracted from every row as it is read: far from the origin, scores and bias would cancel
    Index rows, features;
};

template <class T> struct SparseLinearRows {
    const T* values;
    const std::int32_t* columns;
    const Index* starts;  // rows + 1 of them
    Index rows, features;
};

using LinearRows = std::variant<DenseLinearRows<float>, DenseLinearRows<double>, SparseLinearRows<float>, SparseLinearRows<double>>;

}  // namespace abstain
