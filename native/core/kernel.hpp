// Which kernel, with which parameters. A new kernel of products or distances is added in three files and no others: its name
// here, its formula for one pair of rows in kernel.cpp, and the same formula over vectors in lanes/formulas.hpp. Another distance
// also needs its terms in lanes/sums.hpp, dense_kernel.cpp and sparse_kernel.cpp.
#pragma once

namespace abstain {

enum class KernelName { linear, rbf, poly, sigmoid, laplacian };
inline constexpr const char* kernel_names[] = {"linear", "rbf", "poly", "sigmoid", "laplacian"};  // in the order of KernelName

struct KernelSpec {
    KernelName name;
    double gamma;
    double coef0;
    int degree;
    bool balanced = true;  // whether the coefficients add up to 0

    double scale() const { return name == KernelName::linear ? 1 : gamma; }
    // k(x, x') from scale() times x.x' and scale() times the distance: |x - x'|^2, for laplacian the sum of |x_k - x'_k|.
    double value(double product, double distance) const;
    // Whether k(x + c, x' + c) = k(x, x').
    bool shift_invariant() const { return name == KernelName::rbf || name == KernelName::laplacian; }
    // Whether rows may be centred for training: under sum beta = 0 the linear kernel's F changes by a constant only.
    bool may_be_centred() const { return shift_invariant() || (name == KernelName::linear && balanced); }
};

}  // namespace abstain
