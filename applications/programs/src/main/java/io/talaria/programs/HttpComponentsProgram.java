// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.Message;
import org.apache.hc.core5.http.URIScheme;
import org.apache.hc.core5.http.impl.bootstrap.AsyncServerBootstrap;
import org.apache.hc.core5.http.impl.bootstrap.HttpAsyncServer;
import org.apache.hc.core5.http.nio.AsyncRequestConsumer;
import org.apache.hc.core5.http.nio.AsyncServerRequestHandler;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityConsumer;
import org.apache.hc.core5.http.nio.support.AsyncResponseBuilder;
import org.apache.hc.core5.http.nio.support.BasicRequestConsumer;
import org.apache.hc.core5.http.protocol.HttpContext;

/** HttpComponents: its asynchronous HTTP server and client, on selectors of their own. */
final class HttpComponentsProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    HttpAsyncServer server =
        AsyncServerBootstrap.bootstrap()
            .setCanonicalHostName("127.0.0.1")
            .register("/echo", new Echo())
            .create();
    server.start();
    InetSocketAddress address =
        (InetSocketAddress)
            server
                .listen(new InetSocketAddress("127.0.0.1", 0), URIScheme.HTTP)
                .get(PATIENCE_S, TimeUnit.SECONDS)
                .getAddress();
    return address.getPort();
  }

  @Override
  public Guest connect(int port) {
    CloseableHttpAsyncClient client = HttpAsyncClients.createDefault();
    client.start();
    return message -> {
      SimpleHttpRequest request =
          SimpleRequestBuilder.post("http://127.0.0.1:" + port + "/echo")
              .setBody(message, ContentType.APPLICATION_OCTET_STREAM)
              .build();
      return client.execute(request, null).get(PATIENCE_S, TimeUnit.SECONDS).getBodyBytes();
    };
  }

  private static final class Echo
      implements AsyncServerRequestHandler<Message<HttpRequest, byte[]>> {
    @Override
    public AsyncRequestConsumer<Message<HttpRequest, byte[]>> prepare(
        HttpRequest request, EntityDetails body, HttpContext context) {
      return new BasicRequestConsumer<>(new BasicAsyncEntityConsumer());
    }

    @Override
    public void handle(
        Message<HttpRequest, byte[]> request, ResponseTrigger response, HttpContext context)
        throws HttpException, IOException {
      response.submitResponse(
          AsyncResponseBuilder.create(200)
              .setEntity(request.getBody(), ContentType.APPLICATION_OCTET_STREAM)
              .build(),
          context);
    }
  }
}
