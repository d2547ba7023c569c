// Projected quasi-Newton descent (L-BFGS with a weak Wolfe search) to a stationary point of F / C at one steepness;
// eps stays in [0, 1]: a step ends at the bound it meets, and a bound that holds eps back takes it out of the step.
#pragma once

#include <limits>

#include "embedded/objective.hpp"
#include "watch.hpp"

namespace abstain {

struct DescentSettings {
    Index max_iter = 200;
    double tolerance = 1e-7;  // stops where a step promises less than this share of F
};

struct Descent {
    double value = 0;
    Index iterations = 0;
    bool stationary = false;
};

class Descender {
  public:
    Descender(EmbeddedObjective& objective, Watch& watch, Index most = std::numeric_limits<Index>::max());

    // Lowers F / C from `point`, in place. Counts its iterations in the watch, and stops once it is exhausted.
    Descent descend(const EmbeddedLoss& loss, Point& point, const DescentSettings& settings);

    bool exhausted() const { return watch_.iterations >= most_ || watch_.expired(); }

  private:
    struct Pair {
        Point step, change;  // of the point, of the gradient
        double inverse;      // 1 / step.change
    };
    static constexpr std::size_t memory = 10;

    bool held(const Point& point) const;  // eps rests at a bound and would leave [0, 1]
    double direction(bool hold);          // -H gradient; returns its slope
    double search(const EmbeddedLoss& loss, const Point& point, double value, double slope);
    void remember(const Point& point);

    EmbeddedObjective& objective_;
    Watch& watch_;
    Index most_;  // iterations of all descents
    Point gradient_, direction_, trial_, trial_gradient_;
    std::vector<Pair> pairs_;
    std::size_t newest_ = 0, count_ = 0;
    double trial_value_ = 0;
};

}  // namespace abstain
