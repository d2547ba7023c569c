#include "kernel.hpp"

#include "elementary.hpp"

namespace abstain {

double KernelSpec::value(double product, double distance) const {
    switch (name) {
        case KernelName::linear: return product;
        case KernelName::rbf:
        case KernelName::laplacian: return elementary::exp(-distance);
        case KernelName::poly: return elementary::power(product + coef0, degree);
        case KernelName::sigmoid: {  // nan where the argument has overflowed, as in lanes/formulas.hpp
            const double z = product + coef0;
            return elementary::tanh(z) + (z - z);
        }
    }
    return 0;
}

}  // namespace abstain
