// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code socket()} of a channel gives: the {@code java.net} view of it. */
class SocketContractTest extends Contract {
  private static final int TIMEOUT_MS = 30;
  private static final int JAVA = Runtime.version().feature();

  private final InetAddress loopback = Pair.LOOPBACK;
  private ServerSocketChannel listener;
  private SocketChannel channel;
  private Socket socket;

  SocketContractTest(Variant variant) {
    super(variant);
  }

  @BeforeEach
  void open() throws IOException {
    listener = listener();
    channel = client();
    socket = channel.socket();
  }

  private InetSocketAddress listenerAddress() throws IOException {
    return (InetSocketAddress) listener.getLocalAddress();
  }

  private SocketChannel connect() throws IOException {
    socket.connect(listenerAddress());
    SocketChannel peer = opened(listener.accept());
    variant.settle(channel, peer);
    return peer;
  }

  // States

  @Test
  void aFreshSocketIsNeitherBoundNorConnected() throws Exception {
    assertThat(socket.isBound()).isFalse();
    assertThat(socket.isConnected()).isFalse();
    assertThat(socket.isClosed()).isFalse();
    assertThat(socket.isInputShutdown()).isFalse();
    assertThat(socket.isOutputShutdown()).isFalse();
    assertThat(socket.getInetAddress()).isNull();
    assertThat(socket.getPort()).isZero();
    assertThat(socket.getLocalPort()).isEqualTo(-1);
    assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
    assertThat(socket.getRemoteSocketAddress()).isNull();
    assertThat(socket.getLocalSocketAddress()).isNull();
    assertThat(socket.getChannel()).isSameAs(channel);
    assertThat(socket).hasToString("Socket[unconnected]");
    assertThat(socket.getSoTimeout()).isZero();
  }

  @Test
  void aBoundSocketKnowsItsAddress() throws Exception {
    socket.bind(new InetSocketAddress(loopback, 0));
    assertThat(socket.isBound()).isTrue();
    assertThat(socket.getLocalAddress()).isEqualTo(loopback);
    assertThat(socket.getLocalPort()).isPositive();
    assertThat(socket.getLocalSocketAddress())
        .isEqualTo(new InetSocketAddress(loopback, socket.getLocalPort()));
    assertThat(socket.getRemoteSocketAddress()).isNull();
  }

  @Test
  void bindingToNothingTakesAnEphemeralPort() throws Exception {
    socket.bind(null);
    assertThat(socket.getLocalPort()).isPositive();
    assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
  }

