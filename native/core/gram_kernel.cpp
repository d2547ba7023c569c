#include "gram_kernel.hpp"

#include <algorithm>
#include <type_traits>

#include "lanes/lanes.hpp"
#include "mirror.hpp"
#include "policy.hpp"

namespace abstain {

// Reads half of the values and mirrors them.
template <class T> void GramKernel<T>::block(const std::vector<Index>& rows, T* out, Index stride) {
    constexpr Index step = 64;
    const Index size = std::ssize(rows);
    pool_.run(size, [&](Index a) {
        const T* from = values_ + rows[a] * stride_;
        T* to = out + a * stride;
        for (Index b = a / step * step; b < size; ++b) to[b] = from[rows[b]];
        std::fill(to + size, to + stride, T(0));
    });
    mirror(out, size, stride, step, pool_);
}

// Rows of a symmetric matrix are its columns. Whole rows are summed in vectors and the active entries picked at the end;
// reading single values costs about ten times as much, so that is done for few active rows only.
template <class T> void GramKernel<T>::accumulate(const SparseVector& coef, double* sums) {
    constexpr Index piece = 4096;
    const Index active = std::ssize(active_);
    const Index whole = policy::cost_of_scattered_read * active > size_ ? size_ / 64 * 64 : 0;
    std::vector<const T*> rows;
    rows.reserve(coef.rows.size());
    for (Index s : coef.rows) rows.push_back(values_ + s * stride_);
    const std::vector<T> factors(coef.values.begin(), coef.values.end());
    sums_.assign(whole, 0.0);
    pool_.run((whole + piece - 1) / piece, [&](Index p) {
        lanes<T>().combine(rows.data(), factors.data(), static_cast<int>(rows.size()), p * piece,
                           std::min(whole, (p + 1) * piece), sums_.data());
    });
    // One row after the other: all columns at once where they lie side by side, as those of all rows do.
    const bool all = active == size_;
    pool_.run((active + piece - 1) / piece, [&](Index p) {
        const Index last = std::min(active, (p + 1) * piece);
        Index a = p * piece;
        for (; a < last && active_[a] < whole; ++a) sums[a] += sums_[active_[a]];
        for (std::size_t s = 0; s < rows.size(); ++s) {
            if constexpr (std::is_same_v<T, double>)
                if (all) {
                    lanes<double>().add(sums + a, rows[s] + a, coef.values[s], last - a);
                    continue;
                }
            for (Index b = a; b < last; ++b) sums[b] += coef.values[s] * static_cast<double>(rows[s][active_[b]]);
        }
    });
}

template <class T> void GramKernel<T>::row(Index i, T* out) {
    const Index active = std::ssize(active_);
    for (Index a = 0; a < active; ++a) out[a] = values_[i * stride_ + active_[a]];
    std::fill(out + active, out + rounded_up(active), T(0));
}

template class GramKernel<float>;
template class GramKernel<double>;

}  // namespace abstain
