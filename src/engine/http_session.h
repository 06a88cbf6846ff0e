// What a VU keeps between its HTTP requests: cookies and open connections.
#pragma once

#include "protocol/cookie_jar.h"

namespace muster::engine {

class HttpConnection;

struct HttpSession {
  protocol::CookieJar cookies;
  HttpConnection* connections = nullptr;  // linked list, idle and busy; owned by the core's HttpClient
};

}  // namespace muster::engine
