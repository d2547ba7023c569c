// The sums over a block of rows against their definitions, in all four layouts, with the same bits for any threads.
#include <cassert>
#include <cmath>

#include "cases.hpp"
#include "linear/block_sums.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

constexpr Index rows = 2500, features = 37;  // more than one chunk, and no multiple of a vector

struct Made {
    Case c;
    std::vector<float> single;
    std::vector<double> values, centre;
    std::vector<float> single_values;
    std::vector<std::int32_t> columns;
    std::vector<Index> starts{0};
};

Made made(int pieces) {
    Random random(5);
    Made m;
    m.c.rows = rows;
    m.c.features = features;
    m.c.X = random.normals(rows * features);
    for (double& x : m.c.X) x = std::abs(x) < 0.5 ? 0.0 : static_cast<double>(static_cast<float>(x));
    for (Index i = 0; i < rows; ++i) {
        m.c.sign.push_back(random.uniform() < 0.4 ? 1 : -1);
        m.c.weight.push_back(i % 7 ? 2 * random.uniform() : 0.0);
    }
    give_losses(m.c, pieces, 0.8);
    m.single.assign(m.c.X.begin(), m.c.X.end());
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < features; ++j)
            if (m.c.row(i)[j] != 0) {
                m.values.push_back(m.c.row(i)[j]);
                m.single_values.push_back(static_cast<float>(m.c.row(i)[j]));
                m.columns.push_back(static_cast<std::int32_t>(j));
            }
        m.starts.push_back(static_cast<Index>(m.values.size()));
    }
    m.centre.assign(features, 0.0);
    return m;
}

bool near(double a, double b, double scale) { return std::abs(a - b) <= 1e-11 * (1 + std::abs(scale)); }

// argmax over g of phi(g) - g m - (g - lambda)^2 / (2 sigma), by trying every piece.
double best_response(const Problem& p, Index i, double margin, double sigma, double lambda) {
    double best = -1e300, at = 0;
    for (int k = 0; k < p.pieces(); ++k) {
        const double low = p.breakpoint(i, k), high = p.breakpoint(i, k + 1);
        const double g = std::min(high, std::max(low, lambda + sigma * (p.slope(i, k) - margin)));
        const double value = p.phi(i, g) - g * margin - (g - lambda) * (g - lambda) / (2 * sigma);
        if (value > best + 1e-13) best = value, at = g;
    }
    return at;
}

