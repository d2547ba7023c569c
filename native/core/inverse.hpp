// The inverse H of a factored matrix while rows leave it: where row p leaves, H loses v v' / v_p with v = H e_p. Each row costs
// a column of H and O(m) for each row that has left; columns are found many at a time, for one pass over the factor.
#pragma once

#include <vector>

#include "cholesky.hpp"

namespace abstain {

class Inverse {
  public:
    explicit Inverse(const Cholesky& factor) : factor_(factor), columns_(factor.size()) {}  // which must not change

    bool knows(Index p) const { return !columns_[p].empty(); }
    void learn(const std::vector<Index>& rows);  // their columns
    // A known row leaves. False where it depended so much on the others that rounding may show in what is left.
    bool remove(Index p);
    // x = H b without the row that left last.
    void follow(std::vector<double>& x) const;

  private:
    const Cholesky& factor_;
    std::vector<std::vector<double>> columns_;  // of the whole inverse, where known
    struct Gone {
        Index row;
        std::vector<double> column;
    };
    std::vector<Gone> gone_;
};

}  // namespace abstain
