// Seeded numbers for the tests: the same on every machine, unlike the standard distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace abstain::testing {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
    double uniform() {  // in (0, 1)
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (static_cast<double>(state_ >> 11) + 0.5) * 0x1.0p-53;
    }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
    std::vector<double> normals(std::size_t n) {
        std::vector<double> values(n);
        for (double& v : values) v = normal();
        return values;
    }

  private:
    std::uint64_t state_;
};

}  // namespace abstain::testing
