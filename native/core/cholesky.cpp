#include "cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "elementary.hpp"
#include "lanes/lanes.hpp"

namespace abstain {

void Cholesky::reserve(Index size) {
    if (size <= stride_) return;
    const Index stride = std::max(2 * stride_, rounded_up(size, 16));
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
    std::vector<double> row(column, column + size_);
    row.push_back(diagonal);
    return append(row.data(), size_ + 1, 1, tolerance)[0];
}

// L x = b in place for `count` vectors, which begin a stride apart: by tiles of their products with rows of L.
void Cholesky::forward_all(double* vectors, Index stride, Index count) const {
    const auto& lane = lanes<double>();
    const Index tiled = count / dots_side * dots_side, whole = tiled > 0 ? size_ / dots_side * dots_side : 0;
    double products[dots_side * dots_side];
    for (Index i = 0; i < whole; i += dots_side)
        for (Index p = 0; p < tiled; p += dots_side) {
            lane.dots(vectors + p * stride, stride, row(i), stride_, i, products);
            for (Index q = 0; q < dots_side * dots_side; ++q) {
                double* x = vectors + (p + q / dots_side) * stride;
                const Index k = i + q % dots_side;
                double sum = products[q];
                for (Index l = i; l < k; ++l) sum += row(k)[l] * x[l];
                x[k] = (x[k] - sum) / row(k)[k];
            }
        }
    for (Index p = 0; p < count; ++p) {
        double* x = vectors + p * stride;
        for (Index i = p < tiled ? whole : 0; i < size_; ++i) x[i] = (x[i] - lane.dot(row(i), x, i)) / row(i)[i];
    }
}

void Cholesky::solve(double* vectors, Index stride, Index count) const {
    forward_all(vectors, stride, count);
    for (Index i = size_ - 1; i >= 0; --i)
        for (double* x = vectors; x < vectors + count * stride; x += stride)
            x[i] /= row(i)[i], lanes<double>().add(x, row(i), -x[i], i);
}

std::vector<bool> Cholesky::append(double* rows, Index stride, Index count, double tolerance) {
    const auto dot = lanes<double>().dot;
    const Index before = size_;
    reserve(size_ + count);
    forward_all(rows, stride, count);
    std::vector<bool> taken(count);
    for (Index p = 0; p < count; ++p) {
        double* x = rows + p * stride;
        const double diagonal = x[before + p];
        for (Index q = 0, i = before; q < p; ++q)  // the new rows that were taken
            if (taken[q]) x[i] = (x[before + q] - dot(row(i), x, i)) / row(i)[i], ++i;
        const double rest = diagonal - dot(x, x, size_);
        taken[p] = rest > tolerance * diagonal;
        if (!taken[p]) continue;
        std::copy_n(x, size_, row(size_));
        row(size_)[size_] = std::sqrt(rest);
        ++size_;
    }
    return taken;
}

namespace {

struct Rotation {
    double c, s;
};

// Neighbouring columns of each row, from the left, by one rotation after the other; rows are independent of each other.
template <int rows> void rotate(double* first, Index stride, const Rotation* rotations, Index count) {
    double left[rows];
    for (int q = 0; q < rows; ++q) left[q] = first[q * stride];
    for (Index k = 0; k < count; ++k)
        for (int q = 0; q < rows; ++q) {
            double* r = first + q * stride + k;
            const double right = r[1];
            r[0] = rotations[k].c * left[q] + rotations[k].s * right;
            left[q] = rotations[k].c * right - rotations[k].s * left[q];
        }
    for (int q = 0; q < rows; ++q) first[q * stride + count] = left[q];
}

}  // namespace

// Without row p the rows below it have one entry too many; rotations of neighbouring columns bring it back to zero. They are
// found and applied by blocks, so that rows are read along and not across.
void Cholesky::remove(Index position) {
    constexpr Index block = 64;
    for (Index i = position; i + 1 < size_; ++i) std::copy_n(row(i + 1), i + 2, row(i));
    --size_;
    Rotation rotations[block];
    for (Index first = position; first < size_; first += block) {
        const Index count = std::min(block, size_ - first);
        for (Index k = 0; k < count; ++k) {
            double* r = row(first + k) + first;
            rotate<1>(r, stride_, rotations, k);
            const double length = elementary::length(r[k], r[k + 1]);
            rotations[k] = {r[k] / length, r[k + 1] / length};
            r[k] = length;
        }
        Index i = first + count;
        for (; i + 8 <= size_; i += 8) rotate<8>(row(i) + first, stride_, rotations, count);
        for (; i < size_; ++i) rotate<1>(row(i) + first, stride_, rotations, count);
    }
}

}  // namespace abstain
