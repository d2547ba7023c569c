// Looks up from the work every 20 ms: to the keyboard (Ctrl-C), and to tell how far it is; and keeps the time.
#pragma once

#include <chrono>
#include <functional>
#include <limits>

#include "outcome.hpp"

namespace abstain {

class Watch {
  public:
    using Report = std::function<bool(Index iterations, double violation)>;  // false: the user wants it to stop

    explicit Watch(Report report = {}, double seconds = std::numeric_limits<double>::infinity())
        : report_(std::move(report)), start_(Clock::now()), last_(start_), seconds_(seconds) {}

    Index iterations = 0;
    double violation = std::numeric_limits<double>::infinity();

    // Anywhere: what was begun is thrown away.
    void look() {
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (report_ && !report_(iterations, violation)) throw Interrupted();
    }

    // Where beta and F agree: what was reached is kept.
    bool expired() const { return std::chrono::duration<double>(Clock::now() - start_).count() > seconds_; }

  private:
    using Clock = std::chrono::steady_clock;
    Report report_;
    Clock::time_point start_, last_;
    double seconds_;
};

}  // namespace abstain
