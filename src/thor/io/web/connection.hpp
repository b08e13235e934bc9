#pragma once
#include <chrono>

#include "thor/io/web/server.hpp"

namespace thor::io::web {

/// One client of a server: its request, the wait for the answer, the answer, the end. No call of it blocks.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Connection(int socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }
  short events() const;  ///< that poll() has to look for
  /// Has not shown the token: closed when others need its place.
  bool is_stranger() const { return !known_; }
  bool is_over() const { return state_ == State::over; }
  Clock::time_point end() const { return end_; }  ///< of the time for what it is at

  /// Goes on after poll(), as far as it can. `handle` takes a request that has passed the gate.
  void proceed(short events, const Gate& gate, const std::function<std::shared_ptr<Exchange>(const Request&)>& handle);

 private:
  enum class State { reading, waiting, writing, leaving, over };
  void read_head(const Gate& gate, const std::function<std::shared_ptr<Exchange>(const Request&)>& handle);
  void begin_answer(const Response& response);
  void write();
  void read_rest();
  bool is_late() const { return Clock::now() >= end_; }

  int socket_;
  State state_ = State::reading;
  bool known_ = false;
  Clock::time_point end_;
  std::string bytes_;     ///< the head, then the answer
  std::size_t done_ = 0;  ///< bytes that were sent, then those that were read for nothing
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace thor::io::web
