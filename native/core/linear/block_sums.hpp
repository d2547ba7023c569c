// The sums of one block of rows in memory, as Newton steps ask for them.
#pragma once

#include "linear/linear_block.hpp"
#include "linear/linear_newton.hpp"
#include "linear/linear_policy.hpp"

namespace abstain {

class BlockSums final : public LinearSums {
  public:
    BlockSums(LinearBlock& block, Watch& watch) : block_(block), watch_(watch) {}

    Index features() const override { return block_.features(); }
    void score(const Point& point) override { block_.score(point.data(), watch_); }
    void along(const Point& direction) override { block_.along(direction.data(), watch_); }
    void move(double step) override { block_.move(step); }
    std::vector<double> slopes(double sigma, const std::vector<double>& steps) override { return block_.slopes(sigma, steps); }
    std::vector<double> gradient(double sigma, bool afresh) override { return block_.gradient(sigma, afresh, watch_); }
    Index between() override { return block_.between(); }
    std::vector<double> hessian(Index most, bool all) override {
        const Index rows = all ? block_.size() : block_.between(), stride = std::max<Index>(1, rows / std::max<Index>(1, most));
        if (!all && stride == 1) return between_sum(rows);
        std::vector<double> H = block_.hessian(of(all), stride, watch_);
        if (stride > 1) {
            const double taken = static_cast<double>((rows + stride - 1) / stride), scale = static_cast<double>(rows) / taken;
            for (double& each : H) each *= scale;
        }
        return H;
    }
    Point hessian_times(const Point& direction) override { return block_.hessian_times(direction.data(), watch_); }
    Point hessian_diagonal(bool all) override { return block_.hessian_diagonal(of(all), watch_); }
    void accept() override { block_.accept(); }
    double shift() override { return block_.shift(); }
    double loss() override { return block_.loss(); }
    double dual(Sides scale) override { return block_.dual(scale); }

  private:
    static LinearBlock::Of of(bool all) { return all ? LinearBlock::Of::all : LinearBlock::Of::between; }

    // Few rows come and go from one step to the next. What is left of a row that went is rounding, and small unless the
    // diagonal was much larger once.
    const std::vector<double>& between_sum(Index rows) {
        const std::vector<std::uint8_t>& now = block_.flags();
        const std::size_t width = static_cast<std::size_t>(block_.features()) + 1;
        std::vector<Index> come, gone;
        for (std::size_t i = 0; i < before_.size(); ++i)
            if (now[i] != before_[i]) (now[i] ? come : gone).push_back(static_cast<Index>(i));
        bool good = !before_.empty() && static_cast<Index>(come.size() + gone.size()) < rows;
        if (good) {
            block_.outer(come, gone, sum_, watch_);
            for (std::size_t j = 0; j < width; ++j) good = good && sum_[j * (width + 1)] >= linear_policy::left_over * most_[j];
        }
        if (!good) {
            sum_ = block_.hessian(LinearBlock::Of::between, 1, watch_);
            most_.assign(width, 0.0);
        }
        for (std::size_t j = 0; j < width; ++j) most_[j] = std::max(most_[j], sum_[j * (width + 1)]);
        before_ = now;
        return sum_;
    }

    LinearBlock& block_;
    Watch& watch_;
    std::vector<std::uint8_t> before_;  // 1 for the rows that sum_ is over
    std::vector<double> sum_, most_;    // most_: the largest that its diagonal was
};

}  // namespace abstain
