// The sums of one block of rows in memory, as Newton steps ask for them.
#pragma once

#include "linear/linear_block.hpp"
#include "linear/linear_newton.hpp"

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

    LinearBlock& block_;
    Watch& watch_;
};

}  // namespace abstain
