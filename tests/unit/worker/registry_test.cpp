#include "smg/worker/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smg::worker {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

WorkerSpec spec(const std::string& url, std::vector<ModelCard> models = {}) {
  WorkerSpec made;
  made.url.text = url;
  made.models = std::move(models);
  return made;
}

ModelCard card(const std::string& id, std::vector<std::string> aliases = {}) {
  return ModelCard{id, std::move(aliases), std::nullopt};
}

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() : registry_(fleet_, options()) {}

  Registry::Options options() {
    Registry::Options made;
    made.breaker.failure_threshold = 1;
    made.breaker.success_threshold = 1;
    made.on_removed = [this](WorkerId id) { removed_.push_back(id); };
    made.on_transition = [this](const std::string& url, BreakerState, BreakerState to) {
      transitions_.emplace_back(url, to);
    };
    return made;
  }

  std::shared_ptr<const Worker> add(const std::string& url, std::vector<ModelCard> models = {}) {
    auto added = registry_.add(spec(url, std::move(models)));
    EXPECT_TRUE(added.has_value());
    return *added;
  }

  std::vector<WorkerId> serving(std::string_view model) {
    const auto set = registry_.workers().load();
    const Model* found = set->find_model(model);
    return found ? found->workers : std::vector<WorkerId>{};
  }

  void fail_once(const std::shared_ptr<const Worker>& worker, TimePoint at) {
    auto ticket = Ticket::acquire(fleet_, worker, at);
    ASSERT_TRUE(ticket);
    ticket->set_outcome(Outcome::failure, at);
  }

  Fleet fleet_;
  Registry registry_;
  std::vector<WorkerId> removed_;
  std::vector<std::pair<std::string, BreakerState>> transitions_;
  const TimePoint start_{std::chrono::hours(1)};
};

TEST_F(RegistryTest, StartsEmpty) {
  const auto set = registry_.workers().load();
  EXPECT_TRUE(set->empty());
  EXPECT_THAT(set->any().workers, IsEmpty());
  EXPECT_EQ(set->find_model("m"), nullptr);
  EXPECT_EQ(set->find_url("http://a"), nullptr);
}

TEST_F(RegistryTest, PublishesANewWorkerAsPendingAndBlocked) {
  const auto worker = add("http://a", {card("m")});
  const auto set = registry_.workers().load();
  EXPECT_EQ(set->size(), 1U);
  EXPECT_EQ(set->at(worker->id), worker);
  EXPECT_EQ(set->find_url("http://a"), worker);
  EXPECT_EQ(set->find_uuid(worker->uuid), worker);
  EXPECT_EQ(worker->status(), WorkerStatus::pending);
  EXPECT_EQ(fleet_.blocked(worker->id), kNotReady);
}

TEST_F(RegistryTest, AWorkerWhoseHealthChecksAreDisabledIsReady) {
  WorkerSpec made = spec("http://a");
  made.health.emplace().disabled = true;
  const auto worker = *registry_.add(std::move(made));
  EXPECT_EQ(worker->status(), WorkerStatus::ready);
  EXPECT_EQ(fleet_.blocked(worker->id), 0);
}

TEST_F(RegistryTest, RefusesAUrlTwice) {
  add("http://a");
  const auto second = registry_.add(spec("http://a"));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::invalid_argument);
  EXPECT_EQ(registry_.workers().load()->size(), 1U);
}

TEST_F(RegistryTest, TheUuidIsAVersion5UuidOfTheUrl) {
  // uuid.uuid5(uuid.NAMESPACE_URL, "http://127.0.0.1:8000")
  const auto first = add("http://127.0.0.1:8000");
  EXPECT_EQ(first->uuid, "d7887efb-3bc6-5c21-b723-931f7aa79cf7");
  ASSERT_TRUE(registry_.remove(first->uuid).has_value());
  EXPECT_EQ(add("http://127.0.0.1:8000")->uuid, first->uuid);
}

