// A few threads for a few large pieces of work. They sleep in between, since spinning threads would slow others down. Each
// piece writes its own part of the result, so the bits do not depend on the number of threads.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "index.hpp"

namespace abstain {

class ThreadPool {
  public:
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // work(piece) for piece = 0 .. pieces - 1, in any order; must not throw.
    void run(Index pieces, const std::function<void(Index)>& work);

  private:
    void serve();
    void take();

    std::vector<std::thread> threads_;
    const std::function<void(Index)>* work_ = nullptr;
    Index pieces_ = 0;
    std::atomic<Index> next_{0};
    std::atomic<int> round_{0}, busy_{0};
    std::atomic<bool> closing_{false};
};

}  // namespace abstain
