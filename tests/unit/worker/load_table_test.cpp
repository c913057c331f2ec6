#include "smg/worker/load_table.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace smg::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class LoadTableTest : public ::testing::Test {
 protected:
  static protocol::LoadReport report(double throughput) {
    protocol::LoadReport made;
    made.rows.resize(1);
    made.rows[0].gen_throughput = throughput;
    return made;
  }

  double throughput_after(double reported, TimePoint at) {
    history_.record(0, report(reported), fleet_, at);
    return table_.load()->find(0)->throughput;
  }

  Snapshot<LoadTable> table_{std::make_shared<const LoadTable>()};
  LoadHistory history_{table_};
  Fleet fleet_;
  const TimePoint start_{std::chrono::hours(1)};
};

TEST_F(LoadTableTest, CondensesTheRanksOfAReport) {
  protocol::LoadReport made;
  made.rows.resize(2);
  made.rows[0].num_waiting_uncached_tokens = 1000;
  made.rows[0].num_waiting_reqs = 3;
  made.rows[0].num_running_reqs = 5;
  made.rows[0].gen_throughput = 100;
  made.rows[0].token_usage = 0.25;
  made.rows[1].num_waiting_uncached_tokens = 24;
  made.rows[1].num_waiting_reqs = -2;
  made.rows[1].gen_throughput = 50;
  made.rows[1].token_usage = 0.75;
  history_.record(4, made, fleet_, start_);

  const auto table = table_.load();
  const WorkerLoad* load = table->find(4);
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->at, start_);
  EXPECT_EQ(load->queued_tokens, 1024);
  EXPECT_EQ(load->waiting_requests, 3);
  EXPECT_EQ(load->running_requests, 5);
  EXPECT_EQ(load->throughput, 150);
  EXPECT_EQ(load->kv_usage, 0.5);
  EXPECT_EQ(load->report.rows.size(), 2U);

  const LoadSignal signal = table->signal(4);
  EXPECT_TRUE(signal.reported);
  EXPECT_EQ(signal.queued_tokens, 1024);
  EXPECT_EQ(signal.waiting_requests, 3);
  EXPECT_EQ(signal.throughput, 150);
  EXPECT_EQ(signal.kv_usage, 0.5F);
  EXPECT_EQ(table->find(3), nullptr);
  EXPECT_FALSE(table->signal(3).reported);
  EXPECT_EQ(table->find(5), nullptr);
  EXPECT_FALSE(table->signal(5).reported);
}

TEST_F(LoadTableTest, NumbersThatAreNoneCountAsZero) {
  protocol::LoadReport made;
  made.rows.resize(2);
  made.rows[0].gen_throughput = std::numeric_limits<double>::infinity();
  made.rows[0].token_usage = std::numeric_limits<double>::quiet_NaN();
  made.rows[1].gen_throughput = -5;
  made.rows[1].token_usage = 7;
  history_.record(0, made, fleet_, start_);
  EXPECT_EQ(table_.load()->find(0)->throughput, 0);
  EXPECT_EQ(table_.load()->find(0)->kv_usage, 0.5);
}

TEST_F(LoadTableTest, ThroughputIsTheHighestOfTheLastFiveMinutes) {
  EXPECT_EQ(throughput_after(3000, start_), 3000);
  EXPECT_EQ(throughput_after(40, start_ + minutes(1)), 3000);
  EXPECT_EQ(throughput_after(500, start_ + minutes(2)), 3000);
  EXPECT_EQ(throughput_after(10, start_ + minutes(5)), 3000);
  EXPECT_EQ(throughput_after(0, start_ + minutes(5) + seconds(1)), 500);
  EXPECT_EQ(throughput_after(0, start_ + minutes(7) + seconds(1)), 10);
  EXPECT_EQ(throughput_after(0, start_ + minutes(11)), 0);
  EXPECT_EQ(throughput_after(700, start_ + minutes(11)), 700);
}

TEST_F(LoadTableTest, AReportClearsTheWorkersCreditOnly) {
  fleet_.add_credit(0, 500);
  fleet_.add_credit(1, 700);
  history_.record(0, report(1), fleet_, start_);
  EXPECT_EQ(fleet_.credit_tokens(0), 0U);
  EXPECT_EQ(fleet_.credit_requests(0), 0U);
  EXPECT_EQ(fleet_.credit_tokens(1), 700U);
  EXPECT_EQ(fleet_.credit_requests(1), 1U);
}

TEST_F(LoadTableTest, ForgettingKeepsThePeakRemovingDoesNot) {
  history_.record(0, report(3000), fleet_, start_);
  history_.record(1, report(9), fleet_, start_);
  history_.forget(0);
  EXPECT_EQ(table_.load()->find(0), nullptr);
  EXPECT_FALSE(table_.load()->signal(0).reported);
  EXPECT_NE(table_.load()->find(1), nullptr);
  EXPECT_EQ(throughput_after(40, start_ + seconds(1)), 3000);
  history_.remove(0);
  EXPECT_EQ(throughput_after(40, start_ + seconds(2)), 40);
}

TEST_F(LoadTableTest, ForgettingAnUnknownWorkerDoesNothing) {
  const auto version = table_.version();
  history_.forget(7);
  history_.remove(7);
  EXPECT_EQ(table_.version(), version);
}

TEST_F(LoadTableTest, DropsReportsOlderThanTheLimit) {
  history_.record(0, report(1), fleet_, start_);
  history_.record(1, report(1), fleet_, start_ + seconds(1));
  history_.expire(seconds(30), start_ + seconds(30));
  EXPECT_NE(table_.load()->find(0), nullptr);
  history_.expire(seconds(30), start_ + seconds(30) + milliseconds(1));
  EXPECT_EQ(table_.load()->find(0), nullptr);
  EXPECT_NE(table_.load()->find(1), nullptr);
}

TEST_F(LoadTableTest, IsEmptyWhenNobodyReports) {
  EXPECT_TRUE(table_.load()->empty());
  history_.record(0, report(1), fleet_, start_);
  EXPECT_FALSE(table_.load()->empty());
  history_.forget(0);
  EXPECT_TRUE(table_.load()->empty());
}

}  // namespace
}  // namespace smg::worker
