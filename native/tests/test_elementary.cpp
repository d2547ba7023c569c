// Our own elementary functions against those of the C library.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

#include "elementary.hpp"
#include "random.hpp"

using namespace abstain;

namespace {

void near(double got, double expected, double tolerance, const char* name, double at) {
    const bool close = std::abs(got - expected) <= tolerance * std::max(std::abs(expected), std::numeric_limits<double>::min());
    if (!close) std::printf("%s(%.17g): %.17g instead of %.17g\n", name, at, got, expected);
    assert(close);
}

}  // namespace

int main() {
    constexpr double infinity = std::numeric_limits<double>::infinity(), ulps = 1e-15;
    testing::Random random(1);
    for (int i = 0; i < 100000; ++i) {
        const double x = (random.uniform() - 0.5) * (i % 2 ? 1400 : 2), u = random.uniform();
        near(elementary::exp(x), std::exp(x), ulps, "exp", x);
        near(elementary::log(u), std::log(u), ulps, "log", u);
        assert(std::abs(elementary::tanh(x) - std::tanh(x)) < ulps);
        assert(std::abs(elementary::cos_of_turn(u) - std::cos(2 * M_PI * u)) < ulps);
        near(elementary::power(x, i % 8), std::pow(x, i % 8), ulps, "power", x);
        near(elementary::length(x, u), std::hypot(x, u), ulps, "length", x);
    }
    assert(elementary::exp(0) == 1 && elementary::exp(710) == infinity && elementary::exp(-infinity) == 0);
    near(elementary::exp(-740), std::exp(-740), 0.5, "exp", -740);  // below the normal numbers
    assert(std::isnan(elementary::exp(std::numeric_limits<double>::quiet_NaN())));
    assert(elementary::tanh(infinity) == 1 && elementary::tanh(-infinity) == -1 && elementary::cos_of_turn(0.5) == -1);
    near(elementary::length(3e200, 4e200), 5e200, ulps, "length", 3e200);
    near(elementary::length(3e-200, 4e-200), 5e-200, ulps, "length", 3e-200);
    assert(elementary::length(0, 0) == 0);
    near(elementary::log(1e-300), std::log(1e-300), ulps, "log", 1e-300);
}
