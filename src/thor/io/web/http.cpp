#include "thor/io/web/http.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "thor/core/error.hpp"

namespace thor::io::web {
namespace {

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
/// Characters of methods and of names of headers (RFC 9110, 5.6.2).
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }
bool is_visible(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Takes as long for every text of one length: how long it takes does not tell how much of it is right.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < given.size(); ++i) different |= unsigned(given[i] ^ secret[i]);
  return different == 0;
}

bool read_query(std::string_view text, std::map<std::string, std::string>& query, std::string& why) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    if (!decode(pair.substr(0, equals), name) || !decode(pair.substr(std::min(equals + 1, pair.size())), value)) {
      why = "the query is malformed";
      return false;
    }
    if (!query.emplace(name, value).second) {
      why = "a parameter is given twice";
      return false;
    }
  }
  return true;
}

/// Lower-case names and their values; false if a line is malformed, or a name that must be single is not.
bool read_headers(std::string_view lines, std::map<std::string, std::string>& headers) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; })) return false;
    const auto [found, is_new] = headers.emplace(lower_case(line.substr(0, colon)), value);
    if (!is_new && (found->first == "host" || found->first == "content-length")) return false;
  }
  return true;
}

bool is_own_host(const std::string& host, int port) {
  const std::array<const char*, 2> names{"127.0.0.1", "localhost"};
  return std::ranges::any_of(names, [&](const char* name) {
    return lower_case(host) == fmt::format("{}:{}", name, port) || (port == 80 && lower_case(host) == name);
  });
}

}  // namespace

Response refusal(int status, const std::string& why) {
  std::string text;
  for (const char c : why) {  // JSON
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : is_control(c) || static_cast<unsigned char>(c) > '~' ? '?' : c;
  }
  Response response{status, "application/json", fmt::format("{{\"error\": \"{}\"}}\n", text)};
  if (status == 405) response.headers.emplace_back("Allow", "GET");
  return response;
}

bool decode(std::string_view text, std::string& out) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return false;
    const char c = char(16 * digit(text[i + 1]) + digit(text[i + 2]));
    if (c == 0) return false;
    out += c;
    i += 2;
  }
  return true;
}

std::variant<Request, Response> read_request(std::string_view head, const Gate& gate) {
  const Response malformed = refusal(400, "the request is malformed");
  const std::size_t line_end = head.find("\r\n");
  if (!head.ends_with("\r\n\r\n") || line_end == std::string_view::npos) return malformed;
  const std::string_view line = head.substr(0, line_end);
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return malformed;
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || !is_visible(target) || (version != "HTTP/1.1" && version != "HTTP/1.0")) return malformed;
  std::map<std::string, std::string> headers;
  if (!read_headers(head.substr(line_end + 2, head.size() - line_end - 4), headers)) return malformed;
  if (method != "GET") return refusal(405, "only GET is answered");
  if (headers.contains("transfer-encoding")) return refusal(413, "a request has no body");
  if (const auto length = headers.find("content-length"); length != headers.end() && length->second != "0") {
    return refusal(413, "a request has no body");
  }
  if (!headers.contains("host")) return malformed;
  if (!is_own_host(headers["host"], gate.port)) return refusal(403, "this is not the host that was asked for");
  if (target.front() != '/') return malformed;

  const Response unknown = refusal(404, "not found");
  const std::size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  const std::size_t slash = std::min(path.find('/', 1), path.size());
  if (!same_secret(path.substr(1, slash - 1), gate.token)) return unknown;
  if (slash == path.size()) {  // without the slash, what the page asks for would be sought beside it
    Response redirect{308, "text/plain; charset=utf-8", ""};
    redirect.headers.emplace_back("Location", "/" + gate.token + "/");
    return redirect;
  }
  Request request{std::string(path.substr(slash)), {}};
  std::string why;
  if (!read_query(target.substr(std::min(question + 1, target.size())), request.query, why)) return refusal(400, why);
  return request;
}

std::string to_bytes(const Response& response) {
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n",
      response.status, reason_of(response.status), response.type, response.body.size(), response.policy);
  for (const auto& [name, value] : response.headers) {
    std::string line = name + ": " + value;
    // No value may begin another header.
    std::ranges::replace_if(
        line, [](char c) { return c < ' ' || c > '~'; }, ' ');
    out += line + "\r\n";
  }
  return out + "\r\n" + response.body;
}

std::string random_digits(std::size_t bytes) {
  std::array<unsigned char, 64> random{};
  bytes = std::min(bytes, random.size());
  if (getentropy(random.data(), bytes) != 0) throw Error(ExitCode::internal, "getrandom failed");
  std::string digits;
  for (std::size_t i = 0; i < bytes; ++i) digits += fmt::format("{:02x}", random[i]);
  return digits;
}

}  // namespace thor::io::web