void check(const Made& m, LinearRows given, int threads, std::vector<double>* bits) {
    const Problem p = m.c.problem();
    Watch watch;
    LinearBlock block(given, p, threads);
    BlockSums kept(block, watch);
    Random random(9);
    std::vector<double> point = random.normals(features + 1), direction = random.normals(features + 1);
    for (double& w : point) w *= 0.2;
    block.score(point.data(), watch);
    block.along(direction.data(), watch);
    std::vector<double> margin(rows), q(rows), lambda(rows, 0.0);
    for (Index i = 0; i < rows; ++i) {
        double f = point[features], along = direction[features];
        for (Index j = 0; j < features; ++j) {
            f += (m.c.row(i)[j] - m.centre[j]) * point[j];
            along += (m.c.row(i)[j] - m.centre[j]) * direction[j];
        }
        margin[i] = p.sign[i] * f;
        q[i] = p.sign[i] * along;
    }
    const double sigma = 0.7;
    for (int round = 0; round < 3; ++round) {
        const std::vector<double> sums = block.gradient(sigma, round == 0, watch);
        std::vector<double> expected(2 * (features + 1), 0.0), hessian((features + 1) * (features + 1), 0.0);
        double loss = 0, dual = 0, shift = 0, slope = 0, bend = 0;
        Index between = 0;
        for (Index i = 0; i < rows; ++i) {
            const double g = best_response(p, i, margin[i], sigma, lambda[i]);
            assert(near(block.gamma()[i], g, g));
            std::vector<double> x(m.c.row(i), m.c.row(i) + features);
            for (Index j = 0; j < features; ++j) x[j] -= m.centre[j];
            x.push_back(1.0);
            for (Index j = 0; j <= features; ++j) expected[(p.sign[i] > 0) * (features + 1) + j] += p.sign[i] * g * x[j];
            bool inside = false;
            for (int k = 0; k < p.pieces(); ++k) inside |= g > p.breakpoint(i, k) && g < p.breakpoint(i, k + 1);
            between += inside;
            if (inside)
                for (Index j = 0; j <= features; ++j)
                    for (Index k = 0; k <= features; ++k) hessian[j * (features + 1) + k] += x[j] * x[k];
            for (int k = 0; k < p.pieces(); ++k)
                loss += std::max(0.0, p.slope(i, k) - margin[i]) * (p.breakpoint(i, k + 1) - p.breakpoint(i, k));
            dual += p.phi(i, (p.sign[i] > 0 ? 0.5 : 0.25) * g);
            shift += (g - lambda[i]) * (g - lambda[i]);
            const double there = best_response(p, i, margin[i] + 0.3 * q[i], sigma, lambda[i]);
            slope -= there * q[i];
            for (int k = 0; k < p.pieces(); ++k)
                if (there > p.breakpoint(i, k) && there < p.breakpoint(i, k + 1)) bend += sigma * q[i] * q[i];
        }
        for (std::size_t j = 0; j < sums.size(); ++j) assert(near(sums[j], expected[j], 1e3));
        const std::vector<double> H = block.hessian(LinearBlock::Of::between, 1, watch);
        const std::vector<double> updated = kept.hessian(rows, false);  // from the second round on, by the rows that came and went
        for (std::size_t j = 0; j < H.size(); ++j) assert(near(H[j], hessian[j], 1e3) && near(updated[j], hessian[j], 1e3));
        const std::vector<double> Hv = block.hessian_times(direction.data(), watch);
        const std::vector<double> diagonal = block.hessian_diagonal(LinearBlock::Of::between, watch);
        for (Index j = 0; j <= features; ++j) {
            double product = 0;
            for (Index k = 0; k <= features; ++k) product += hessian[j * (features + 1) + k] * direction[k];
            assert(near(Hv[j], product, 1e4));
            assert(near(diagonal[j], hessian[j * (features + 1) + j], 1e3));
        }
        assert(block.between() == between && between > 0);
        assert(near(block.loss(), loss, loss) && near(block.dual({0.25, 0.5}), dual, dual) && near(block.shift(), shift, shift));
        const std::vector<double> slopes = block.slopes(sigma, {0.3, 0.0});
        assert(near(slopes[0], slope, 1e4) && near(slopes[2], bend, 1e4));
        if (bits) bits->insert(bits->end(), sums.begin(), sums.end()), bits->insert(bits->end(), H.begin(), H.end());
        block.move(0.3);
        for (Index i = 0; i < rows; ++i) margin[i] += 0.3 * q[i];
        if (round == 1) {
            block.accept();
            for (Index i = 0; i < rows; ++i) lambda[i] = block.gamma()[i];
        }
    }
}

}  // namespace

int main() {
    for (const int pieces : {1, 2, 4}) {
        Made m = made(pieces);
        std::vector<double> one, two;
        const DenseLinearRows<double> dense{m.c.X.data(), m.centre.data(), rows, features};
        check(m, dense, 1, &one);
        check(m, dense, 3, &two);
        assert(one == two);
        check(m, DenseLinearRows<float>{m.single.data(), m.centre.data(), rows, features}, 2, nullptr);
        check(m, SparseLinearRows<double>{m.values.data(), m.columns.data(), m.starts.data(), rows, features}, 2, nullptr);
        check(m, SparseLinearRows<float>{m.single_values.data(), m.columns.data(), m.starts.data(), rows, features}, 2, nullptr);
        for (double& c : m.centre) c = 0.25;
        check(m, dense, 2, nullptr);
    }
}
