// Functions of the C library whose last bit depends on the processor, since it takes fused operations where there are some:
// here by +, -, *, / and square roots alone, which give the same bits everywhere. To a few units of the last place.
#pragma once

namespace abstain::elementary {

double exp(double x);
double tanh(double x);                 // 1 - 2 / (e^2x + 1): to rounding of 1, as the lanes have it
double log(double x);                  // of a positive, normal number
double cos_of_turn(double u);          // cos(2 pi u), 0 <= u <= 1
double power(double x, int exponent);  // 1 for exponents below 1, as in lanes/formulas.hpp
double length(double a, double b);     // sqrt(a^2 + b^2)

}  // namespace abstain::elementary
