// Factors of matrices that are given at once solve them, for sizes below, at and above a block; others are refused.
#include <cassert>
#include <cmath>

#include "random.hpp"
#include "upper_factor.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

// M M' + shift I, its upper half into the factor.
std::vector<double> fill(UpperFactor& factor, Index n, double shift, Random& random) {
    const auto M = random.normals(n * n);
    std::vector<double> A(n * n, 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            for (Index k = 0; k < n; ++k) A[i * n + j] += M[i * n + k] * M[j * n + k];
            A[i * n + j] += i == j ? shift : 0;
            if (j >= i) factor.values()[i * factor.stride() + j] = A[i * n + j];
        }
    return A;
}

}  // namespace

int main() {
    Random random(3);
    for (const Index n : {1, 2, 9, 15, 16, 17, 33, 70}) {
        UpperFactor factor(n);
        const auto A = fill(factor, n, 1, random);
        assert(factor.make());
        const auto b = random.normals(n);
        auto x = b;
        factor.solve(x.data());
        for (Index i = 0; i < n; ++i) {
            double sum = -b[i];
            for (Index j = 0; j < n; ++j) sum += A[i * n + j] * x[j];
            assert(std::abs(sum) < 1e-9);
        }
        UpperFactor refused(n);
        fill(refused, n, -1e4, random);
        assert(!refused.make());
        UpperFactor undefined(n);
        fill(undefined, n, std::nan(""), random);
        assert(!undefined.make());
    }
}