TEST_F(RegistryTest, FindsModelsByIdThenAliasInRegistrationOrder) {
  const auto a = add("http://a", {card("big", {"default", "chat"})});
  const auto b = add("http://b", {card("small", {"default", "big"})});
  const auto c = add("http://c", {card("big"), card("small")});
  EXPECT_THAT(serving("big"), ElementsAre(a->id, c->id)) << "an id beats another model's alias";
  EXPECT_THAT(serving("small"), ElementsAre(b->id, c->id));
  EXPECT_THAT(serving("default"), ElementsAre(a->id, c->id)) << "the first to claim it";
  EXPECT_THAT(serving("chat"), ElementsAre(a->id, c->id));
  EXPECT_THAT(serving("Big"), IsEmpty());
  const auto set = registry_.workers().load();
  EXPECT_EQ(set->find_model("chat")->id, "big");
  EXPECT_THAT(set->any().workers, ElementsAre(a->id, b->id, c->id));
  ASSERT_EQ(set->models().size(), 2U);
  EXPECT_EQ(set->models()[0]->id, "big");
  EXPECT_EQ(set->models()[1]->id, "small");
}

TEST_F(RegistryTest, AnAliasPassesToTheNextClaimantWhenItsModelLeaves) {
  const auto a = add("http://a", {card("big", {"default"})});
  const auto b = add("http://b", {card("small", {"default"})});
  ASSERT_TRUE(registry_.remove(a->uuid).has_value());
  EXPECT_THAT(serving("default"), ElementsAre(b->id));
  EXPECT_THAT(serving("big"), IsEmpty());
  EXPECT_EQ(registry_.workers().load()->models().size(), 1U);
}

TEST_F(RegistryTest, AModelThatIsNamedTwiceListsItsWorkerOnce) {
  const auto a = add("http://a", {card("m"), card("m"), card("")});
  EXPECT_THAT(serving("m"), ElementsAre(a->id));
  EXPECT_THAT(serving(""), IsEmpty());
}

TEST_F(RegistryTest, AWorkerWithoutModelsServesOnlyRequestsForAny) {
  const auto a = add("http://a");
  EXPECT_EQ(a->model_id(), "unknown");
  EXPECT_EQ(a->runtime(), "generic");
  EXPECT_THAT(registry_.workers().load()->models(), IsEmpty());
  EXPECT_THAT(registry_.workers().load()->any().workers, ElementsAre(a->id));
}

TEST_F(RegistryTest, DiscoveredModelsAreServedInRegistrationOrder) {
  const auto a = add("http://a");
  const auto b = add("http://b", {card("m")});
  ASSERT_TRUE(registry_.set_discovered(a->id, {"vllm", {card("m")}, {}}).has_value());
  EXPECT_THAT(serving("m"), ElementsAre(a->id, b->id));
  const auto now = registry_.workers().load()->at(a->id);
  EXPECT_EQ(now->model_id(), "m");
  EXPECT_EQ(now->runtime(), "vllm");
  EXPECT_EQ(now->shared, a->shared);

  ASSERT_TRUE(registry_.set_discovered(a->id, {"vllm", {card("other")}, {}}).has_value());
  EXPECT_THAT(serving("m"), ElementsAre(b->id));
  EXPECT_THAT(serving("other"), ElementsAre(a->id));
  EXPECT_FALSE(registry_.set_discovered(77, {}).has_value());
}

TEST_F(RegistryTest, ModelsOfTheSpecWinOverDiscoveredOnes) {
  const auto a = add("http://a", {card("mine")});
  ASSERT_TRUE(registry_.set_discovered(a->id, {"vllm", {card("theirs")}, {}}).has_value());
  EXPECT_THAT(serving("mine"), ElementsAre(a->id));
  EXPECT_THAT(serving("theirs"), IsEmpty());
}

