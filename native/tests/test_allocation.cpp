// Memory runs out at every single allocation, in one thread or in all of them: a fit ends with std::bad_alloc, or with the
// answer that it gives otherwise, and nothing leaks (the address sanitizer looks). After the way of SQLite's tests.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "cases.hpp"
#include "expansion.hpp"
#include "random.hpp"
#include "solve_many.hpp"

namespace {

constexpr long never = -1;
std::atomic<long> left{never};        // allocations of all threads until one fails
std::atomic<long> each{never};        // allocations of every thread until its next fails
std::atomic<long> failed{0}, epoch{0};
thread_local long own = 0, own_epoch = -1;

bool fails() {
    if (left.load() != never && left.fetch_sub(1) == 0) return true;
    if (each.load() == never) return false;
    if (own_epoch != epoch.load()) own_epoch = epoch.load(), own = each.load();
    return own-- == 0;
}

void* allocated(std::size_t bytes, std::size_t alignment) {
    if (fails()) {
        ++failed;
        throw std::bad_alloc();
    }
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes ? bytes : 1, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocated(bytes ? bytes : 1, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace abstain;
using namespace abstain::testing;

namespace {

Case make_case(Index rows) {
    Random random(5);
    Case c;
    c.rows = rows;
    c.features = 3;
    for (Index i = 0; i < rows; ++i) {
        c.sign.push_back(i % 2 ? 1 : -1);
        for (Index k = 0; k < c.features; ++k) c.X.push_back(random.normal() + 0.5 * c.sign.back());
        c.weight.push_back(1.0);
    }
    give_losses(c, 2, 0.7);
    return c;
}

const KernelSpec rbf{KernelName::rbf, 0.3, 0, 3}, linear{KernelName::linear, 1, 0, 1};

// The work returns the same number whenever it ends without an exception.
template <class Work> void check(const char* name, Work&& work, long step = 1) {
    const double expected = work();
    for (std::atomic<long>* countdown : {&left, &each}) {
        long n = 0;
        for (bool done = false; !done; n += step) {
            failed = 0;
            ++epoch;
            *countdown = n;
            try {
                const double found = work();
                *countdown = never;
                assert(found == expected);
            } catch (const std::bad_alloc&) {
                *countdown = never;
                assert(failed > 0);
            }
            done = failed == 0;
            assert(n < 100'000);
        }
        assert(n > 10);  // something was tried
        std::printf("%s: memory ran out in %ld places%s\n", name, n / step - 1, countdown == &each ? " of every thread" : "");
    }
    assert(work() == expected);  // and what was interrupted left nothing behind
}

double sum(const std::vector<double>& values) {
    double total = 0;
    for (double value : values) total += value;
    return total;
}

void fit(const char* name, const Case& c, const KernelSpec& spec, const Rows& rows, Method method, int threads, long step = 1) {
    check(name, [&] {
        Options options;
        options.method = method;
        ThreadPool pool(threads);
        Watch watch;
        make_room_for_exceptions();
        return sum(solve(c.problem(), spec, rows, nullptr, options, pool, watch).expansion);
    }, step);
}

}  // namespace

int main() {
    const Case small = make_case(24), large = make_case(1030);
    const Compressed compressed = compress(small);
    const std::vector<double> gram = gram_of(rbf, small);
    fit("small", small, rbf, small.dense(), Method::automatic, 2);
    fit("compressed", small, linear, compressed.rows(3), Method::automatic, 2);
    fit("gram", small, rbf, GramRows{gram.data(), small.rows}, Method::active_set, 1);
    fit("large", large, rbf, large.dense(), Method::pairs, 2, 13);

    check("path", [&] {
        ThreadPool pool(1);
        Watch watch;
        return sum(follow_path(small.problem(), rbf, small.dense(), 0.5, 2, {}, pool, watch).start);
    });
    check("many", [&] {
        ThreadPool pool(3);
        Watch watch;
        make_room_for_exceptions();
        std::vector<Task> tasks(3, Task{small.problem(), {0.5, 1.0}});
        tasks[2].kernel = 1;
        const KernelSpec kernels[] = {rbf, {KernelName::rbf, 1.0, 0, 3}};
        Durations durations(number_of_fits(tasks));
        const Answers answers = solve_many(small.dense(), kernels, tasks, {}, Keep::scores, pool, watch, durations);
        for (const std::exception_ptr& failure : answers.failures)
            if (failure) std::rethrow_exception(failure);
        return sum(answers.expansion);
    });
    check("expand", [&] {
        ThreadPool pool(2);
        Watch watch;
        std::vector<double> out(small.rows);
        expand(rbf, small.dense(), small.dense(), small.weight.data(), out.data(), pool, watch);
        return sum(out);
    });
}
