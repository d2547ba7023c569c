// The other half of a symmetric matrix.
#pragma once

#include <algorithm>

#include "index.hpp"
#include "thread_pool.hpp"

namespace abstain {

// out[r * stride + c] = out[c * stride + r] where r's block of `block` rows comes after c's. Eight rows at a time: a stride
// that is a power of two puts more of them into one set of the cache than it holds.
template <class T> void mirror(T* out, Index size, Index stride, Index block, ThreadPool& pool) {
    constexpr Index tile = 8;
    pool.run((size + block - 1) / block, [=](Index b) {
        const Index first = b * block, last = std::min(size, first + block);
        for (Index r0 = first; r0 < last; r0 += tile)
            for (Index c0 = 0; c0 < first; c0 += tile)
                for (Index r = r0; r < std::min(last, r0 + tile); ++r)
                    for (Index c = c0; c < c0 + tile; ++c) out[r * stride + c] = out[c * stride + r];
    });
}

}  // namespace abstain
