// Interrupts, progress reports and the time limit of a running solver, checked about every 20 ms.
#pragma once

#include <chrono>
#include <functional>
#include <limits>

#include "outcome.hpp"

namespace abstain {

class Watch {
  public:
    enum class Answer { go_on, finish, interrupt };
    using Report = std::function<Answer(Index iterations, double violation)>;

    explicit Watch(Report report = {}, double seconds = std::numeric_limits<double>::infinity())
        : report_(std::move(report)), start_(Clock::now()), last_(start_), seconds_(seconds) {}

    Index iterations = 0;
    double violation = std::numeric_limits<double>::infinity();

    // Called from anywhere. An interrupt throws, and the work in progress is lost.
    void look() {
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (!report_) return;
        const Answer answer = report_(iterations, violation);
        if (answer == Answer::interrupt) throw Interrupted();
        finish_ = finish_ || answer == Answer::finish;
    }

    // Called where beta and F agree, so that the point reached can be returned.
    bool expired() const { return finish_ || seconds_left() < 0; }
    double seconds_left() const { return seconds_ - std::chrono::duration<double>(Clock::now() - start_).count(); }
    // Why a run that reached a limit ended; a report that asked it to finish counts as a limit on iterations.
    Status status() const { return !finish_ && seconds_left() < 0 ? Status::time_limit : Status::iteration_limit; }

  private:
    using Clock = std::chrono::steady_clock;

    Report report_;
    Clock::time_point start_, last_;
    double seconds_;
    bool finish_ = false;
};

}  // namespace abstain
