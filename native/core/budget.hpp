// The iterations that a fit may take, shared by the methods that it tries one after another.
#pragma once

#include <algorithm>

#include "index.hpp"

namespace abstain {

class Budget {
  public:
    explicit Budget(Index most) : most_(most) {}

    Index spent() const { return spent_; }
    Index left() const { return std::max<Index>(0, most_ - spent_); }
    bool empty() const { return left() == 0; }
    Index at_most(Index wanted) const { return std::min(wanted, left()); }
    void spend(Index iterations) { spent_ += iterations; }

  private:
    Index most_, spent_ = 0;
};

}  // namespace abstain
