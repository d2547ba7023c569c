#include "kernel.hpp"

#include <cmath>

namespace abstain {

double KernelSpec::value(double product, double distance) const {
    switch (name) {
        case KernelName::linear: return product;
        case KernelName::rbf: return std::exp(-distance);
        case KernelName::poly: return std::pow(product + coef0, degree);
        case KernelName::sigmoid: {  // nan where the argument has overflowed, as in lanes/formulas.hpp
            const double z = product + coef0;
            return std::tanh(z) + (z - z);
        }
    }
    return 0;
}

}  // namespace abstain
