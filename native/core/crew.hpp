// Many pieces of work on several threads, of which only the first may call the report, which runs Python: the others follow
// the flags that it sets.
#pragma once

#include <atomic>
#include <exception>
#include <thread>

#include "watch.hpp"

namespace abstain {

class Crew {
  public:
    explicit Crew(Watch& watch) : watch_(watch), first_(std::this_thread::get_id()) {}

    // Returns the exception that the work threw, if any; an interrupt sets a flag instead.
    template <class Work> std::exception_ptr guarded(Work&& work) noexcept {
        if (interrupted_) return nullptr;  // nothing more is begun
        try {
            if (std::this_thread::get_id() == first_) {
                work(watch_);
                finish_ = watch_.expired();
            } else {
                Watch follower([this](Index, double) { return followed(); }, watch_.seconds_left());
                work(follower);
            }
        } catch (const Interrupted&) {
            interrupted_ = true;
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }

    void check() const {
        if (interrupted_) throw Interrupted();
    }

  private:
    Watch::Answer followed() const {
        return interrupted_ ? Watch::Answer::interrupt : finish_ ? Watch::Answer::finish : Watch::Answer::go_on;
    }

    Watch& watch_;
    std::thread::id first_;
    std::atomic<bool> interrupted_{false}, finish_{false};
};

}  // namespace abstain
