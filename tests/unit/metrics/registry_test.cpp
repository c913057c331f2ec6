#include "smg/metrics/registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "smg/metrics/sample_family.hpp"

namespace smg::metrics {
namespace {

constexpr std::array<double, 2> kBounds{0.1, 2.5};

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Registry, WritesTheTextFormat) {
  Registry registry;
  auto& requests = registry.counter({"z_requests_total", "Requests.", {"method", "path"}});
  auto& active = registry.gauge({"active", "In flight."});
  auto& seconds = registry.histogram({"seconds", "Duration.", {"path"}}, kBounds);
  requests.at({"POST", "/v1"}).add(3);
  requests.at({"GET", "/a\"b\\c\nd"}).add();
  active.at({}).set(-2);
  seconds.at({"/v1"}).observe(0.1);
  seconds.at({"/v1"}).observe(2);
  seconds.at({"/v1"}).observe(4);
  EXPECT_EQ(registry.expose(),
            "# HELP active In flight.\n"
            "# TYPE active gauge\n"
            "active -2\n"
            "# HELP seconds Duration.\n"
            "# TYPE seconds histogram\n"
            "seconds_count{path=\"/v1\"} 3\n"
            "seconds_sum{path=\"/v1\"} 6.1\n"
            "seconds_bucket{path=\"/v1\",le=\"0.1\"} 1\n"
            "seconds_bucket{path=\"/v1\",le=\"2.5\"} 2\n"
            "seconds_bucket{path=\"/v1\",le=\"+Inf\"} 3\n"
            "# HELP z_requests_total Requests.\n"
            "# TYPE z_requests_total counter\n"
            "z_requests_total{method=\"GET\",path=\"/a\\\"b\\\\c\\nd\"} 1\n"
            "z_requests_total{method=\"POST\",path=\"/v1\"} 3\n");
}

TEST(Registry, AFamilyWithoutSeriesHasItsHelpAndType) {
  Registry registry;
  registry.counter({"nothing_total", "Nothing yet.", {"a"}});
  EXPECT_EQ(registry.expose(), "# HELP nothing_total Nothing yet.\n# TYPE nothing_total counter\n");
}

TEST(Registry, LargeCountsAreWrittenInFull) {
  Registry registry;
  registry.counter({"n_total", "N."}).at({}).add(123456789012345);
  EXPECT_TRUE(registry.expose().ends_with("\nn_total 123456789012345\n"));
}

TEST(Registry, TheSameValuesAreTheSameSeries) {
  Registry registry;
  auto& family = registry.counter({"n_total", "N.", {"a", "b"}});
  EXPECT_EQ(&family.at({"1", "2"}), &family.at({"1", "2"}));
  EXPECT_NE(&family.at({"1", "2"}), &family.at({"2", "1"}));
}

TEST(Registry, ANameIsTakenOnce) {
  Registry registry;
  registry.counter({"n_total", "N."});
  EXPECT_THROW(registry.gauge({"n_total", "N."}), std::logic_error);
}

TEST(Registry, CollectorsSayWhatIsThereNow) {
  Registry registry;
  std::vector<std::string> workers{"http://a:1", "http://b:1"};
  registry.add_collector([&workers] {
    auto health = gauge_family("worker_health", "1 ready.");
    auto seen = counter_family("worker_seen_total", "Seen.");
    for (const auto& worker : workers) {
      add_sample(health, {{"worker", worker}}, 1);
      add_sample(seen, {{"worker", worker}, {"kind", "x"}}, 2.5);
    }
    return std::vector{health, seen};
  });
  EXPECT_EQ(registry.expose(),
            "# HELP worker_health 1 ready.\n"
            "# TYPE worker_health gauge\n"
            "worker_health{worker=\"http://a:1\"} 1\n"
            "worker_health{worker=\"http://b:1\"} 1\n"
            "# HELP worker_seen_total Seen.\n"
            "# TYPE worker_seen_total counter\n"
            "worker_seen_total{worker=\"http://a:1\",kind=\"x\"} 2.5\n"
            "worker_seen_total{worker=\"http://b:1\",kind=\"x\"} 2.5\n");
  workers.clear();
  EXPECT_EQ(registry.expose(),
            "# HELP worker_health 1 ready.\n"
            "# TYPE worker_health gauge\n"
            "# HELP worker_seen_total Seen.\n"
            "# TYPE worker_seen_total counter\n");
}

TEST(Registry, FamiliesOfOneNameAreJoined) {
  Registry registry;
  for (const std::string model : {"a", "b"}) {
    registry.add_collector([model] {
      auto family = gauge_family("g", "G.");
      add_sample(family, {{"model", model}}, 1);
      return std::vector{family};
    });
  }
  EXPECT_EQ(registry.expose(), "# HELP g G.\n# TYPE g gauge\ng{model=\"a\"} 1\ng{model=\"b\"} 1\n");
}

TEST(Labels, BeyondTheLimitValuesBecomeOther) {
  Registry registry;
  auto& family = registry.counter({"n_total", "N.", {"model", "endpoint"}});
  for (std::size_t i = 0; i < CounterVec::kMaxValues + 50; ++i) {
    family.at({"model-" + std::to_string(i), "chat"}).add();
  }
  family.at({"model-0", "chat"}).add();
  const std::string text = registry.expose();
  EXPECT_EQ(occurrences(text, "n_total{"), CounterVec::kMaxValues + 1);
  EXPECT_EQ(occurrences(text, "n_total{model=\"other\",endpoint=\"chat\"} 50\n"), 1u);
  EXPECT_EQ(occurrences(text, "n_total{model=\"model-0\",endpoint=\"chat\"} 2\n"), 1u);
}

TEST(Labels, ValuesAreCutAndMadeUtf8) {
  EXPECT_EQ(label_value("h\xC3\xA9llo"), "h\xC3\xA9llo");
  EXPECT_EQ(label_value("a\xFF\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(label_value(std::string(300, 'x')), std::string(256, 'x'));
  EXPECT_EQ(label_value(std::string(255, 'x') + "\xC3\xA9"), std::string(255, 'x'));
}

}  // namespace
}  // namespace smg::metrics
