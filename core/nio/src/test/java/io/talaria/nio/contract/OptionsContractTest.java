// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Socket options of channels and listeners. */
class OptionsContractTest extends Contract {
  OptionsContractTest(Variant variant) {
    super(variant);
  }

  private interface Check {
    void on(SocketChannel channel) throws Exception;
  }

  /** On a channel in each state: fresh, connected, accepted. */
  private void onEachState(Check check) throws Exception {
    check.on(client());
    Pair pair = pair();
    check.on(pair.client);
    check.on(pair.server);
  }

  private static void onOff(NetworkChannel channel, SocketOption<Boolean> option)
      throws IOException {
    for (boolean on : new boolean[] {true, false, true}) {
      channel.setOption(option, on);
      assertThat(channel.getOption(option)).as("%s", option).isEqualTo(on);
    }
  }

  /** Every option with its value, or what asking for it throws. */
  private static Map<String, Object> values(NetworkChannel channel) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (SocketOption<?> option : channel.supportedOptions()) {
      Throwable[] thrown = {null};
      Object[] value = {null};
      thrown[0] = catchThrowable(() -> value[0] = channel.getOption(option));
      values.put(option.name(), thrown[0] == null ? value[0] : thrown[0].getClass());
    }
    return values;
  }

  @Test
  void theSupportedOptionsAreTheJdks() throws Exception {
    try (SocketChannel jdk = JdkNio.provider().openSocketChannel();
        ServerSocketChannel jdkListener = JdkNio.provider().openServerSocketChannel()) {
      assertThat(client().supportedOptions()).isEqualTo(jdk.supportedOptions());
      assertThat(pair().server.supportedOptions()).isEqualTo(jdk.supportedOptions());
      assertThat(unbound().supportedOptions()).isEqualTo(jdkListener.supportedOptions());
    }
  }

  @Test
  void theSupportedOptionsAreTheSameAfterClose() throws Exception {
    SocketChannel channel = pair().client;
    var before = channel.supportedOptions();
    channel.close();
    assertThat(channel.supportedOptions()).isEqualTo(before);
    ServerSocketChannel listener = listener();
    var listeners = listener.supportedOptions();
    listener.close();
    assertThat(listener.supportedOptions()).isEqualTo(listeners);
  }

  @Test
  void theDefaultsOfAFreshChannelAreTheJdks() throws Exception {
    try (SocketChannel jdk = JdkNio.provider().openSocketChannel()) {
      assertThat(values(client())).isEqualTo(values(jdk));
    }
  }

  @Test
  void theDefaultsOfAConnectedChannelAreTheJdks() throws Exception {
    Pair pair = pair();
    Pair jdk = opened(Variant.JDK.pair());
    Map<String, Object> client = values(pair.client);
    Map<String, Object> server = values(pair.server);
    Map<String, Object> jdkClient = values(jdk.client);
    Map<String, Object> jdkServer = values(jdk.server);
    for (Map<String, Object> each : java.util.List.of(client, server, jdkClient, jdkServer)) {
      each.remove("SO_INCOMING_NAPI_ID"); // differs from one connection to the next
      each.remove("TCP_QUICKACK"); // changes by itself with what is sent
    }
    assertThat(client).isEqualTo(jdkClient);
    assertThat(server).isEqualTo(jdkServer);
  }

  @Test
  void theDefaultsOfAListenerAreTheJdks() throws Exception {
    try (ServerSocketChannel jdk = Pair.listen(JdkNio.provider())) {
      Map<String, Object> values = values(listener());
      Map<String, Object> expected = values(jdk);
      values.remove("SO_INCOMING_NAPI_ID");
      expected.remove("SO_INCOMING_NAPI_ID");
      assertThat(values).isEqualTo(expected);
    }
  }

  @Test
  void setOptionGivesTheChannelBack() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.setOption(StandardSocketOptions.TCP_NODELAY, true)).isSameAs(channel);
    ServerSocketChannel listener = unbound();
    assertThat(listener.setOption(StandardSocketOptions.SO_REUSEADDR, true)).isSameAs(listener);
  }

  @Test
  void noDelayIsKept() throws Exception {
    onEachState(channel -> onOff(channel, StandardSocketOptions.TCP_NODELAY));
  }

  @Test
  void keepAliveIsKept() throws Exception {
    onEachState(channel -> onOff(channel, StandardSocketOptions.SO_KEEPALIVE));
  }

  @Test
  void reuseAddressIsKept() throws Exception {
    onEachState(channel -> onOff(channel, StandardSocketOptions.SO_REUSEADDR));
  }

  @Test
  void reusePortIsKeptWhereItIs() throws Exception {
    onEachState(
        channel -> {
          if (channel.supportedOptions().contains(StandardSocketOptions.SO_REUSEPORT)) {
            onOff(channel, StandardSocketOptions.SO_REUSEPORT);
          }
        });
  }

  @Test
  void lingerIsKept() throws Exception {
    onEachState(
        channel -> {
          for (int seconds : new int[] {5, 0, -1, 100}) {
            channel.setOption(StandardSocketOptions.SO_LINGER, seconds);
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(seconds);
          }
          channel.setOption(StandardSocketOptions.SO_LINGER, -5);
          assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
        });
  }

  @Test
  void typeOfServiceIsKept() throws Exception {
    onEachState(
        channel -> {
          channel.setOption(StandardSocketOptions.IP_TOS, 0x10);
          assertThat(channel.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x10);
        });
  }

  @Test
  void bufferSizesAreAtLeastWhatWasAskedFor() throws Exception {
    onEachState(
        channel -> {
          channel.setOption(StandardSocketOptions.SO_SNDBUF, 20_000);
          channel.setOption(StandardSocketOptions.SO_RCVBUF, 30_000);
          assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF))
              .isGreaterThanOrEqualTo(20_000);
          assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF))
              .isGreaterThanOrEqualTo(30_000);
        });
  }

  @Test
  void bufferSizesOfZeroAreTaken() throws Exception {
    onEachState(
        channel -> {
          channel.setOption(StandardSocketOptions.SO_SNDBUF, 0);
          channel.setOption(StandardSocketOptions.SO_RCVBUF, 0);
          assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isPositive();
        });
  }

  @Test
  void negativeBufferSizesAreRefused() throws Exception {
    onEachState(
        channel -> {
          assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, -1))
              .isInstanceOf(IllegalArgumentException.class);
        });
  }

  @Test
  void aBadTypeOfServiceIsRefused() throws Exception {
    onEachState(
        channel ->
            assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_TOS, 256))
                .isInstanceOf(IllegalArgumentException.class));
  }

  @Test
  void noValueIsRefused() throws Exception {
    onEachState(
        channel -> {
          for (SocketOption<Boolean> option :
              java.util.List.of(
                  StandardSocketOptions.TCP_NODELAY, StandardSocketOptions.SO_KEEPALIVE)) {
            assertThatThrownBy(() -> channel.setOption(option, null))
                .as("%s", option)
                .isInstanceOf(IllegalArgumentException.class);
          }
          assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_LINGER, null))
              .isInstanceOf(IllegalArgumentException.class);
        });
  }

  @Test
  void aValueOfAnotherTypeIsRefused() throws Exception {
    onEachState(
        channel -> {
          for (SocketOption<?> option :
              java.util.List.of(
                  StandardSocketOptions.TCP_NODELAY,
                  StandardSocketOptions.SO_KEEPALIVE,
                  StandardSocketOptions.SO_LINGER,
                  StandardSocketOptions.SO_SNDBUF)) {
            assertThatThrownBy(() -> channel.setOption(untyped(option), "yes"))
                .as("%s", option)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Invalid value 'yes'");
          }
        });
  }

  @SuppressWarnings("unchecked") // As a program does that is not checked.
  private static SocketOption<Object> untyped(SocketOption<?> option) {
    return (SocketOption<Object>) option;
  }

  @Test
  void noOptionIsRefused() throws Exception {
    onEachState(
        channel -> {
          assertThatThrownBy(() -> channel.setOption(null, 1))
              .isInstanceOf(NullPointerException.class);
          assertThatThrownBy(() -> channel.getOption(null))
              .isInstanceOf(NullPointerException.class);
        });
  }

  @Test
  void optionsOfOtherKindsOfChannelsAreRefused() throws Exception {
    onEachState(
        channel -> {
          assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
              .isInstanceOf(UnsupportedOperationException.class);
          assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.SO_BROADCAST))
              .isInstanceOf(UnsupportedOperationException.class);
        });
  }

  @Test
  void optionsOfAListenerAreKept() throws Exception {
    for (ServerSocketChannel listener : new ServerSocketChannel[] {unbound(), listener()}) {
      onOff(listener, StandardSocketOptions.SO_REUSEADDR);
      listener.setOption(StandardSocketOptions.SO_RCVBUF, 30_000);
      assertThat(listener.getOption(StandardSocketOptions.SO_RCVBUF))
          .isGreaterThanOrEqualTo(30_000);
    }
  }

  @Test
  void aListenerRefusesOptionsOfConnections() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThatThrownBy(() -> listener.setOption(StandardSocketOptions.TCP_NODELAY, true))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> listener.getOption(StandardSocketOptions.SO_LINGER))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> listener.setOption(null, 1)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> listener.getOption(null)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void everyOptionOfAClosedChannelIsRefused() throws Exception {
    Pair pair = pair();
    pair.close();
    for (SocketOption<?> option : pair.client.supportedOptions()) {
      assertThatThrownBy(() -> pair.client.getOption(option))
          .as("%s", option)
          .isInstanceOf(ClosedChannelException.class);
      assertThatThrownBy(() -> pair.server.getOption(option))
          .as("%s", option)
          .isInstanceOf(ClosedChannelException.class);
    }
    assertThatThrownBy(() -> pair.client.setOption(StandardSocketOptions.TCP_NODELAY, true))
        .isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.setOption(StandardSocketOptions.SO_LINGER, 0))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void everyOptionOfAClosedListenerIsRefused() throws Exception {
    ServerSocketChannel listener = listener();
    listener.close();
    for (SocketOption<?> option : listener.supportedOptions()) {
      assertThatThrownBy(() -> listener.getOption(option))
          .as("%s", option)
          .isInstanceOf(ClosedChannelException.class);
    }
    assertThatThrownBy(() -> listener.setOption(StandardSocketOptions.SO_REUSEADDR, true))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  @SuppressWarnings("unchecked") // The value comes from the option itself.
  void everyOptionTakesBackTheValueItGave() throws Exception {
    onEachState(
        channel -> {
          for (SocketOption<?> each : channel.supportedOptions()) {
            SocketOption<Object> option = (SocketOption<Object>) each;
            Object[] value = {null};
            if (catchThrowable(() -> value[0] = channel.getOption(option)) == null
                && !option.name().equals("SO_INCOMING_NAPI_ID") // may only be asked
                && !option.name().equals("SO_SNDBUF") // Linux doubles them
                && !option.name().equals("SO_RCVBUF")) {
              channel.setOption(option, value[0]);
              assertThat(channel.getOption(option)).as(option.name()).isEqualTo(value[0]);
            }
          }
        });
  }

  @Test
  void optionsSetBeforeTheConnectHoldAfterIt() throws Exception {
    SocketChannel channel = client();
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    channel.setOption(StandardSocketOptions.SO_LINGER, 7);
    ServerSocketChannel listener = listener();
    channel.connect(listener.getLocalAddress());
    SocketChannel server = opened(listener.accept());
    channel.write(bytes(10, 1));
    assertThat(readFully(server, 10)).isEqualTo(bytes(10, 1));
    assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
    assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
    assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(7);
    assertThat(server.getOption(StandardSocketOptions.TCP_NODELAY)).isFalse();
    assertThat(server.getOption(StandardSocketOptions.SO_KEEPALIVE)).isFalse();
  }

  @Test
  void optionsMayBeSetFromSeveralThreads() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> Bytes.read(pair.client)).whenWaiting();
    pair.client.setOption(StandardSocketOptions.TCP_NODELAY, true);
    assertThat(pair.client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
    pair.server.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
  }

  @Test
  void reuseAddressLetsAPortBeBoundAgain() throws Exception {
    ServerSocketChannel first = listener();
    SocketChannel client = client();
    client.connect(first.getLocalAddress());
    SocketChannel server = opened(first.accept());
    InetSocketAddress address = (InetSocketAddress) first.getLocalAddress();
    first.close();
    server.close(); // the side that closes first keeps the port in TIME_WAIT
    client.close();
    ServerSocketChannel second = unbound();
    second.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    second.bind(address);
    assertThat(second.getLocalAddress()).isEqualTo(address);
  }

  @Test
  void whatCannotBeSetIsRefusedAlsoAfterClose() throws Exception {
    SocketChannel channel = pair().client;
    channel.close();
    assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessage("'IP_MULTICAST_TTL' not supported");
    assertThatThrownBy(() -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> channel.socket().setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.TCP_NODELAY, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Invalid value 'null'");
    assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.TCP_NODELAY, true))
        .isExactlyInstanceOf(ClosedChannelException.class);
  }
}
