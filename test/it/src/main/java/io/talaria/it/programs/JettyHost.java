// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

import io.talaria.it.kit.Blob;
import io.talaria.it.kit.Console;
import io.talaria.it.kit.Keys;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * A Jetty server for HTTP/1.1 and HTTP/2, on one port in the clear and on another with TLS. Answers
 * a request with its own body, {@code /make/SEED/BYTES} with a message made so, and says in {@code
 * x-remote} which connection the request came on. It closes that of {@code /close}.
 */
public final class JettyHost {
  private static final int IDLE_MS = 300_000;

  private JettyHost() {}

  /**
   * Runs the program.
   *
   * @param arguments keys=... a key store
   */
  public static void main(String[] arguments) {
    Console.run(
        arguments,
        args -> {
          Server server = new Server();
          ServerConnector clear = clear(server);
          ServerConnector tls = tls(server, Keys.load(Path.of(args.text("keys", ""))));
          server.addConnector(clear);
          server.addConnector(tls);
          server.setHandler(new Answer());
          server.start();
          Console.say("listening", "port", clear.getLocalPort(), "tls", tls.getLocalPort());
          Console.awaitCommand("shutdown");
          server.stop();
          Console.say("shut");
          Console.awaitEnd();
        });
  }

  private static ServerConnector clear(Server server) {
    HttpConfiguration http = new HttpConfiguration();
    return localOnly(
        new ServerConnector(
            server, new HttpConnectionFactory(http), new HTTP2CServerConnectionFactory(http)));
  }

  private static ServerConnector tls(Server server, Keys keys) throws Exception {
    HttpConfiguration http = new HttpConfiguration();
    http.addCustomizer(new SecureRequestCustomizer(false));
    SslContextFactory.Server context = new SslContextFactory.Server();
    context.setSslContext(keys.context());
    ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory("h2", "http/1.1");
    alpn.setDefaultProtocol("http/1.1");
    return localOnly(
        new ServerConnector(
            server,
            new SslConnectionFactory(context, alpn.getProtocol()),
            alpn,
            new HTTP2ServerConnectionFactory(http),
            new HttpConnectionFactory(http)));
  }

  private static ServerConnector localOnly(ServerConnector connector) {
    connector.setHost("127.0.0.1");
    connector.setIdleTimeout(IDLE_MS);
    return connector;
  }

  private static final class Answer extends Handler.Abstract {
    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      String path = Request.getPathInContext(request);
      byte[] body = BufferUtil.toArray(Content.Source.asByteBuffer(request));
      if (body.length > 0) {
        Blob.check(body);
      } else if (path.startsWith("/make/")) {
        String[] parts = path.split("/", -1);
        body = Blob.make(Long.parseLong(parts[2]), Integer.parseInt(parts[3]));
      } else if (path.startsWith("/close/")) {
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
      }
      response.getHeaders().put("x-path", path);
      response.getHeaders().put("x-remote", Integer.toString(Request.getRemotePort(request)));
      response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
      response.write(true, ByteBuffer.wrap(body), callback);
      return true;
    }
  }
}
