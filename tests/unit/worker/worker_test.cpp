#include "smg/worker/worker.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace smg::worker {
namespace {

using std::chrono::seconds;

class TicketTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Worker> make(WorkerId id) {
    BreakerOptions options;
    options.failure_threshold = 1;
    options.success_threshold = 1;
    auto worker = std::make_shared<Worker>();
    worker->id = id;
    worker->shared = std::make_shared<Worker::Shared>(options, nullptr);
    return worker;
  }

  static std::uint64_t count(const std::shared_ptr<const Worker>& worker, Outcome outcome) {
    return worker->shared->breaker.outcomes()[static_cast<std::size_t>(outcome)];
  }

  Fleet fleet_;
  const std::shared_ptr<const Worker> a_ = make(0);
  const std::shared_ptr<const Worker> b_ = make(1);
  const TimePoint start_{std::chrono::hours(1)};
};

TEST_F(TicketTest, CountsARequestFromAcquisitionToDestruction) {
  {
    const auto first = Ticket::acquire(fleet_, a_, start_);
    const auto second = Ticket::acquire(fleet_, a_, start_);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(fleet_.in_flight(0), 2U);
    EXPECT_EQ(&first->worker(), a_.get());
  }
  EXPECT_EQ(fleet_.in_flight(0), 0U);
  EXPECT_EQ(a_->shared->requests_total, 2U);
}

TEST_F(TicketTest, ReportsNeutralUnlessToldOtherwise) {
  { const auto ticket = Ticket::acquire(fleet_, a_, start_); }
  EXPECT_EQ(count(a_, Outcome::neutral), 1U);
  EXPECT_EQ(count(a_, Outcome::success), 0U);
  EXPECT_EQ(count(a_, Outcome::failure), 0U);
}

TEST_F(TicketTest, ReportsTheLastOutcomeOnce) {
  {
    auto ticket = Ticket::acquire(fleet_, a_, start_);
    ticket->set_outcome(Outcome::success, start_);
    ticket->set_outcome(Outcome::failure, start_ + seconds(7));
    EXPECT_EQ(a_->shared->breaker.state(), BreakerState::closed);
  }
  EXPECT_EQ(count(a_, Outcome::failure), 1U);
  EXPECT_EQ(count(a_, Outcome::success), 0U);
  EXPECT_FALSE(a_->shared->breaker.would_admit(start_ + seconds(66)));
  EXPECT_TRUE(a_->shared->breaker.would_admit(start_ + seconds(67)));
}

TEST_F(TicketTest, IsRefusedByAnOpenBreakerWithoutCounting) {
  Ticket::acquire(fleet_, a_, start_)->set_outcome(Outcome::failure, start_);
  ASSERT_EQ(a_->shared->breaker.state(), BreakerState::open);
  EXPECT_FALSE(Ticket::acquire(fleet_, a_, start_));
  EXPECT_EQ(fleet_.in_flight(0), 0U);
  EXPECT_EQ(a_->shared->requests_total, 1U);
}

TEST_F(TicketTest, FreesItsHalfOpenPlaceWhenAbandoned) {
  Ticket::acquire(fleet_, a_, start_)->set_outcome(Outcome::failure, start_);
  const TimePoint due = start_ + seconds(60);
  {
    const auto trial = Ticket::acquire(fleet_, a_, due);
    ASSERT_TRUE(trial);
    EXPECT_FALSE(Ticket::acquire(fleet_, a_, due));
  }
  EXPECT_TRUE(Ticket::acquire(fleet_, a_, due));
}

TEST_F(TicketTest, MovingPassesTheCountOn) {
  auto first = Ticket::acquire(fleet_, a_, start_);
  std::optional<Ticket> second(std::move(*first));
  EXPECT_EQ(fleet_.in_flight(0), 1U);
  first.reset();
  EXPECT_EQ(fleet_.in_flight(0), 1U);
  EXPECT_EQ(second->worker_ptr(), a_);
  second.reset();
  EXPECT_EQ(fleet_.in_flight(0), 0U);
  EXPECT_EQ(count(a_, Outcome::neutral), 1U);
}

TEST_F(TicketTest, AssigningReleasesTheRequestThatWasHeld) {
  auto first = Ticket::acquire(fleet_, a_, start_);
  auto second = Ticket::acquire(fleet_, b_, start_);
  first->set_outcome(Outcome::success, start_);
  second->set_outcome(Outcome::failure, start_);
  *first = std::move(*second);
  EXPECT_EQ(fleet_.in_flight(0), 0U);
  EXPECT_EQ(fleet_.in_flight(1), 1U);
  EXPECT_EQ(count(a_, Outcome::success), 1U);
  second.reset();
  EXPECT_EQ(fleet_.in_flight(1), 1U);
  first.reset();
  EXPECT_EQ(fleet_.in_flight(1), 0U);
  EXPECT_EQ(count(b_, Outcome::failure), 1U);
}

}  // namespace
}  // namespace smg::worker
