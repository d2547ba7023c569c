#include "thread_pool.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace abstain {

namespace {

// Throws std::bad_alloc where a megabyte, much more than a thread needs for its exceptions, cannot be allocated.
void require_room() {
    void* volatile room = ::operator new(1 << 20);  // volatile: else it may be optimised away
    ::operator delete(room);
}

}  // namespace

void make_room_for_exceptions() {
    require_room();
    static_cast<void>(std::uncaught_exceptions());
}

// Threads begin one after the other: two could find the same room.
ThreadPool::ThreadPool(int threads) {
    try {
        threads_.reserve(std::max(0, threads - 1));
        for (int i = 1; i < threads; ++i) {
            require_room();
            threads_.emplace_back([this] { serve(); });
            for (int begun; (begun = begun_.load()) != i;) begun_.wait(begun);
        }
    } catch (const std::exception&) {
        // no more threads, or no memory for them: the same answer, later
    }
}

ThreadPool::~ThreadPool() {
    closing_ = true;
    ++round_;
    round_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void ThreadPool::take() {
    try {
        for (Index piece; (piece = next_.fetch_add(1)) < pieces_;) (*work_)(piece);
    } catch (...) {
        next_ = pieces_;  // nothing more is begun
        if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
}

void ThreadPool::serve() {
    static_cast<void>(std::uncaught_exceptions());
    ++begun_;
    begun_.notify_one();
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
    if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace abstain
