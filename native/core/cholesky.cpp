#include "cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "lanes/lanes.hpp"

namespace abstain {

void Cholesky::reserve(Index size) {
    if (size <= stride_) return;
    const Index stride = std::max<Index>(2 * stride_, 64);
    std::vector<double> values(stride * stride);
    for (Index i = 0; i < size_; ++i) std::copy_n(row(i), i + 1, values.data() + i * stride);
    values_ = std::move(values);
    stride_ = stride;
}

template <class... X> void Cholesky::forward(X*... x) const {
    const auto dot = lanes<double>().dot;
    for (Index i = 0; i < size_; ++i) ((x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i]), ...);
}

template <class... X> void Cholesky::backward(X*... x) const {
    const auto add = lanes<double>().add;
    for (Index i = size_ - 1; i >= 0; --i) ((x[i] /= row(i)[i], add(x, row(i), -x[i], i)), ...);
}

void Cholesky::solve(double* x) const { forward(x), backward(x); }
void Cholesky::solve(double* x, double* z) const { forward(x, z), backward(x, z); }

bool Cholesky::append(const double* column, double diagonal, double tolerance) {
    reserve(size_ + 1);
    double* last = row(size_);
    std::copy_n(column, size_, last);
    forward(last);
    const double rest = diagonal - lanes<double>().dot(last, last, size_);
    if (!(rest > tolerance * diagonal)) return false;
    last[size_++] = std::sqrt(rest);
    return true;
}

// Without row p the rows below it have one entry too many; rotations of neighbouring columns bring it back to zero.
void Cholesky::remove(Index position) {
    for (Index i = position; i + 1 < size_; ++i) std::copy_n(row(i + 1), i + 2, row(i));
    --size_;
    for (Index j = position; j < size_; ++j) {
        const double a = row(j)[j], b = row(j)[j + 1], length = std::hypot(a, b);
        const double c = a / length, s = b / length;
        row(j)[j] = length;
        for (Index i = j + 1; i < size_; ++i) {
            double* r = row(i);
            const double left = r[j], right = r[j + 1];
            r[j] = c * left + s * right;
            r[j + 1] = c * right - s * left;
        }
    }
}

}  // namespace abstain
