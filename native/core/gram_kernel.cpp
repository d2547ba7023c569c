#include "gram_kernel.hpp"

#include <algorithm>

#include "lanes/lanes.hpp"

namespace abstain {

template <class T> void GramKernel<T>::block(const std::vector<Index>& rows, T* out, Index stride) {
    pool_.run(static_cast<Index>(rows.size()), [&](Index a) {
        const T* from = values_ + rows[at(a)] * stride_;
        T* to = out + a * stride;
        for (std::size_t b = 0; b < rows.size(); ++b) to[b] = from[rows[b]];
        std::fill(to + rows.size(), to + stride, T(0));
    });
}

// Rows of a symmetric matrix are its columns. Whole vectors where all rows are active, one value at a time elsewhere.
template <class T>
void GramKernel<T>::accumulate(const std::vector<Index>& support, const std::vector<double>& coef, double* sums) {
    constexpr Index piece = 4096;
    const Index active = static_cast<Index>(active_.size());
    const Index whole = active == size_ ? size_ / 64 * 64 : 0;
    std::vector<const T*> rows;
    for (Index s : support) rows.push_back(values_ + s * stride_);
    const std::vector<T> factors(coef.begin(), coef.end());
    pool_.run((active + piece - 1) / piece, [&](Index p) {
        const Index first = p * piece, last = std::min(active, first + piece), split = std::clamp(whole, first, last);
        if (split > first)
            lanes<T>().combine(rows.data(), factors.data(), static_cast<int>(rows.size()), first, split, sums);
        for (std::size_t s = 0; s < rows.size(); ++s)
            for (Index a = split; a < last; ++a)
                sums[a] += coef[s] * static_cast<double>(rows[s][active_[at(a)]]);
    });
}

template class GramKernel<float>;
template class GramKernel<double>;

}  // namespace abstain
