#include <cassert>
#include <cmath>

#include "cholesky.hpp"
#include "inverse.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

constexpr Index n = 90;

// A = M M' with M of the given rank.
std::vector<double> matrix(Random& random, Index rank) {
    const auto M = random.normals(n * rank);
    std::vector<double> A(n * n, 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            for (Index k = 0; k < rank; ++k) A[i * n + j] += M[i * rank + k] * M[j * rank + k];
    return A;
}

bool append(Cholesky& factor, const std::vector<double>& A, std::vector<Index>& rows, Index i) {
    std::vector<double> column;
    for (Index r : rows) column.push_back(A[i * n + r]);
    const bool independent = factor.append(column.data(), A[i * n + i]);
    if (independent) rows.push_back(i);
    return independent;
}

double residual(const Cholesky& factor, const std::vector<double>& A, const std::vector<Index>& rows, Random& random) {
    const auto b = random.normals(rows.size());
    auto x = b;
    factor.solve(x.data());
    double worst = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double sum = -b[i];
        for (std::size_t j = 0; j < rows.size(); ++j) sum += A[rows[i] * n + rows[j]] * x[j];
        worst = std::max(worst, std::abs(sum));
    }
    return worst;
}

}  // namespace

int main() {
    Random random(1);
    const auto A = matrix(random, 2 * n);
    Cholesky factor;
    std::vector<Index> rows;
    for (Index i = 0; i < n; ++i) assert(append(factor, A, rows, i));
    assert(residual(factor, A, rows, random) < 1e-9);

    for (Index position : {Index(0), Index(40), factor.size() - 3, Index(12)}) {
        factor.remove(position);
        rows.erase(rows.begin() + position);
        assert(factor.size() == static_cast<Index>(rows.size()));
        assert(residual(factor, A, rows, random) < 1e-9);
    }
    assert(append(factor, A, rows, 0) && residual(factor, A, rows, random) < 1e-9);

    std::swap(rows[3], rows[4]);  // control: the residual notices a factor of another matrix
    assert(residual(factor, A, rows, random) > 1e-3);

    const auto low = matrix(random, 7);  // only seven rows are independent
    Cholesky small;
    std::vector<Index> kept;
    for (Index i = 0; i < n; ++i) append(small, low, kept, i);
    assert(small.size() == 7 && kept.size() == 7);
    assert(residual(small, low, kept, random) < 1e-9);

    Cholesky together;  // the same rows in panels of 16
    std::vector<Index> taken;
    for (Index first = 0; first < n; first += 16) {
        const Index count = std::min<Index>(16, n - first), stride = together.size() + count;
        std::vector<double> panel(count * stride);
        for (Index p = 0; p < count; ++p) {
            double* to = panel.data() + p * stride;
            for (Index r : taken) *to++ = low[(first + p) * n + r];
            for (Index q = 0; q <= p; ++q) *to++ = low[(first + p) * n + first + q];
        }
        const std::vector<bool> independent = together.append(panel.data(), stride, count);
        for (Index p = 0; p < count; ++p)
            if (independent[p]) taken.push_back(first + p);
    }
    assert(taken == kept && residual(together, low, taken, random) < 1e-9);

    // Many columns of the inverse at once are those found one by one; without rows, it is the inverse of what is left.
    Cholesky whole;
    rows.clear();
    for (Index i = 0; i < n; ++i) assert(append(whole, A, rows, i));
    Inverse inverse(whole);
    const std::vector<Index> leaving{70, 3, 41, 88, 12, 40};
    inverse.learn(leaving);
    auto x = random.normals(n);
    auto expected = x;
    for (Index p : leaving) expected[p] = 0;
    std::vector<double> image(n, 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) image[i] += A[i * n + j] * expected[j];
    x = image;
    whole.solve(x.data());
    for (Index p : leaving) image[p] = 0;
    auto left = image;  // of the rows that stay
    whole.solve(left.data());
    double before = 0, after = 0;
    for (Index i = 0; i < n; ++i) before = std::max(before, std::abs(left[i] - expected[i]));
    for (Index p : leaving) {
        assert(inverse.knows(p) && inverse.remove(p) && !inverse.knows(p));
        inverse.follow(left);
    }
    for (Index i = 0; i < n; ++i) after = std::max(after, std::abs(left[i] - expected[i]));
    assert(before > 1e-3 && after < 1e-9);
}
