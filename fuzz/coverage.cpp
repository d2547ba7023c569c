// Coverage of the compiled core for libFuzzer: g++ calls __sanitizer_cov_trace_pc at every edge, and the counters here are
// handed to libFuzzer by fuzz/run.py. This file is compiled without that option.
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t places = std::size_t(1) << 16;
std::uint8_t counters[places];
std::uintptr_t table[places][2];  // libFuzzer needs an address and a flag for each counter; the addresses are never followed

}  // namespace

extern "C" {

void __sanitizer_cov_trace_pc() {
    const auto pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    ++counters[(pc ^ (pc >> 16)) % places];
}

__attribute__((visibility("default"))) std::uint8_t* abstain_counters() { return counters; }

__attribute__((visibility("default"))) std::size_t abstain_counter_count() { return places; }

__attribute__((visibility("default"))) std::uintptr_t* abstain_counter_table() {
    for (std::size_t i = 0; i < places; ++i) table[i][0] = i + 1;
    return &table[0][0];
}
}
