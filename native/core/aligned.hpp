// Vectors whose storage starts on a cache line, is not initialised, and is reused by the next fit: touching fresh memory
// costs several times as much as computing the kernel values stored in it.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace abstain {

void* take_memory(std::size_t bytes);  // aligned to 64; throws std::bad_alloc
void give_back(void* memory, std::size_t bytes) noexcept;

template <class T> struct CacheLine {
    using value_type = T;
    CacheLine() = default;
    template <class U> CacheLine(const CacheLine<U>&) {}
    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(take_memory(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t n) noexcept { give_back(p, n * sizeof(T)); }
    template <class U> void construct(U* p) noexcept { ::new (static_cast<void*>(p)) U; }
    template <class U, class... Args> void construct(U* p, Args&&... args) {
        ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
    }
    template <class U> bool operator==(const CacheLine<U>&) const { return true; }
};

template <class T> using Aligned = std::vector<T, CacheLine<T>>;  // resize() leaves new entries uninitialised

}  // namespace abstain
