// The other half of a symmetric matrix.
#pragma once

#include <algorithm>

#include "index.hpp"
#include "thread_pool.hpp"

namespace abstain {

// out[c * stride + r] = out[r * stride + c] for the rows from r0 to before r1 and the columns from c0 to before c1. Eight rows at a
// time: a stride that is a power of two puts more of them into one set of the cache than it holds.
template <class T> void mirror_block(T* out, Index stride, Index r0, Index r1, Index c0, Index c1) {
    constexpr Index tile = 8;
    for (Index r = r0; r < r1; r += tile)
        for (Index c = c0; c < c1; c += tile)
            for (Index to = c; to < std::min(c1, c + tile); ++to)
                for (Index from = r; from < std::min(r1, r + tile); ++from) out[to * stride + from] = out[from * stride + to];
}

// All that lies below the blocks of so many rows on the diagonal.
template <class T> void mirror(T* out, Index size, Index stride, Index block, ThreadPool& pool) {
    pool.run((size + block - 1) / block, [=](Index b) {
        const Index first = b * block;
        mirror_block(out, stride, 0, first, first, std::min(size, first + block));
    });
}

}  // namespace abstain
