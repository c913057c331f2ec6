// What a routing decision pays for the prefix trees, and what they cost in memory.
//
//   prefix_tree_bench [google-benchmark flags]
//
// The workload is 160,000 prompts of 16 workers: 20,000 conversations, each of which starts with
// one of 50 system prompts of 2,000 characters and grows by 100-900 characters a turn; the turns of
// all are shuffled. SMG_PREFIX_WORKLOAD names a file to read instead: records of u32 worker, u32
// length, and that many bytes. The prompts do not fit into a cache, as a request's body does not
// either.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "smg/index/string_tree.hpp"
#include "smg/index/token_tree.hpp"

namespace smg::index {
namespace {

using Nanoseconds = std::chrono::duration<double, std::nano>;

struct Prompt {
  TenantId worker = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct Workload {
  std::string text;  // of all prompts, one after another
  std::vector<Prompt> prompts;

  void add(TenantId worker, std::string_view prompt) {
    text.resize((text.size() + 7) & ~std::size_t{7});  // token ids are read from here, too
    prompts.push_back({worker, text.size(), prompt.size()});
    text.append(prompt);
  }
  std::string_view key(const Prompt& prompt) const {
    return std::string_view(text).substr(prompt.offset, prompt.bytes);
  }
};

class Writer {
 public:
  std::size_t pick(std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(random_);
  }

  std::string words(std::size_t length) {
    std::string text;
    while (text.size() < length) {
      text += words_[pick(0, words_.size() - 1)];
      text += ' ';
    }
    text.resize(length);
    return text;
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), random_);
  }

  Writer() {
    words_.resize(20000);
    for (std::string& word : words_) {
      word.resize(pick(2, 10));
      for (char& letter : word) letter = static_cast<char>('a' + pick(0, 25));
    }
  }

 private:
  std::mt19937_64 random_{20261129};
  std::vector<std::string> words_;
};

Workload generate(std::size_t conversations, std::size_t turns) {
  Writer writer;
  std::vector<std::string> systems(50);
  for (std::string& system : systems) system = writer.words(2000);
  std::vector<std::string> texts(conversations);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < conversations; ++i) {
    texts[i] = systems[writer.pick(0, systems.size() - 1)];
    order.insert(order.end(), turns, i);
  }
  writer.shuffle(order);
  Workload load;
  load.text.reserve(conversations * turns * 4400);
  for (const std::size_t i : order) {
    texts[i] += writer.words(writer.pick(100, 900));
    load.add(static_cast<TenantId>(i % 16), texts[i]);
  }
  return load;
}

Workload read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Workload load;
  load.text.reserve(all.size());
  for (std::size_t at = 0; at + 8 <= all.size();) {
    std::uint32_t head[2];
    std::memcpy(head, all.data() + at, sizeof head);
    load.add(static_cast<TenantId>(head[0]), std::string_view(all).substr(at + 8, head[1]));
    at += 8 + head[1];
  }
  return load;
}

const Workload& workload() {
  static const Workload load = [] {
    const char* path = std::getenv("SMG_PREFIX_WORKLOAD");
    return path != nullptr ? read(path) : generate(20000, 8);
  }();
  return load;
}

struct Strings {
  StringTree tree;
  static std::string_view key(const Workload& load, const Prompt& prompt) {
    return load.key(prompt);
  }
};

struct Tokens {
  TokenTree tree{16};
  static std::span<const std::uint32_t> key(const Workload& load, const Prompt& prompt) {
    const std::string_view text = load.key(prompt);
    return {reinterpret_cast<const std::uint32_t*>(text.data()), text.size() / 4};
  }
};

// Of a series of calls: each one's wall time, and their CPU time, which other processes on the same
// core do not lengthen.
struct Timing {
  std::vector<double> each;
  double cpu = 0;
};

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// One pass over all prompts.
template <class Subject>
Timing pass(Subject& subject, const Workload& load) {
  Timing timing;
  timing.each.reserve(load.prompts.size());
  const double cpu_before = cpu_now();
  auto before = std::chrono::steady_clock::now();
  for (const Prompt& prompt : load.prompts) {
    const PrefixMatch match = subject.tree.match_and_insert(
        Subject::key(load, prompt), [&prompt](const PrefixMatch&) { return prompt.worker; });
    benchmark::DoNotOptimize(match.matched);
    const auto after = std::chrono::steady_clock::now();
    timing.each.push_back(Nanoseconds(after - before).count());
    before = after;
  }
  timing.cpu = cpu_now() - cpu_before;
  return timing;
}