  @Test
  void bindingGoesWrongInTheWordsOfSockets() throws Exception {
    socket.bind(null);
    assertThatThrownBy(() -> socket.bind(null))
        .isInstanceOf(SocketException.class)
        .hasMessage("Already bound");
    SocketChannel other = client();
    Socket otherSocket = other.socket();
    assertThatThrownBy(
            () -> otherSocket.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Unresolved address");
    otherSocket.close();
    assertThatThrownBy(() -> otherSocket.bind(null)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aConnectedSocketKnowsBothAddressesAlsoAfterClose() throws Exception {
    SocketChannel peer = connect();
    int localPort = ((InetSocketAddress) peer.getRemoteAddress()).getPort();
    int port = listenerAddress().getPort();
    assertThat(socket.isConnected()).isTrue();
    assertThat(socket.isBound()).isTrue();
    assertThat(socket.getInetAddress()).isEqualTo(loopback);
    assertThat(socket.getPort()).isEqualTo(port);
    assertThat(socket.getLocalPort()).isEqualTo(localPort);
    assertThat(socket.getLocalAddress()).isEqualTo(loopback);
    String text = "Socket[addr=" + loopback + ",port=" + port + ",localport=" + localPort + "]";
    assertThat(socket.toString().replace("addr=/", "addr=localhost/")).isEqualTo(text);

    socket.close();

    assertThat(socket.isClosed()).isTrue();
    assertThat(channel.isOpen()).isFalse();
    assertThat(socket.isBound()).isTrue();
    assertThat(socket.getInetAddress()).isEqualTo(loopback);
    assertThat(socket.getPort()).isEqualTo(port);
    assertThat(socket.getLocalPort()).isEqualTo(localPort);
    assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
    assertThat(socket.getRemoteSocketAddress()).isEqualTo(new InetSocketAddress(loopback, port));
  }

  // Connecting

  @Test
  void connectingWithATimeoutWorks() throws Exception {
    socket.connect(listenerAddress(), 10_000);
    assertThat(socket.isConnected()).isTrue();
    assertThat(channel.isBlocking()).isTrue();
  }

  @Test
  void connectingToNobodyFailsAndCloses() throws Exception {
    InetSocketAddress nobody = listenerAddress();
    listener.close();
    assertThatThrownBy(() -> socket.connect(nobody))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Connection refused");
    assertThat(socket.isClosed()).isTrue();
  }

  @Test
  void badArgumentsOfConnectAreRefused() {
    assertThatThrownBy(() -> socket.connect(null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("connect: The address can't be null");
    assertThatThrownBy(() -> socket.connect(listenerAddress(), -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("connect: timeout can't be negative");
    assertThat(socket.isClosed()).isFalse();
  }

  @Test
  void connectingToAnUnresolvedHostFails() {
    assertThatThrownBy(
            () -> socket.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
        .isInstanceOf(UnknownHostException.class);
  }

  @Test
  void connectingTwiceFails() throws Exception {
    connect();
    Throwable thrown = catchThrowable(() -> socket.connect(listenerAddress()));
    if (JAVA > 17) {
      assertThat(thrown).isInstanceOf(SocketException.class).hasMessage("Already connected");
    } else {
      assertThat(thrown).isInstanceOfAny(SocketException.class, IllegalStateException.class);
    }
    assertThat(socket.isClosed()).isFalse();
  }

  @Test
  void connectingAClosedSocketFails() throws Exception {
    socket.close();
    for (int timeout : new int[] {0, 1000}) {
      assertThatThrownBy(() -> socket.connect(listenerAddress(), timeout))
          .isExactlyInstanceOf(AsynchronousCloseException.class);
    }
  }

  @Test
  void connectingIsForBlockingChannels() throws Exception {
    channel.configureBlocking(false);
    assertThatThrownBy(() -> socket.connect(listenerAddress()))
        .isInstanceOf(IllegalBlockingModeException.class);
    assertThatThrownBy(() -> socket.connect(listenerAddress(), 1000))
        .isInstanceOf(IllegalBlockingModeException.class);
    assertThat(socket.isClosed()).isFalse();
  }

  // Streams

  @Test
  void bytesTravelBothWays() throws Exception {
    SocketChannel peer = connect();
    OutputStream out = socket.getOutputStream();
    InputStream in = socket.getInputStream();
    out.write('T');
    out.write("xalariax".getBytes(StandardCharsets.US_ASCII), 1, 6);
    out.write(new byte[0]);
    ByteBuffer got = ByteBuffer.allocate(7);
    while (got.hasRemaining()) {
      assertThat(peer.read(got)).isPositive();
    }
    assertThat(new String(got.array(), StandardCharsets.US_ASCII)).isEqualTo("Talaria");

    peer.write(ByteBuffer.wrap(new byte[] {-1, 2, 3, 4}));
    assertThat(in.read()).isEqualTo(255);
    byte[] rest = new byte[5];
    assertThat(in.readNBytes(rest, 1, 3)).isEqualTo(3);
    assertThat(rest).containsExactly(0, 2, 3, 4, 0);
    assertThat(in.read(rest, 0, 0)).isZero();
    peer.close();
    assertThat(in.read()).isEqualTo(-1);
    assertThat(in.read(rest)).isEqualTo(-1);
  }

  @Test
  void availableSaysWhatIsThere() throws Exception {
    SocketChannel peer = connect();
    InputStream in = socket.getInputStream();
    assertThat(in.available()).isZero();
    peer.write(ByteBuffer.allocate(5));
    assertThat(in.read()).isZero();
    assertThat(in.available()).isEqualTo(4);
    socket.shutdownInput();
    assertThat(in.available()).isZero();
    socket.close();
    assertThatThrownBy(in::available).isInstanceOf(IOException.class);
  }

  @Test
  void badRangesAreRefused() throws Exception {
    connect();
    byte[] bytes = new byte[4];
    assertThatThrownBy(() -> socket.getInputStream().read(bytes, 2, 3))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> socket.getOutputStream().write(bytes, -1, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aReadThatLastsTooLongEndsInATimeoutAndCanBeRepeated() throws Exception {
    SocketChannel peer = connect();
    InputStream in = socket.getInputStream();
    socket.setSoTimeout(TIMEOUT_MS);
    assertThat(socket.getSoTimeout()).isEqualTo(TIMEOUT_MS);
    for (int i = 0; i < 2; i++) {
      long start = System.nanoTime();
      assertThatThrownBy(in::read)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Read timed out");
      assertThat(System.nanoTime() - start)
          .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
    }
    peer.write(ByteBuffer.wrap(new byte[] {7}));
    assertThat(in.read()).isEqualTo(7);
  }

  @Test
  void largeWritesAreWholeAlsoWhenSeveralThreadsWrite() throws Exception {
    SocketChannel peer = connect();
    OutputStream out = socket.getOutputStream();
    int writers = 4;
    int lengthBytes = 3_000_000;
    List<Doing<Void>> writing = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      byte[] bytes = new byte[lengthBytes];
      Arrays.fill(bytes, (byte) i);
      writing.add(
          Doing.start(
              () -> {
                out.write(bytes);
                return null;
              }));
    }
    ByteBuffer got = ByteBuffer.allocate(writers * lengthBytes);
    while (got.hasRemaining()) {
      assertThat(peer.read(got)).isPositive();
    }
    for (Doing<Void> one : writing) {
      one.result();
    }
    for (int part = 0; part < writers; part++) {
      byte first = got.get(part * lengthBytes);
      for (int i = 0; i < lengthBytes; i++) {
        if (got.get(part * lengthBytes + i) != first) {
          throw new AssertionError("writes were mixed at " + i + " of part " + part);
        }
      }
    }
  }

  @Test
  void streamsNeedAConnection() throws Exception {
    assertThatThrownBy(socket::getInputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is not connected");
    assertThatThrownBy(socket::getOutputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is not connected");
    socket.close();
    assertThatThrownBy(socket::getInputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
    assertThatThrownBy(socket::getOutputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
  }

  @Test
  void streamsAreForBlockingChannels() throws Exception {
    connect();
    InputStream in = socket.getInputStream();
    OutputStream out = socket.getOutputStream();
    channel.configureBlocking(false);
    assertThatThrownBy(in::read).isInstanceOf(IllegalBlockingModeException.class);
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(IllegalBlockingModeException.class);
    socket.setSoTimeout(1000);
    assertThatThrownBy(in::read).isInstanceOf(IllegalBlockingModeException.class);
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(IllegalBlockingModeException.class);
  }

  @Test
  void closingAStreamClosesTheSocket() throws Exception {
    connect();
    InputStream in = socket.getInputStream();
    OutputStream out = socket.getOutputStream();
    in.close();
    assertThat(socket.isClosed()).isTrue();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(IOException.class);
    out.close();
  }

  @Test
  void closingEndsAReadOfAnotherThread() throws Exception {
    connect();
    for (int timeout : new int[] {0, 30_000}) {
      SocketChannel mine = client();
      mine.connect(listenerAddress());
      Socket other = mine.socket();
      other.setSoTimeout(timeout);
      InputStream in = other.getInputStream();
      Doing<Integer> reading = Doing.start(in::read).whenWaiting();
      other.close();
      assertThat(reading.failure()).isInstanceOf(IOException.class);
    }
  }

  // Shutting down

  @Test
  void shuttingDownTheInputEndsReading() throws Exception {
    connect();
    InputStream in = socket.getInputStream();
    socket.shutdownInput();
    assertThat(socket.isInputShutdown()).isTrue();
    assertThat(socket.isOutputShutdown()).isFalse();
    assertThat(in.read()).isEqualTo(-1);
    assertThatThrownBy(socket::getInputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket input is shutdown");
    socket.getOutputStream().write(1);
  }

  @Test
  void shuttingDownTheOutputEndsWriting() throws Exception {
    SocketChannel peer = connect();
    OutputStream out = socket.getOutputStream();
    socket.shutdownOutput();
    assertThat(socket.isOutputShutdown()).isTrue();
    assertThat(socket.isInputShutdown()).isFalse();
    assertThat(peer.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    assertThatThrownBy(() -> out.write(1)).isInstanceOf(IOException.class);
    assertThatThrownBy(socket::getOutputStream)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket output is shutdown");
  }

  @Test
  void shuttingDownTheOutputUnderAWriteThatHasBegunIsABrokenPipe() throws Exception {
    connect();
    OutputStream out = socket.getOutputStream();
    Doing<Void> writer =
        Doing.start(
            () -> {
              out.write(new byte[64 << 20]);
              return null;
            });
    writer.whenWaiting();
    socket.shutdownOutput();
    assertThat(writer.failure()).isExactlyInstanceOf(IOException.class).hasMessage("Broken pipe");
  }

  @Test
  void shuttingDownNeedsAConnection() throws Exception {
    assertThatThrownBy(socket::shutdownInput)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is not connected")
        .hasCauseInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(socket::shutdownOutput)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is not connected");
    socket.close();
    assertThatThrownBy(socket::shutdownInput).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(socket::shutdownOutput).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void closedWithoutShutdownIsNotShutDown() throws Exception {
    connect();
    socket.close();
    assertThat(socket.isInputShutdown()).isFalse();
    assertThat(socket.isOutputShutdown()).isFalse();
  }

  // Options

  @Test
  void optionsAreTheChannels() throws Exception {
    for (boolean on : new boolean[] {true, false}) {
      socket.setTcpNoDelay(on);
      assertThat(socket.getTcpNoDelay()).isEqualTo(on);
      assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isEqualTo(on);
      socket.setKeepAlive(on);
      assertThat(socket.getKeepAlive()).isEqualTo(on);
      socket.setReuseAddress(on);
      assertThat(socket.getReuseAddress()).isEqualTo(on);
      socket.setOOBInline(on);
      assertThat(socket.getOOBInline()).isEqualTo(on);
    }
    socket.setSoLinger(true, 5);
    assertThat(socket.getSoLinger()).isEqualTo(5);
    socket.setSoLinger(false, 5);
    assertThat(socket.getSoLinger()).isEqualTo(-1);
    socket.setTrafficClass(0x10);
    assertThat(socket.getTrafficClass()).isEqualTo(0x10);
    socket.setSendBufferSize(20_000);
    assertThat(socket.getSendBufferSize())
        .isEqualTo(channel.getOption(StandardSocketOptions.SO_SNDBUF))
        .isGreaterThanOrEqualTo(20_000);
    socket.setReceiveBufferSize(20_000);
    assertThat(socket.getReceiveBufferSize())
        .isEqualTo(channel.getOption(StandardSocketOptions.SO_RCVBUF))
        .isGreaterThanOrEqualTo(20_000);
    socket.setPerformancePreferences(1, 2, 3);
    assertThat(socket.setOption(StandardSocketOptions.TCP_NODELAY, true)).isSameAs(socket);
    assertThat(socket.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
    assertThat(socket.supportedOptions()).isEqualTo(channel.supportedOptions());
  }

  @Test
  void badOptionsAreRefused() throws Exception {
    assertThatThrownBy(() -> socket.setSendBufferSize(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Invalid send size");
    assertThatThrownBy(() -> socket.setReceiveBufferSize(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Invalid receive size");
    assertThatThrownBy(() -> socket.setSoTimeout(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("timeout");
    assertThatThrownBy(() -> socket.setTrafficClass(256))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> socket.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void optionsOfAClosedSocketFailInTheWordsOfSockets() throws Exception {
    socket.close();
    assertThatThrownBy(() -> socket.setTcpNoDelay(true))
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
    assertThatThrownBy(socket::getTcpNoDelay)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
    assertThatThrownBy(socket::getSoLinger).isInstanceOf(SocketException.class);
    assertThatThrownBy(() -> socket.setSoTimeout(1))
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
    assertThatThrownBy(socket::getSoTimeout).isInstanceOf(SocketException.class);
    assertThatThrownBy(() -> socket.setOption(StandardSocketOptions.TCP_NODELAY, true))
        .isInstanceOf(ClosedChannelException.class);
  }

  // Server sockets

  private ServerSocket fresh() throws IOException {
    return opened(unbound().socket());
  }

  @Test
  void aFreshServerSocketIsNotBound() throws Exception {
    ServerSocket server = fresh();
    assertThat(server.isBound()).isFalse();
    assertThat(server.isClosed()).isFalse();
    assertThat(server.getInetAddress()).isNull();
    assertThat(server.getLocalPort()).isEqualTo(-1);
    assertThat(server.getLocalSocketAddress()).isNull();
    assertThat(server).hasToString("ServerSocket[unbound]");
    assertThatThrownBy(server::accept)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is not bound yet");
  }

  @Test
  void aBoundServerSocketKnowsItsAddressAlsoAfterClose() throws Exception {
    ServerSocket server = fresh();
    server.bind(new InetSocketAddress(loopback, 0));
    int port = server.getLocalPort();
    assertThat(server.isBound()).isTrue();
    assertThat(port).isPositive();
    assertThat(server.getInetAddress()).isEqualTo(loopback);
    assertThat(server.toString().replace("addr=/", "addr=localhost/"))
        .isEqualTo("ServerSocket[addr=" + loopback + ",localport=" + port + "]");
    assertThatThrownBy(() -> server.bind(null))
        .isInstanceOf(SocketException.class)
        .hasMessage("Already bound");
    server.close();
    assertThat(server.isClosed()).isTrue();
    assertThat(server.isBound()).isTrue();
    assertThat(server.getLocalPort()).isEqualTo(port);
  }

  @Test
  void bindingAServerSocketToNothingTakesAnEphemeralPort() throws Exception {
    ServerSocket server = fresh();
    server.bind(null, 3);
    assertThat(server.getLocalPort()).isPositive();
    assertThat(server.getInetAddress().isAnyLocalAddress()).isTrue();
  }

  @Test
  void acceptingGivesTheSocketOfTheNewChannel() throws Exception {
    ServerSocket server = listener.socket();
    for (int timeout : new int[] {0, 10_000}) {
      server.setSoTimeout(timeout);
      assertThat(server.getSoTimeout()).isEqualTo(timeout);
      SocketChannel client = client();
      client.connect(listenerAddress());
      Socket accepted = opened(server.accept());
      assertThat(accepted.getPort())
          .isEqualTo(((InetSocketAddress) client.getLocalAddress()).getPort());
      assertThat(accepted.getChannel().isBlocking()).isTrue();
    }
  }

  @Test
  void anAcceptThatLastsTooLongEndsInATimeout() throws Exception {
    ServerSocket server = listener.socket();
    server.setSoTimeout(TIMEOUT_MS);
    long start = System.nanoTime();
    assertThatThrownBy(server::accept)
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("Accept timed out");
    assertThat(System.nanoTime() - start)
        .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
  }

  @Test
  void acceptingOnAChannelThatDoesNotBlockTakesWhatIsThere() throws Exception {
    ServerSocket server = listener.socket();
    listener.configureBlocking(false);
    assertThatThrownBy(server::accept).isInstanceOf(IllegalBlockingModeException.class);
    server.setSoTimeout(1000);
    assertThatThrownBy(server::accept).isInstanceOf(IllegalBlockingModeException.class);
  }

  @Test
  void optionsOfServerSocketsAreTheChannels() throws Exception {
    ServerSocket server = fresh();
    server.setReuseAddress(false);
    assertThat(server.getReuseAddress()).isFalse();
    server.setReceiveBufferSize(30_000);
    assertThat(server.getReceiveBufferSize()).isGreaterThanOrEqualTo(30_000);
    assertThatThrownBy(() -> server.setReceiveBufferSize(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("size cannot be 0 or negative");
    assertThatThrownBy(() -> server.setSoTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(server.setOption(StandardSocketOptions.SO_REUSEADDR, true)).isSameAs(server);
    assertThat(server.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
    assertThat(server.supportedOptions()).isEqualTo(server.getChannel().supportedOptions());
    server.close();
    assertThatThrownBy(server::getReuseAddress)
        .isInstanceOf(SocketException.class)
        .hasMessage("Socket is closed");
    assertThatThrownBy(() -> server.setSoTimeout(1)).isInstanceOf(SocketException.class);
    assertThatThrownBy(server::accept).isInstanceOf(ClosedChannelException.class);
  }

  // More of it

  @Test
  void theSocketOfAChannelIsAlwaysTheSame() throws Exception {
    assertThat(channel.socket()).isSameAs(socket);
    assertThat(listener.socket()).isSameAs(listener.socket());
    assertThat(listener.socket().getChannel()).isSameAs(listener);
    connect();
    assertThat(channel.socket()).isSameAs(socket);
  }

  @Test
  void aConnectWithoutAnAnswerEndsInATimeoutAndCloses() throws Exception {
    java.net.SocketAddress silent = silent();
    long start = System.nanoTime();
    assertThatThrownBy(() -> socket.connect(silent, TIMEOUT_MS))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("Connect timed out");
    assertThat(System.nanoTime() - start)
        .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
    assertThat(socket.isClosed()).isTrue();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void anInterruptEndsAReadOfAStreamAndClosesTheChannel() throws Exception {
    connect();
    InputStream in = socket.getInputStream();
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    reading.interrupt();
    assertThat(reading.failure()).isInstanceOf(IOException.class);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aTimedReadTakesWhatComesInTime() throws Exception {
    SocketChannel peer = connect();
    socket.setSoTimeout(20_000);
    InputStream in = socket.getInputStream();
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    peer.write(ByteBuffer.wrap(new byte[] {9}));
    assertThat(reading.result()).isEqualTo(9);
    Doing<Integer> last = Doing.start(in::read).whenWaiting();
    peer.close();
    assertThat(last.result()).isEqualTo(-1);
  }

  @Test
  void aTimedReadSeesAReset() throws Exception {
    SocketChannel peer = connect();
    socket.setSoTimeout(20_000);
    peer.setOption(StandardSocketOptions.SO_LINGER, 0);
    peer.close();
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void theTimeoutOfTheSocketIsNotTheChannels() throws Exception {
    SocketChannel peer = connect();
    socket.setSoTimeout(1);
    Doing<Integer> reading = Doing.start(() -> Bytes.read(channel)).whenWaiting();
    peer.write(ByteBuffer.allocate(1));
    assertThat(reading.result()).isEqualTo(1);
  }

  @Test
  void shutdownInputEndsAReadOfTheStreamInProgress() throws Exception {
    connect();
    InputStream in = socket.getInputStream();
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    socket.shutdownInput();
    assertThat(reading.result()).isEqualTo(-1);
  }

  @Test
  void aStreamAndTheChannelReadFromOneConnection() throws Exception {
    SocketChannel peer = connect();
    peer.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
    InputStream in = socket.getInputStream();
    assertThat(in.read()).isEqualTo(1);
    ByteBuffer one = ByteBuffer.allocate(1);
    assertThat(channel.read(one)).isEqualTo(1);
    assertThat(one.get(0)).isEqualTo((byte) 2);
    assertThat(in.read()).isEqualTo(3);
  }

  @Test
  void aStreamReadsWhileAnotherThreadWritesToOne() throws Exception {
    SocketChannel peer = connect();
    InputStream in = socket.getInputStream();
    Doing<Integer> reading = Doing.start(in::read).whenWaiting();
    socket.getOutputStream().write(new byte[100]);
    Bytes.readFully(peer, 100);
    peer.write(ByteBuffer.wrap(new byte[] {7}));
    assertThat(reading.result()).isEqualTo(7);
  }

  @Test
  void theAcceptedSocketSpeaksWithTheClientsSocket() throws Exception {
    Doing<Socket> accepting = Doing.start(() -> listener.socket().accept()).whenWaiting();
    socket.connect(listenerAddress());
    Socket accepted = opened(accepting.result());
    accepted.getOutputStream().write(new byte[] {5, 6});
    assertThat(socket.getInputStream().readNBytes(2)).containsExactly(5, 6);
    assertThat(accepted.getRemoteSocketAddress()).isEqualTo(socket.getLocalSocketAddress());
    assertThat(accepted.getLocalSocketAddress()).isEqualTo(socket.getRemoteSocketAddress());
    assertThat(accepted.getChannel().socket()).isSameAs(accepted);
  }

  @Test
  void closingAServerSocketEndsItsAccept() throws Exception {
    Doing<Socket> accepting = Doing.start(() -> listener.socket().accept()).whenWaiting();
    listener.socket().close();
    assertThat(accepting.failure()).isInstanceOf(IOException.class);
    assertThat(listener.isOpen()).isFalse();
  }

  @Test
  void closingAServerSocketEndsATimedAccept() throws Exception {
    listener.socket().setSoTimeout(20_000);
    Doing<Socket> accepting = Doing.start(() -> listener.socket().accept()).whenWaiting();
    listener.socket().close();
    assertThat(accepting.failure()).isInstanceOf(IOException.class);
  }

  @Test
  void aTimedAcceptTakesWhatComesInTime() throws Exception {
    listener.socket().setSoTimeout(20_000);
    Doing<Socket> accepting = Doing.start(() -> listener.socket().accept()).whenWaiting();
    socket.connect(listenerAddress());
    assertThat(opened(accepting.result()).isConnected()).isTrue();
  }

  @Test
  void aPendingConnectionOfTheChannelIsNotAConnectedSocket() throws Exception {
    java.net.SocketAddress silent = silent();
    channel.configureBlocking(false);
    channel.connect(silent);
    assertThat(socket.isConnected()).isFalse();
    assertThat(socket.isClosed()).isFalse();
    assertThat(socket.getPort()).isEqualTo(port(silent));
    assertThat(socket.getRemoteSocketAddress()).isEqualTo(silent);
    assertThat(socket.getInetAddress()).isEqualTo(loopback);
  }

  @Test
  void aRefusedSocketStillKnowsWhomItAsked() throws Exception {
    InetSocketAddress nobody = (InetSocketAddress) nobody();
    assertThatThrownBy(() -> socket.connect(nobody)).isInstanceOf(ConnectException.class);
    assertThat(socket.isConnected()).isFalse();
    assertThat(socket.isClosed()).isTrue();
    assertThat(socket.getPort()).isEqualTo(nobody.getPort());
    assertThat(socket.getRemoteSocketAddress()).isEqualTo(nobody);
  }
}
