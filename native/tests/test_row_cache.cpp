#include <cassert>

#include "row_cache.hpp"

using namespace abstain;

namespace {

void fill(float* row, Index id, Index columns) {
    for (Index c = 0; c < columns; ++c) row[c] = static_cast<float>(1000 * id + c);
}

std::vector<Index> range(Index first, Index last, Index step = 1) {
    std::vector<Index> values;
    for (Index v = first; v < last; v += step) values.push_back(v);
    return values;
}

}  // namespace

int main() {
    constexpr Index rows = 100, stride = 128;
    RowCache<float> cache(rows, 3 * stride * sizeof(float));  // three rows fit
    const auto all = range(0, rows);
    cache.select({}, all);
    assert(cache.capacity() == 3);
    for (Index id : {7, 8, 9}) fill(cache.insert(id), id, rows);
    assert(cache.find(7) && cache.find(7)[5] == 7005);
    fill(cache.insert(10), 10, rows);  // 8 was used longest ago
    assert(!cache.find(8) && cache.find(7) && cache.find(9) && cache.find(10));

    const auto even = range(0, rows, 2);
    cache.select(all, even);
    assert(cache.capacity() == 6);  // shorter rows, more of them
    for (Index id : {7, 9, 10})
        for (Index c = 0; c < 50; ++c) assert(cache.find(id)[c] == static_cast<float>(1000 * id + 2 * c));

    cache.select(even, all);  // columns that were thrown away: nothing can be kept
    assert(!cache.find(7) && cache.capacity() == 3);

    assert(RowCache<float>(rows, 10).capacity() == 0);
    assert(RowCache<float>(rows, 1e18).capacity() <= rows);
}
