// The training data in the three layouts the core reads. All pointers are borrowed: the arrays must outlive every
// kernel, source and task made from them.
#pragma once

#include <variant>

#include "index.hpp"

namespace abstain {

struct DenseRows {
    const double* values;  // row-major
    Index rows, features;
};

struct SparseRows {  // compressed rows (CSR)
    const double* values;
    const std::int32_t* columns;
    const Index* starts;  // rows + 1 of them
    Index rows, features;
};

struct GramRows {  // the kernel matrix itself, row-major and symmetric
    const double* values;
    Index rows;
    Index stride = rows;  // of the rows in memory; what lies between is finite
};

using Rows = std::variant<DenseRows, SparseRows, GramRows>;

inline Index row_count(const Rows& rows) {
    return std::visit([](const auto& some) { return some.rows; }, rows);
}

// Why compressed rows with arrays of these lengths cannot be read safely; nullptr where they can.
inline const char* fault(const SparseRows& X, Index starts, Index columns, Index values) {
    if (X.rows < 0 || starts - 1 != X.rows) return "starts must have one entry more than there are rows";
    if (X.features < 0) return "features must not be negative";
    if (X.starts[0] != 0) return "starts must begin with 0";
    for (Index i = 0; i < X.rows; ++i)
        if (X.starts[i + 1] < X.starts[i]) return "starts must not descend";
    const Index stored = X.starts[X.rows];
    if (stored > columns || stored > values) return "columns and values must have as many entries as starts ends with";
    for (Index e = 0; e < stored; ++e)
        if (X.columns[e] < 0 || X.columns[e] >= X.features) return "columns must lie between 0 and features - 1";
    return nullptr;
}

}  // namespace abstain
