// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;

/**
 * SOCKS proxies, which the JDK's own sockets use by themselves where the program's {@code
 * ProxySelector} names one. The sockets here cannot, and say so rather than go around it.
 */
final class SocksProxies {
  /** Set while a thread is in the selector: what that connects by itself goes directly. */
  private static final ThreadLocal<Boolean> IN_SELECTOR = new ThreadLocal<>();

  private SocksProxies() {}

  static void refuse(InetSocketAddress to) throws IOException {
    ProxySelector selector = Privileged.get(ProxySelector::getDefault);
    if (selector == null || IN_SELECTOR.get() != null) {
      return;
    }
    URI uri;
    try {
      uri = new URI("socket", null, to.getHostString(), to.getPort(), null, null, null);
    } catch (URISyntaxException e) {
      return; // the JDK takes the direct way, too
    }
    List<Proxy> proxies;
    IN_SELECTOR.set(true);
    try {
      proxies = selector.select(uri);
    } catch (IllegalArgumentException e) {
      throw new IOException("Failed to select a proxy", e);
    } finally {
      IN_SELECTOR.remove();
    }
    for (Proxy proxy : proxies) {
      if (proxy == null || proxy.type() != Proxy.Type.SOCKS) {
        return;
      }
      throw new SocketException(
          "talaria.sockets does not go with a SOCKS proxy, which the ProxySelector of this program"
              + " names for "
              + to
              + ": leave talaria.sockets out");
    }
  }
}
