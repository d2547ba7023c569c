#include "inverse.hpp"

#include <utility>

#include "aligned.hpp"
#include "lanes/lanes.hpp"
#include "policy.hpp"

namespace abstain {

void Inverse::learn(const std::vector<Index>& rows) {
    const Index stride = rounded_up(factor_.size());
    Aligned<double> values(stride * std::ssize(rows), 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) values[static_cast<Index>(r) * stride + rows[r]] = 1;
    factor_.solve(values.data(), stride, std::ssize(rows));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const double* column = values.data() + static_cast<Index>(r) * stride;
        columns_[rows[r]].assign(column, column + factor_.size());
    }
}

bool Inverse::remove(Index p) {
    std::vector<double> column = std::move(columns_[p]);
    const double whole = column[p];
    for (const Gone& gone : gone_)
        lanes<double>().add(column.data(), gone.column.data(), -gone.column[p] / gone.column[gone.row], factor_.size());
    for (const Gone& gone : gone_) column[gone.row] = 0;
    gone_.push_back({p, std::move(column)});
    return gone_.back().column[p] > policy::pivot_left * whole;
}

void Inverse::follow(std::vector<double>& x) const {
    const auto& [row, column] = gone_.back();
    lanes<double>().add(x.data(), column.data(), -x[row] / column[row], factor_.size());
    x[row] = 0;
}

}  // namespace abstain
