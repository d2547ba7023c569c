#include "thread_pool.hpp"

#include <system_error>

namespace abstain {

ThreadPool::ThreadPool(int threads) {
    try {
        for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
        // fewer threads than requested: the same answer, later
    }
}

ThreadPool::~ThreadPool() {
    closing_ = true;
    ++round_;
    round_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void ThreadPool::take() {
    for (Index piece; (piece = next_.fetch_add(1)) < pieces_;) (*work_)(piece);
}

void ThreadPool::serve() {
    for (int seen = 0;;) {
        round_.wait(seen);
        seen = round_.load();
        if (closing_) return;
        take();
        if (--busy_ == 0) busy_.notify_one();
    }
}

void ThreadPool::run(Index pieces, const std::function<void(Index)>& work) {
    if (threads_.empty() || pieces < 2) {
        for (Index piece = 0; piece < pieces; ++piece) work(piece);
        return;
    }
    work_ = &work;
    pieces_ = pieces;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    ++round_;
    round_.notify_all();
    take();
    for (int left; (left = busy_.load()) != 0;) busy_.wait(left);
}

}  // namespace abstain
