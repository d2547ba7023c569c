// Vectors whose storage starts on a cache line, so that no vector load crosses one.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace abstain {

template <class T> struct CacheLine {
    using value_type = T;
    CacheLine() = default;
    template <class U> CacheLine(const CacheLine<U>&) {}
    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    template <class U> bool operator==(const CacheLine<U>&) const { return true; }
};

template <class T> using Aligned = std::vector<T, CacheLine<T>>;

}  // namespace abstain
