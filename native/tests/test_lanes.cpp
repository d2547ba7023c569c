#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "aligned.hpp"
#include "lanes/lanes.hpp"
#include "random.hpp"

using namespace abstain;
using namespace abstain::testing;

namespace {

enum class Form { rbf_dot, rbf_difference, linear, poly, sigmoid, laplacian_minimum, laplacian_difference };

KernelName name_of(Form form) {
    switch (form) {
        case Form::linear: return KernelName::linear;
        case Form::poly: return KernelName::poly;
        case Form::sigmoid: return KernelName::sigmoid;
        case Form::laplacian_minimum:
        case Form::laplacian_difference: return KernelName::laplacian;
        default: return KernelName::rbf;
    }
}

double kernel(Form form, const std::vector<double>& x, const std::vector<double>& s, double coef0, int degree) {
    double dot = 0, distance = 0, absolute = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        dot += x[k] * s[k];
        distance += (x[k] - s[k]) * (x[k] - s[k]);
        absolute += std::abs(x[k] - s[k]);
    }
    switch (form) {
        case Form::rbf_dot: return std::exp2(-distance / 2);
        case Form::rbf_difference: return std::exp2(-distance);
        case Form::laplacian_minimum: return std::exp2(-absolute / 2);
        case Form::laplacian_difference: return std::exp2(-absolute);
        case Form::poly: return std::pow(dot + coef0, degree);
        case Form::sigmoid: return std::tanh(dot + coef0);
        default: return dot;
    }
}

template <class T> void check(const Lanes<T>& lane, Form form, int features, double tolerance) {
    Random random(static_cast<std::uint64_t>(features));
    constexpr int B = block_rows<T>, support = 72, tiles = support / support_tile;
    const T coef0 = T(0.5);
    const int degree = 3;
    Aligned<T> block(B * features), half(B), packed(support * features), packed_half(support), coef(support), out(support * B);
    std::vector<std::vector<double>> x(B), s(support);
    const auto draw = [&](std::vector<double>& v, T* at, int stride, T& norm) {
        double square = 0, sum = 0;
        for (int k = 0; k < features; ++k) {
            const T value = static_cast<T>(random.normal());
            v.push_back(static_cast<double>(value));
            at[k * stride] = value;
            square += static_cast<double>(value) * static_cast<double>(value);
            sum += static_cast<double>(value);
        }
        norm = static_cast<T>((form == Form::laplacian_minimum ? sum : square) / 2);
    };
    for (int r = 0; r < B; ++r) draw(x[r], block.data() + r, B, half[r]);
    for (int i = 0; i < support; ++i) {
        draw(s[i], packed.data() + i / support_tile * support_tile * features + i % support_tile, support_tile, packed_half[i]);
        coef[i] = static_cast<T>(random.normal());
    }
    const bool by_difference = form == Form::rbf_difference || form == Form::laplacian_difference;
    const Shape<T> shape{name_of(form), by_difference, features, coef0, degree};
    std::vector<T*> rows;
    for (int i = 0; i < support; ++i) rows.push_back(out.data() + i * B);
    lane.values(shape, block.data(), half.data(), packed.data(), packed_half.data(), tiles, rows.data(), 0, B);
    for (const long count : {1, 5, 8, 17, B - 1}) {  // fewer rows have the same values
        Aligned<T> fewer(out.size(), T(-7));
        std::vector<T*> to;
        for (int i = 0; i < support; ++i) to.push_back(fewer.data() + i * B);
        lane.values(shape, block.data(), half.data(), packed.data(), packed_half.data(), tiles, to.data(), 0, count);
        for (int i = 0; i < support; ++i) assert(std::equal(to[i], to[i] + count, rows[i]));
    }
    std::vector<double> sums(B, 1.0);
    lane.accumulate(shape, block.data(), half.data(), packed.data(), packed_half.data(), coef.data(), tiles, sums.data());
    for (int r = 0; r < B; ++r) {
        double expected = 1, size = 1;
        for (int i = 0; i < support; ++i) {
            const double k = kernel(form, x[r], s[i], static_cast<double>(coef0), degree);
            const double got = static_cast<double>(out[i * B + r]);
            assert(std::abs(got - k) <= tolerance * std::max(1.0, std::abs(k)));
            expected += static_cast<double>(coef[i]) * k;
            size += std::abs(static_cast<double>(coef[i]) * k);
        }
        assert(std::abs(sums[r] - expected) <= tolerance * size);
    }
}

