#include "upper_factor.hpp"

#include <algorithm>
#include <cmath>

#include "lanes/lanes.hpp"
#include "policy.hpp"

namespace abstain {

// Rows that wait hold minus what is left of A, because the loops add U' U.
bool UpperFactor::make() {
    const auto add = lanes<double>().add;
    const Index block = policy::factor_rows;
    for (double& each : values_) each = -each;
    for (Index first = 0; first < size_; first += block) {
        const Index last = std::min(size_, first + block);
        for (Index i = first; i < last; ++i) {
            double* const from = row(i);
            if (!(from[i] < 0)) return false;
            const double scale = -1 / std::sqrt(-from[i]);
            for (Index j = i; j < size_; ++j) from[j] *= scale;
            for (Index k = i + 1; k < last; ++k) add(row(k) + k, from + k, from[k], size_ - k);
        }
        if (last < size_) current_lanes().outer(row(first), last - first, stride_, last, rounded_up(size_, 4), values_.data());
    }
    return true;
}

void UpperFactor::solve(double* x) const {
    const auto [dot, add] = std::pair{lanes<double>().dot, lanes<double>().add};
    for (Index i = 0; i < size_; ++i) x[i] /= row(i)[i], add(x + i + 1, row(i) + i + 1, -x[i], size_ - i - 1);
    for (Index i = size_ - 1; i >= 0; --i) x[i] = (x[i] - dot(row(i) + i + 1, x + i + 1, size_ - i - 1)) / row(i)[i];
}

}  // namespace abstain
