// The rows between breakpoints, T, and the factor of their kernel values: who enters, leaves, or depends on the others.
#include <algorithm>
#include <utility>

#include "active_set.hpp"
#include "policy.hpp"

namespace abstain {

void ActiveSet::refactor(double tolerance) {
    dependent_within_ = tolerance;
    factor_.clear();
    inside_.clear();
    dependent_.clear();
    std::vector<Index> between;
    between.reserve(state_.size());
    for (Index i = 0; i < problem_.size; ++i)
        if (state_[i].code % 2) between.push_back(i);
    const Index stride = rounded_up(std::ssize(between));
    Aligned<double> block(stride * stride);
    if (!between.empty()) kernel_.block(between, block.data(), stride);
    Aligned<double> values;
    std::vector<Index> admitted;  // positions in `between` of T's rows
    for (Index first = 0; first < std::ssize(between); first += policy::rows_in_panel, watch_.look()) {
        const Index count = std::min(policy::rows_in_panel, std::ssize(between) - first), before = factor_.size();
        values.resize(count * (before + count));
        for (Index p = 0; p < count; ++p) {
            const double* row = block.data() + (first + p) * stride;
            double* to = values.data() + p * (before + count);
            for (Index t : admitted) *to++ = row[t] + constant_;
            for (Index q = 0; q <= p; ++q) *to++ = (q < p ? row[first + q] : kernel_.diagonal(between[first + p])) + constant_;
        }
        admit(between.data() + first, count, values, before + count);
        for (Index p = 0, t = before; p < count && t < std::ssize(inside_); ++p)
            if (between[first + p] == inside_[t]) admitted.push_back(first + p), ++t;
    }
}

// K' between row i and T.
std::vector<double> ActiveSet::column(Index i) const {
    std::vector<double> sums(rounded_up(problem_.size), 0.0), entries;
    kernel_.accumulate({{i}, {1.0}}, sums.data());
    for (Index t : inside_) entries.push_back(sums[t] + constant_);
    return entries;
}

void ActiveSet::admit(const Index* rows, Index count, Aligned<double>& values, Index stride) {
    const std::vector<bool> independent = factor_.append(values.data(), stride, count, dependent_within_);
    for (Index p = 0; p < count; ++p) (independent[p] ? inside_ : dependent_).push_back(rows[p]);
}

void ActiveSet::enter(const std::vector<Index>& rows) {
    Aligned<double> values;
    for (Index first = 0; first < std::ssize(rows); first += policy::rows_in_panel) {
        const Index count = std::min(policy::rows_in_panel, std::ssize(rows) - first), stride = factor_.size() + count;
        values.resize(count * stride);
        for (Index p = 0; p < count; ++p) {
            std::vector<double> sums(rounded_up(problem_.size), 0.0);
            kernel_.accumulate({{rows[first + p]}, {1.0}}, sums.data());
            double* to = values.data() + p * stride;
            for (Index t : inside_) *to++ = sums[t] + constant_;
            for (Index q = 0; q < p; ++q) *to++ = sums[rows[first + q]] + constant_;
            *to = kernel_.diagonal(rows[first + p]) + constant_;
        }
        admit(rows.data() + first, count, values, stride);
    }
}

// After a row of T has left, rows that depended on it are independent. The first of them to enter spans what it did, so
// the others depend on T as before.
void ActiveSet::leave(Index i) {
    const auto found = std::find(inside_.begin(), inside_.end(), i);
    if (found == inside_.end()) {
        std::erase(dependent_, i);
        return;
    }
    factor_.remove(found - inside_.begin());
    inside_.erase(found);
    const std::size_t left = inside_.size();
    for (Index w : std::exchange(dependent_, {})) {
        if (inside_.size() > left) dependent_.push_back(w);
        else enter({w});
    }
}

}  // namespace abstain