// Points at infinity and beyond must give a kernel value of 0, never nan.
template <class T> void check_far(const Lanes<T>& lane) {
    constexpr int B = block_rows<T>;
    const T infinite = std::numeric_limits<T>::infinity();
    Aligned<T> block(B, T(1)), half(B, infinite), packed(support_tile, T(1)), packed_half(support_tile, -infinite),
        out(B * support_tile);
    T* const rows[] = {out.data(), out.data() + B, out.data() + 2 * B, out.data() + 3 * B};
    for (KernelName name : {KernelName::rbf, KernelName::laplacian}) {
        lane.values({name, false, 1, T(0), 3}, block.data(), half.data(), packed.data(), packed_half.data(), 1, rows, 0, B);
        for (T value : out) assert(value >= 0 && value < T(1e-30));
    }
}

template <class T> void check_selection(const Lanes<T>& lane) {
    constexpr std::size_t size = 192;
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        Random random(seed);
        Aligned<T> F(size), Ki(size), Kj(size), up(size), down(size), diagonal(size);
        for (auto* v : {&F, &Ki, &Kj, &up, &down})
            for (T& value : *v) value = static_cast<T>(std::round(4 * random.normal()) / 4);  // coarse, so that there are ties
        for (T& v : diagonal) v = static_cast<T>(12);
        const Aligned<T> before = F;
        const T best = seed == 7 ? T(-100) : T(1);  // once no partner at all
        const Rising<T> rising = lane.step(size, F.data(), Ki.data(), Kj.data(), T(0.5), T(-0.25), up.data());
        const Falling<T> falling = lane.partner(size, F.data(), Ki.data(), diagonal.data(), down.data(), T(12), best);
        int highest = -1, partner = -1;
        double lowest = 1e9, most = 0;
        for (std::size_t t = 0; t < size; ++t) {
            assert(F[t] == before[t] + T(0.5) * Ki[t] - T(0.25) * Kj[t]);  // exact in these coarse numbers
            if (highest < 0 || up[t] - F[t] > up[highest] - F[highest]) highest = static_cast<int>(t);
            lowest = std::min(lowest, static_cast<double>(down[t] - F[t]));
            const double v = static_cast<double>(best - (down[t] - F[t])), c = static_cast<double>(24 - 2 * Ki[t]);
            if (v > 0 && v * v / c > most * (1 + 1e-6)) {
                most = v * v / c;
                partner = static_cast<int>(t);
            }
        }
        assert(rising.index == highest && rising.gain == up[highest] - F[highest]);
        assert(falling.lowest == static_cast<T>(lowest));
        assert((falling.index < 0) == (partner < 0) && (partner >= 0) == (seed != 7));
        if (partner < 0) continue;
        const std::size_t t = falling.index;
        const double v = static_cast<double>(best - (down[t] - F[t]));
        assert(v > 0 && v * v / static_cast<double>(24 - 2 * Ki[t]) > most * (1 - 1e-5));
    }
}

template <class T> void check_all(const Lanes<T>& lane, double tolerance) {
    for (Form form : {Form::rbf_dot, Form::rbf_difference, Form::linear, Form::poly, Form::sigmoid,
                      Form::laplacian_minimum, Form::laplacian_difference})
        for (int features : {1, 3, 17}) check(lane, form, features, tolerance * features);
    check_far(lane);
    check_selection(lane);
}

}  // namespace

void check_set(const LaneSet& lanes) {
    check_all(lanes.in_single, 2e-6);
    check_all(lanes.in_double, 4e-15);
}

int main() {
    check_set(lanes_v2);
#ifdef ABSTAIN_X86
    if (__builtin_cpu_supports("x86-64-v3")) check_set(lanes_v3);
    if (__builtin_cpu_supports("x86-64-v4")) check_set(lanes_v4);
#endif
}
