#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace abstain {

using Index = std::int64_t;  // of rows, columns and entries; indexes vectors without a cast

inline Index rounded_up(Index n, Index multiple = 64) { return (n + multiple - 1) / multiple * multiple; }

inline std::vector<Index> all_rows(Index n) {  // 0, ..., n - 1
    std::vector<Index> rows(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), Index(0));
    return rows;
}

}  // namespace abstain
