// Looks up from the work every 20 ms: to the keyboard (Ctrl-C), and to tell how far it is; and keeps the time.
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

    // Anywhere: on an interrupt what was begun is thrown away.
    void look() {
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (!report_) return;
        const Answer answer = report_(iterations, violation);
        if (answer == Answer::interrupt) throw Interrupted();
        finish_ = finish_ || answer == Answer::finish;
    }

    // Where beta and F agree: what was reached is kept.
    bool expired() const { return finish_ || out_of_time(); }
    double seconds_left() const { return seconds_ - std::chrono::duration<double>(Clock::now() - start_).count(); }
    // How an expired run ended: short of time, or of iterations where somebody who watched had seen enough.
    Status ending() const { return finish_ ? Status::iteration_limit : Status::time_limit; }

  private:
    using Clock = std::chrono::steady_clock;
    bool out_of_time() const { return seconds_left() < 0; }

    Report report_;
    Clock::time_point start_, last_;
    double seconds_;
    bool finish_ = false;
};

}  // namespace abstain