TEST_F(RegistryTest, TheNotReadyBlockFollowsTheStatus) {
  const auto a = add("http://a");
  registry_.set_status(a->id, WorkerStatus::ready);
  EXPECT_EQ(fleet_.blocked(a->id), 0);
  EXPECT_EQ(a->status(), WorkerStatus::ready);
  registry_.set_status(a->id, WorkerStatus::not_ready);
  EXPECT_EQ(fleet_.blocked(a->id), kNotReady);
  fleet_.block(a->id, kOverloaded);
  registry_.set_status(a->id, WorkerStatus::ready);
  EXPECT_EQ(fleet_.blocked(a->id), kOverloaded) << "other reasons stay";
  registry_.set_status(a->id, WorkerStatus::draining);
  registry_.set_status(a->id, WorkerStatus::ready);
  EXPECT_EQ(a->status(), WorkerStatus::draining);
  EXPECT_EQ(fleet_.blocked(a->id), kOverloaded | kNotReady);
}

TEST_F(RegistryTest, TheBreakerBlockIsSetWhileTheBreakerIsNotClosed) {
  const auto a = add("http://a");
  registry_.set_status(a->id, WorkerStatus::ready);
  fail_once(a, start_);
  EXPECT_EQ(fleet_.blocked(a->id), kBreaker);
  {
    auto trial = Ticket::acquire(fleet_, a, start_ + seconds(60));
    ASSERT_TRUE(trial);
    EXPECT_EQ(a->shared->breaker.state(), BreakerState::half_open);
    EXPECT_EQ(fleet_.blocked(a->id), kBreaker);
    trial->set_outcome(Outcome::success, start_ + seconds(60));
  }
  EXPECT_EQ(fleet_.blocked(a->id), 0);
  using Event = std::pair<std::string, BreakerState>;
  EXPECT_THAT(transitions_, ElementsAre(Event{"http://a", BreakerState::open},
                                        Event{"http://a", BreakerState::half_open},
                                        Event{"http://a", BreakerState::closed}));
}

TEST_F(RegistryTest, ReplacingKeepsIdentityStateAndBreaker) {
  const auto a = add("http://a", {card("m")});
  registry_.set_status(a->id, WorkerStatus::ready);
  ASSERT_TRUE(registry_.set_discovered(a->id, {"vllm", {}, {{"k", "v"}}}).has_value());
  WorkerSpec next = spec("http://a", {card("n")});
  next.priority = 9;
  const auto replaced = registry_.replace(a->uuid, std::move(next));
  ASSERT_TRUE(replaced.has_value());
  const auto now = registry_.workers().load()->at(a->id);
  EXPECT_EQ(now, *replaced);
  EXPECT_EQ(now->id, a->id);
  EXPECT_EQ(now->uuid, a->uuid);
  EXPECT_EQ(now->shared, a->shared);
  EXPECT_EQ(now->revision, a->revision + 1);
  EXPECT_EQ(now->spec.priority, 9U);
  EXPECT_EQ(now->runtime(), "vllm");
  EXPECT_EQ(now->status(), WorkerStatus::ready);
  EXPECT_THAT(serving("m"), IsEmpty());
  EXPECT_THAT(serving("n"), ElementsAre(a->id));
}

TEST_F(RegistryTest, OtherBreakerOptionsGiveAFreshBreakerThatOldRequestsCannotTouch) {
  const auto a = add("http://a");
  registry_.set_status(a->id, WorkerStatus::ready);
  auto old_request = Ticket::acquire(fleet_, a, start_);
  fail_once(a, start_);
  ASSERT_EQ(fleet_.blocked(a->id), kBreaker);

  WorkerSpec next = spec("http://a");
  next.breaker.emplace().failure_threshold = 5;
  const auto now = *registry_.replace(a->uuid, std::move(next));
  EXPECT_NE(now->shared, a->shared);
  EXPECT_EQ(now->status(), WorkerStatus::ready);
  EXPECT_EQ(now->shared->requests_total, 2U);
  EXPECT_EQ(now->shared->breaker.state(), BreakerState::closed);
  EXPECT_EQ(fleet_.blocked(a->id), 0);

  // The old breaker goes on changing state, unheard.
  transitions_.clear();
  auto trial = Ticket::acquire(fleet_, a, start_ + seconds(60));
  ASSERT_TRUE(trial);
  EXPECT_EQ(a->shared->breaker.state(), BreakerState::half_open);
  EXPECT_EQ(fleet_.blocked(a->id), 0);
  EXPECT_THAT(transitions_, IsEmpty());
}

