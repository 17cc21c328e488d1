// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import io.undertow.Undertow;
import io.undertow.server.handlers.BlockingHandler;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** Undertow: a blocking handler behind its HTTP listener. */
final class UndertowProgram implements ThirdParty {
  @Override
  public int serve(Path folder) {
    Undertow undertow =
        Undertow.builder()
            .addHttpListener(0, "127.0.0.1")
            .setHandler(
                new BlockingHandler(
                    exchange -> {
                      byte[] body = exchange.getInputStream().readAllBytes();
                      exchange.setResponseContentLength(body.length);
                      exchange.getOutputStream().write(body);
                    }))
            .build();
    undertow.start();
    return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
  }

  @Override
  public Guest connect(int port) {
    return new HttpGuest(port);
  }
}
