// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.nio.file.Path;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.http.server.Request;
import org.glassfish.grizzly.http.server.Response;

/** Grizzly: a handler of its HTTP server. */
final class GrizzlyProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    NetworkListener listener = new NetworkListener("echo", "127.0.0.1", 0);
    listener.getKeepAlive().setMaxRequestsCount(-1);
    HttpServer server = new HttpServer();
    server.addListener(listener);
    server.getServerConfiguration().addHttpHandler(new Echo(), "/echo");
    server.start();
    return listener.getPort();
  }

  @Override
  public Guest connect(int port) {
    return new HttpGuest(port);
  }

  private static final class Echo extends HttpHandler {
    @Override
    public void service(Request request, Response response) throws Exception {
      byte[] body = request.getInputStream().readAllBytes();
      response.setContentLength(body.length);
      response.getOutputStream().write(body);
    }
  }
}
