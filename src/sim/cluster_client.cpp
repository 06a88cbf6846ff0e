#include "sim/cluster_client.h"

#include "sim/cluster_program.h"

namespace muster::sim {

bool ClientProcess::begin(Host& host) {
  cluster::ClientSettings settings;
  settings.client = cluster::ClientId{base::number(host.self())};
  settings.self = self(host);
  settings.gates = shared_->map.gates().empty() ? shared_->map.founders(0) : shared_->map.gates();
  settings.seed = host.random().next();
  settings.hash = hash_body;
  settings.options = shared_->setup.client;
  brain_.emplace(settings, host.now());
  user_->session_begins();
  ask_for_all(host.now());
  return true;
}

void ClientProcess::ask_again(Host& host) {
  act(host, [&] { ask_for_all(host.now()); });
}

void ClientProcess::ask_for_all(base::Instant now) {
  for (auto& [id, job] : user_->jobs()) {
    if (job.ended || job.forgotten || brain_->statistics(id) != nullptr) continue;
    user_->session_begins(id);
    if (job.acknowledged) {
      brain_->follow(id, now);
    } else {
      brain_->submit(job.request, now);
    }
  }
}

void ClientProcess::on_message(Host& host, base::NodeId from, const cluster::Message& message) {
  brain_->receive(from, message, host.now());
}

void ClientProcess::on_gone(Host& host, base::NodeId peer) {
  brain_->disconnected(peer, host.now());
}

void ClientProcess::on_body_stored(Host& host, const cluster::BodyHash& hash, bool ok) {
  brain_->body_stored(hash, ok, host.now());
}

void ClientProcess::on_wake(Host& host) {
  brain_->wake(host.now());
}

void ClientProcess::drain(Host& host) {
  for (cluster::Effects effects = brain_->take(); !effects.empty(); effects = brain_->take())
    perform(host, std::move(effects));
  if (const auto update = brain_->update(host.now())) user_->told(*update);
}

}  // namespace muster::sim