double percentile(std::vector<double>& times, double rank) {
  const auto at =
      times.begin() + static_cast<std::ptrdiff_t>(rank * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

void report(benchmark::State& state, const std::string& name, Timing timing) {
  state.counters[name + "_mean_ns"] = timing.cpu / static_cast<double>(timing.each.size());
  state.counters[name + "_p50_ns"] = percentile(timing.each, 0.5);
  state.counters[name + "_p99_ns"] = percentile(timing.each, 0.99);
}

template <class Tree>
double bytes_per_unit(const Tree& tree) {
  return static_cast<double>(tree.memory_bytes()) / static_cast<double>(tree.size());
}

template <class Subject>
void fresh_and_repeat(benchmark::State& state) {
  const Workload& load = workload();
  for (auto _ : state) {
    Subject subject;
    report(state, "fresh", pass(subject, load));
    state.counters["bytes_per_unit"] = bytes_per_unit(subject.tree);
    report(state, "repeat", pass(subject, load));
    state.counters["nodes"] = static_cast<double>(subject.tree.node_count());
  }
}
BENCHMARK_TEMPLATE(fresh_and_repeat, Strings)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_TEMPLATE(fresh_and_repeat, Tokens)->Unit(benchmark::kMillisecond)->Iterations(1);

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * 4096;
}

// Slices of eviction down to a tenth, then one worker's removal, in slices too.
void evict_and_remove(benchmark::State& state) {
  const Workload& load = workload();
  for (auto _ : state) {
    const double outside = resident_bytes();
    Strings subject;
    pass(subject, load);
    state.counters["rss_full"] = resident_bytes() - outside;
    const auto timed = [](auto slice) {
      Timing slices;
      const double cpu_before = cpu_now();
      for (bool done = false; !done;) {
        const auto before = std::chrono::steady_clock::now();
        done = slice();
        slices.each.push_back(Nanoseconds(std::chrono::steady_clock::now() - before).count());
      }
      slices.cpu = cpu_now() - cpu_before;
      return slices;
    };
    const std::uint64_t budget = subject.tree.size() / 10;
    report(state, "slice", timed([&] { return subject.tree.evict(budget, 64); }));
    state.counters["rss_tenth"] = resident_bytes() - outside;
    state.counters["bytes_per_unit"] = bytes_per_unit(subject.tree);
    report(state, "removal", timed([&] { return subject.tree.remove_some(3, 64); }));
  }
}
BENCHMARK(evict_and_remove)->Unit(benchmark::kMillisecond)->Iterations(1);

// One head of 1,000 characters that all share, tails of 50.
void short_tails(benchmark::State& state) {
  Writer writer;
  const std::string head = writer.words(1000);
  Workload load;
  for (int i = 0; i < 300000; ++i) {
    load.add(static_cast<TenantId>(i % 16), head + writer.words(50));
  }
  for (auto _ : state) {
    Strings subject;
    report(state, "fresh", pass(subject, load));
    state.counters["bytes_per_leaf"] =
        static_cast<double>(subject.tree.memory_bytes()) / static_cast<double>(load.prompts.size());
    state.counters["nodes"] = static_cast<double>(subject.tree.node_count());
  }
}
BENCHMARK(short_tails)->Unit(benchmark::kMillisecond)->Iterations(1);

// The scale: reading each prompt once against a copy of it that is as cold.
void compare_only(benchmark::State& state) {
  const Workload& load = workload();
  const std::string copy = load.text;
  for (auto _ : state) {
    Timing timing;
    timing.each.reserve(load.prompts.size());
    const double cpu_before = cpu_now();
    for (const Prompt& prompt : load.prompts) {
      const auto before = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(
          std::memcmp(load.text.data() + prompt.offset, copy.data() + prompt.offset, prompt.bytes));
      timing.each.push_back(Nanoseconds(std::chrono::steady_clock::now() - before).count());
    }
    timing.cpu = cpu_now() - cpu_before;
    report(state, "memcmp", timing);
  }
}
BENCHMARK(compare_only)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace smg::index

BENCHMARK_MAIN();