TEST_F(RegistryTest, RefusesToReplaceAnUnknownWorkerOrItsUrl) {
  const auto a = add("http://a");
  EXPECT_FALSE(registry_.replace("nobody", spec("http://a")).has_value());
  EXPECT_FALSE(registry_.replace(a->uuid, spec("http://b")).has_value());
}

TEST_F(RegistryTest, ARemovedWorkerIsGoneAtOnceAndPurged) {
  const auto a = add("http://a", {card("m")});
  const auto b = add("http://b", {card("m")});
  registry_.set_status(a->id, WorkerStatus::ready);
  auto running = Ticket::acquire(fleet_, a, start_);
  ASSERT_TRUE(registry_.remove(a->uuid).has_value());
  const auto set = registry_.workers().load();
  EXPECT_EQ(set->size(), 1U);
  EXPECT_EQ(set->at(a->id), nullptr);
  EXPECT_EQ(set->find_uuid(a->uuid), nullptr);
  EXPECT_THAT(serving("m"), ElementsAre(b->id));
  EXPECT_EQ(fleet_.blocked(a->id), kNotReady);
  EXPECT_THAT(removed_, ElementsAre(a->id));
  EXPECT_EQ(fleet_.in_flight(a->id), 1U);
  running.reset();
  EXPECT_EQ(fleet_.in_flight(a->id), 0U);
  EXPECT_FALSE(registry_.remove(a->uuid).has_value());
}

TEST_F(RegistryTest, ATicketMayOutliveTheRegistry) {
  Fleet fleet;
  int transitions = 0;
  std::optional<Ticket> ticket;
  {
    Registry::Options short_lived;
    short_lived.breaker.failure_threshold = 1;
    short_lived.on_transition = [&](const std::string&, BreakerState, BreakerState) {
      ++transitions;
    };
    Registry registry(fleet, short_lived);
    ticket = Ticket::acquire(fleet, *registry.add(spec("http://a")), start_);
  }
  ASSERT_TRUE(ticket);
  const auto shared = ticket->worker().shared;
  ticket->set_outcome(Outcome::failure, start_);
  ticket.reset();
  EXPECT_EQ(shared->breaker.state(), BreakerState::open);
  EXPECT_EQ(transitions, 0);
}

TEST_F(RegistryTest, ReusesAnIdOnlyWhenAllOthersWereUsedAndPurgesItAgain) {
  std::vector<std::shared_ptr<const Worker>> all;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto worker = add("http://early" + std::to_string(i));
    all.push_back(worker);
    ASSERT_TRUE(registry_.remove(worker->uuid).has_value());
  }
  auto lingering = Ticket::acquire(fleet_, all[0], start_);
  fleet_.add_credit(1, 5);
  fleet_.set_turn(1, 5);
  EXPECT_THAT(removed_, ElementsAre(0, 1, 2));
  for (std::size_t i = 3; i < kMaxWorkers; ++i) {
    ASSERT_EQ(add("http://w" + std::to_string(i))->id, i);
  }
  EXPECT_THAT(removed_, ElementsAre(0, 1, 2));

  EXPECT_EQ(add("http://again1")->id, 1) << "0 has a request in flight";
  EXPECT_THAT(removed_, ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(fleet_.blocked(1), kNotReady);
  EXPECT_EQ(fleet_.credit_tokens(1), 0U);
  EXPECT_EQ(fleet_.turn(1), 0U);
  EXPECT_EQ(add("http://again2")->id, 2);
  const auto refused = registry_.add(spec("http://again0"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  lingering.reset();
  EXPECT_EQ(add("http://again0")->id, 0);
}

}  // namespace
}  // namespace smg::worker
