#include "thor/io/web/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace thor::io::web {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_read{2000}, longest_write{20000}, longest_goodbye{1000};
constexpr std::size_t most_for_nothing = 8 << 20;  ///< bytes after a request

bool is_for_later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(int socket) : socket_(socket), end_(Clock::now() + longest_read) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Connection::~Connection() {
  if (exchange_) exchange_->leave();
  close(socket_);
}

short Connection::events() const {
  switch (state_) {
    case State::waiting:
      return POLLRDHUP;
    case State::writing:
      return POLLOUT;
    default:
      return POLLIN;
  }
}

void Connection::proceed(short events, const Gate& gate,
                         const std::function<std::shared_ptr<Exchange>(const Request&)>& handle) {
  if (state_ == State::reading) read_head(gate, handle);
  if (state_ == State::waiting) {
    if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      state_ = State::over;
    } else if (const auto response = exchange_->take()) {
      begin_answer(*response);
    }
  }
  if (state_ == State::writing) write();
  if (state_ == State::leaving) read_rest();
}

void Connection::read_head(const Gate& gate, const std::function<std::shared_ptr<Exchange>(const Request&)>& handle) {
  char buffer[4096];
  std::size_t head_end = std::string::npos;
  while (head_end == std::string::npos && bytes_.size() <= longest_head) {
    const ssize_t count = recv(socket_, buffer, std::min(longest_head + 1 - bytes_.size(), sizeof(buffer)), 0);
    if (count > 0) {
      bytes_.append(buffer, std::size_t(count));
      head_end = bytes_.find("\r\n\r\n");
    } else if (count != 0 && is_for_later() && !is_late()) {
      return;
    } else if (count == 0 || !is_for_later() || bytes_.empty()) {  // empty: a browser has connected in advance
      state_ = State::over;
      return;
    } else {
      return begin_answer(refusal(408, "the request took too long"));
    }
  }
  if (head_end == std::string::npos) return begin_answer(refusal(431, "the request is too long"));
  const auto request = read_request(std::string_view(bytes_).substr(0, head_end + 4), gate);
  if (const auto* const refused = std::get_if<Response>(&request)) return begin_answer(*refused);
  known_ = true, state_ = State::waiting, end_ = Clock::time_point::max();
  exchange_ = handle(std::get<Request>(request));
}

void Connection::begin_answer(const Response& response) {
  bytes_ = to_bytes(response), done_ = 0;
  state_ = State::writing;
  end_ = Clock::now() + (known_ ? longest_write : longest_goodbye);
}

void Connection::write() {
  while (done_ < bytes_.size()) {
    const ssize_t count = send(socket_, bytes_.data() + done_, bytes_.size() - done_, MSG_NOSIGNAL);
    if (count > 0) {
      done_ += std::size_t(count);
    } else {
      if (!is_for_later() || is_late()) state_ = State::over;
      return;
    }
  }
  shutdown(socket_, SHUT_WR);
  state_ = State::leaving, done_ = 0;
  end_ = std::min(end_, Clock::now() + longest_goodbye);
}

/// Closing a socket that still has something to read would take the answer from the client.
void Connection::read_rest() {
  char buffer[4096];
  while (done_ < most_for_nothing) {
    const ssize_t count = recv(socket_, buffer, sizeof(buffer), 0);
    if (count > 0) {
      done_ += std::size_t(count);
    } else {
      if (count == 0 || !is_for_later() || is_late()) state_ = State::over;
      return;
    }
  }
  state_ = State::over;
}

}  // namespace thor::io::web
