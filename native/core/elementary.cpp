#include "elementary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "exp2_powers.hpp"

namespace abstain::elementary {

// x = n log 2 + r, and e^r = 2^(r / log 2). The product of n and the first part of log 2 is exact.
double exp(double x) {
    constexpr double most = 709.79, least = -745.2;  // beyond: infinite, 0
    constexpr double first_part = 0x1.62e42feep-1, rest = 0x1.a39ef35793c76p-33, inverse = 1.4426950408889634;
    if (!(x < most)) return x + std::numeric_limits<double>::infinity();  // or nan
    if (x < least) return 0;
    const double n = std::floor(x * inverse + 0.5), t = ((x - n * first_part) - n * rest) * inverse;
    double value = exp2_powers[0];
    for (std::size_t k = 1; k < std::size(exp2_powers); ++k) value = value * t + exp2_powers[k];
    return std::ldexp(value, static_cast<int>(n));
}

double tanh(double x) { return 1 - 2 / (exp(2 * x) + 1); }

// x = m 2^e with m about 1, and log m = 2 artanh f by its series in f = (m - 1) / (m + 1), |f| < 0.172.
double log(double x) {
    int exponent;
    double m = std::frexp(x, &exponent);
    if (m < 0.70710678118654752) m *= 2, --exponent;
    const double f = (m - 1) / (m + 1), square = f * f;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
    return exponent * 0.6931471805599453 + 2 * f * sum;
}

// By Taylor's series on the first quarter of the turn.
double cos_of_turn(double u) {
    double part = std::min(u, 1 - u);
    const double sign = part > 0.25 ? -1 : 1;
    if (part > 0.25) part = 0.5 - part;
    const double angle = 6.283185307179586 * part, square = angle * angle;
    double sum = 1;
    for (int k = 24; k >= 2; k -= 2) sum = 1 - sum * square / (k * (k - 1));
    return sign * sum;
}

double power(double x, int exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, x *= x)
        if (exponent & 1) result *= x;
    return result;
}

double length(double a, double b) {
    const double sum = a * a + b * b, largest = std::max(std::abs(a), std::abs(b));
    if ((sum > 1e-280 && sum < 1e280) || !(largest > 0)) return std::sqrt(sum);
    const double x = a / largest, y = b / largest;
    return largest * std::sqrt(x * x + y * y);
}

}  // namespace abstain::elementary
