// Kernel values of parts are those by the formula, for rows that parts share and for any threads; lines end in zeros.
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "part_values.hpp"
#include "random.hpp"

using namespace abstain;
using abstain::testing::Random;

namespace {

constexpr Index n = 130, d = 5;

struct Case {
    std::vector<double> X;
    std::vector<Index> rows, starts{0};

    Case() : X(n * d) {
        Random random(3);
        for (double& x : X) x = 100 + random.normal();  // far from the origin
        for (const auto& [first, last, other, end] : {std::array<Index, 4>{0, 10, 10, 50}, {0, 10, 50, 93}, {10, 50, 50, 93}}) {
            add(first, last);
            add(other, end);
            close();
        }
        add(0, 93);  // all that the others have, as one run
        close();
        add(93, 130);  // no other has these
        close();
        for (Index i = 128; i > 100; i -= 3) rows.push_back(i);  // single rows, descending, one of them twice
        rows.push_back(128);
        close();
    }
    void add(Index first, Index last) {
        for (Index i = first; i < last; ++i) rows.push_back(i);
    }
    void close() { starts.push_back(std::ssize(rows)); }
    Parts parts() const { return {rows, starts}; }

    double value(const KernelSpec& spec, Index i, Index j) const {
        double product = 0, squares = 0, sum = 0;
        for (Index k = 0; k < d; ++k) {
            const double x = X[i * d + k], z = X[j * d + k];
            product += x * z;
            squares += (x - z) * (x - z);
            sum += std::abs(x - z);
        }
        return spec.value(spec.gamma * product, spec.gamma * (spec.name == KernelName::laplacian ? sum : squares));
    }
};

void test_values(const KernelSpec& spec) {
    const Case c;
    Watch watch;
    ThreadPool one(1), three(3);
    const DenseRows X{c.X.data(), n, d};
    const PartValues values(spec, X, c.parts(), one, watch), same(spec, X, c.parts(), three, watch);
    for (Index p = 0; p < c.parts().count(); ++p) {
        Aligned<double> memory, other;
        const GramRows K = values.of(p, memory), L = same.of(p, other);
        const auto which = c.parts().of(p);
        assert(K.rows == std::ssize(which) && K.stride >= rounded_up(K.rows, block_rows<double>));
        for (Index a = 0; a < K.rows; ++a)
            for (Index b = 0; b < K.stride; ++b) {
                const double found = K.values[a * K.stride + b];
                assert(found == L.values[a * L.stride + b]);
                if (b >= K.rows) assert(found == 0);
                else {
                    assert(found == K.values[b * K.stride + a]);
                    const double expected = c.value(spec, which[a], which[b]);
                    assert(std::abs(found - expected) <= 1e-10 * std::abs(expected));
                }
            }
    }
}

}  // namespace

int main() {
    test_values({KernelName::rbf, 0.2, 0, 3});
    test_values({KernelName::laplacian, 0.2, 0, 3});
    test_values({KernelName::poly, 1e-4, 0.5, 3});
    std::puts("ok");
}
