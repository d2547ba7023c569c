// A few threads for a few large pieces of work. They sleep in between, since spinning threads would slow others down. Each
// piece writes its own part of the result, so the bits do not depend on the number of threads.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "index.hpp"

namespace abstain {

// A thread's first exception allocates memory of its own, and where there is none the process ends. So it is allocated
// before the work begins; throws std::bad_alloc if there is none.
void make_room_for_exceptions();

class ThreadPool {
  public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // work(piece) for piece = 0 .. pieces - 1, in any order. After an exception no more pieces are begun, and it is thrown
    // again here.
    void run(Index pieces, const std::function<void(Index)>& work);

  private:
    void serve();
    void take();

    std::vector<std::thread> threads_;
    const std::function<void(Index)>* work_ = nullptr;
    Index pieces_ = 0;
    std::atomic<Index> next_{0};
    std::atomic<int> begun_{0}, round_{0}, busy_{0};
    std::atomic<bool> closing_{false}, failed_{false};
    std::exception_ptr failure_;  // of the thread that set failed_
};

}  // namespace abstain
