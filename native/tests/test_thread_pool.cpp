// Every piece is done once, whatever the number of threads and pieces, and the pool can be used again and again.
#include <cassert>
#include <numeric>

#include "thread_pool.hpp"

using namespace abstain;

namespace {

void check(int threads) {
    ThreadPool pool(threads);
    std::atomic<Index> calls{0};
    for (const Index pieces : {0, 1, 2, 3, 7, 64, 1000}) {
        std::vector<int> done(static_cast<std::size_t>(pieces), 0);  // written without locks: each piece is its own
        calls = 0;
        pool.run(pieces, [&](Index p) {
            ++done[static_cast<std::size_t>(p)];
            ++calls;
        });
        assert(calls == pieces);
        for (int d : done) assert(d == 1);
    }
    Index total = 0;  // what a round wrote is seen by the next, without any lock
    std::vector<Index> cells(16, 0);
    for (Index round = 0; round < 2000; ++round) {
        pool.run(16, [&](Index p) { cells[static_cast<std::size_t>(p)] += round + p; });
        total += 16 * round + 120;
        assert(std::accumulate(cells.begin(), cells.end(), Index(0)) == total);
    }
}

// Pools within pools, as the tasks of solve_many have.
void check_nested() {
    ThreadPool outer(3);
    std::vector<Index> sums(8, 0);
    outer.run(8, [&](Index p) {
        ThreadPool inner(2);
        std::vector<Index> parts(5);
        inner.run(5, [&](Index q) { parts[static_cast<std::size_t>(q)] = p * q; });
        sums[static_cast<std::size_t>(p)] = std::accumulate(parts.begin(), parts.end(), Index(0));
    });
    for (Index p = 0; p < 8; ++p) assert(sums[static_cast<std::size_t>(p)] == 10 * p);
}

// An exception in any piece, in any thread, is thrown by run(), and the pool can be used again.
void check_exceptions() {
    ThreadPool pool(3);
    for (Index at = 0; at < 20; ++at) {
        bool thrown = false;
        try {
            pool.run(20, [&](Index p) {
                if (p == at) throw at;
            });
        } catch (Index where) {
            thrown = where == at;
        }
        assert(thrown);
        std::atomic<Index> calls{0};
        pool.run(20, [&](Index) { ++calls; });
        assert(calls == 20);
    }
}

}  // namespace

int main() {
    for (const int threads : {0, 1, 2, 5}) check(threads);
    for (int k = 0; k < 200; ++k) ThreadPool idle(3);  // made and closed without work
    check_nested();
    check_exceptions();
}
