#include "aligned.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace abstain {

namespace {

constexpr std::size_t worth_keeping = 1 << 16, most_kept = std::size_t(96) << 20;

struct Kept {
    void* memory;
    std::size_t bytes;
};

struct Shelf {
    std::mutex mutex;
    std::vector<Kept> kept;  // oldest first
    std::size_t bytes = 0;
};

Shelf& shelf() {
    static Shelf* const one = new Shelf;  // outlives every thread that might still give something back
    return *one;
}

// Coarse, so that problems of nearly the same size reuse each other's memory.
std::size_t capacity(std::size_t bytes) { return (bytes + worth_keeping - 1) / worth_keeping * worth_keeping; }

// With where it begins written before it: the C library takes several times as long for memory with an alignment.
void* take_little(std::size_t bytes) {
    char* const begin = static_cast<char*>(::operator new(bytes + 64));
    void** const memory = reinterpret_cast<void**>(begin + 64 - reinterpret_cast<std::uintptr_t>(begin) % 64);
    memory[-1] = begin;
    return memory;
}

}  // namespace

void* take_memory(std::size_t bytes) {
    if (bytes < worth_keeping) return take_little(bytes);
    const std::size_t wanted = capacity(bytes);
    {
        Shelf& s = shelf();
        const std::lock_guard lock(s.mutex);
        const auto found = std::find_if(s.kept.rbegin(), s.kept.rend(), [&](const Kept& k) { return k.bytes == wanted; });
        if (found != s.kept.rend()) {
            void* memory = found->memory;
            s.bytes -= wanted;
            s.kept.erase(std::next(found).base());
            return memory;
        }
    }
    return ::operator new(wanted, std::align_val_t(64));
}

void give_back(void* memory, std::size_t bytes) noexcept {
    if (bytes < worth_keeping) return ::operator delete(static_cast<void**>(memory)[-1]);
    if (capacity(bytes) > most_kept) return ::operator delete(memory, std::align_val_t(64));
    Shelf& s = shelf();
    const std::lock_guard lock(s.mutex);
    try {
        s.kept.push_back({memory, capacity(bytes)});
    } catch (const std::bad_alloc&) {
        return ::operator delete(memory, std::align_val_t(64));
    }
    for (s.bytes += capacity(bytes); s.bytes > most_kept; s.kept.erase(s.kept.begin())) {
        s.bytes -= s.kept.front().bytes;
        ::operator delete(s.kept.front().memory, std::align_val_t(64));
    }
}

}  // namespace abstain
