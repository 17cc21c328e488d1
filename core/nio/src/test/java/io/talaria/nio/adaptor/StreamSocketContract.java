// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What {@code java.net.Socket} and {@code ServerSocket} do, whatever implements them. Run over the
 * JDK's own implementation too, on the same Java.
 */
@Timeout(90)
abstract class StreamSocketContract {
  private static final int TIMEOUT_MS = 150;
  private static final int WHILE_MS = 150;
  private static final long LIMIT_S = 40;
  private static final int CALM_LOOKS = 3;
  private static final int BACKLOG = 1;

  private final InetAddress loopback = InetAddress.getLoopbackAddress();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private ServerSocket listener;
  private Socket client;
  private Socket served;

  abstract Socket newSocket() throws IOException;

  abstract ServerSocket newServerSocket() throws IOException;

  /** Uses a connection until it has taken the transport it will take. */
  abstract void settle(Socket one, Socket other) throws Exception;

  @BeforeEach
  void open() throws Exception {
    listener = opened(newServerSocket());
    listener.bind(new InetSocketAddress(loopback, 0), 5);
    client = opened(newSocket());
    client.connect(listener.getLocalSocketAddress());
    served = opened(listener.accept());
    settle(client, served);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : opened) {
      one.close();
    }
  }

  final <T extends AutoCloseable> T opened(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  /** Something done by a thread of its own. */
  private static final class Job<T> {
    final FutureTask<T> task;
    final Thread thread;

    Job(Callable<T> work, boolean virtual) throws Exception {
      task = new FutureTask<>(work);
      if (virtual) {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, task);
      } else {
        thread = new Thread(task);
      }
      thread.setDaemon(true);
      thread.start();
    }

    T get() throws Exception {
      return task.get(LIMIT_S, TimeUnit.SECONDS);
    }

    /** Checks that it waits, once it has come to its call, and still does so a while later. */
    Job<T> assertGoesOn() throws Exception {
      long start = System.nanoTime();
      for (int calm = 0; calm < CALM_LOOKS && !task.isDone(); ) {
        assertThat(System.nanoTime() - start)
            .as("ns, and does not come to wait")
            .isLessThan(TimeUnit.SECONDS.toNanos(LIMIT_S));
        calm = waits() ? calm + 1 : 0;
        Thread.sleep(1);
      }
      assertThatThrownBy(() -> task.get(WHILE_MS, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      return this;
    }

    /** Whether it is parked, at a monitor, or in a system call of NIO or a doorbell. */
    private boolean waits() {
      switch (thread.getState()) {
        case WAITING, TIMED_WAITING, BLOCKED -> {
          return true;
        }
        default -> {
          StackTraceElement[] stack = thread.getStackTrace();
          return stack.length > 0
              && stack[0].isNativeMethod()
              && (stack[0].getClassName().startsWith("sun.nio.ch.")
                  || stack[0].getClassName().equals("java.io.FileInputStream"));
        }
      }
    }
  }

  private static <T> Job<T> start(Callable<T> work) throws Exception {
    return new Job<>(work, false);
  }

  private static <T> Job<T> startVirtual(Callable<T> work) throws Exception {
    assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
    return new Job<>(work, true);
  }

  private static void assertClosed(Throwable thrown) {
    assertThat(thrown).isInstanceOf(SocketException.class);
    assertThat(thrown.getMessage()).isEqualTo("Socket closed");
  }

  // ---- states and addresses

  @Test
  void aFreshSocketIsNeitherBoundNorConnected() throws Exception {
    Socket fresh = opened(newSocket());
    assertThat(fresh.isBound()).isFalse();
    assertThat(fresh.isConnected()).isFalse();
    assertThat(fresh.isClosed()).isFalse();
    assertThat(fresh.getInetAddress()).isNull();
    assertThat(fresh.getPort()).isZero();
    assertThat(fresh.getLocalPort()).isEqualTo(-1);
    assertThat(fresh.getLocalAddress().isAnyLocalAddress()).isTrue();
    assertThat(fresh.getRemoteSocketAddress()).isNull();
    assertThat(fresh.getLocalSocketAddress()).isNull();
    assertThat(fresh.getChannel()).isNull();
    assertThat(fresh).hasToString("Socket[unconnected]");
    assertThat(fresh.getSoTimeout()).isZero();
    assertThatThrownBy(fresh::getInputStream).hasMessage("Socket is not connected");
  }

  @Test
  void bothEndsKnowBothAddresses() {
    assertThat(client.getInetAddress()).isEqualTo(loopback);
    assertThat(client.getPort()).isEqualTo(listener.getLocalPort());
    assertThat(client.getLocalAddress()).isEqualTo(loopback);
    assertThat(served.getPort()).isEqualTo(client.getLocalPort());
    assertThat(served.getLocalPort()).isEqualTo(listener.getLocalPort());
    assertThat(served.getInetAddress()).isEqualTo(loopback);
    assertThat(served.getRemoteSocketAddress()).isEqualTo(client.getLocalSocketAddress());
    assertThat(served.getLocalSocketAddress()).isEqualTo(client.getRemoteSocketAddress());
    assertThat(served.isConnected() && served.isBound()).isTrue();
    assertThat(client.toString()).contains("port=" + listener.getLocalPort());
    assertThat(client.getChannel()).isNull();
  }

  @Test
  void aSocketCanBeBoundBeforeItConnects() throws Exception {
    Socket bound = opened(newSocket());
    bound.bind(new InetSocketAddress(loopback, 0));
    int port = bound.getLocalPort();
    assertThat(port).isPositive();
    assertThatThrownBy(() -> bound.bind(null)).hasMessage("Already bound");
    bound.connect(listener.getLocalSocketAddress());
    assertThat(opened(listener.accept()).getPort()).isEqualTo(port);
    assertThat(bound.getLocalPort()).isEqualTo(port);
  }

  @Test
  void aListenerKnowsItsAddress() throws Exception {
    ServerSocket other = opened(newServerSocket());
    assertThat(other.isBound()).isFalse();
    assertThat(other.getLocalPort()).isEqualTo(-1);
    assertThatThrownBy(other::accept).hasMessage("Socket is not bound yet");
    InetSocketAddress taken = new InetSocketAddress(loopback, listener.getLocalPort());
    assertThatThrownBy(() -> other.bind(taken)).isInstanceOf(BindException.class);
    other.bind(null);
    assertThat(other.getLocalPort()).isPositive();
    assertThat(other.getInetAddress().isAnyLocalAddress()).isTrue();
    assertThatThrownBy(() -> other.bind(null)).hasMessage("Already bound");
    other.close();
    assertThat(other.isClosed()).isTrue();
    assertThatThrownBy(other::accept).hasMessage("Socket is closed");
  }

  // ---- connecting and accepting

  @Test
  void connectingToNobodyIsRefused() throws Exception {
    InetSocketAddress nobody = (InetSocketAddress) listener.getLocalSocketAddress();
    listener.close();
    for (int timeout : new int[] {0, 5000}) {
      Socket other = opened(newSocket());
      assertThatThrownBy(() -> other.connect(nobody, timeout))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("Connection refused");
      assertThat(other.isConnected()).isFalse();
    }
  }

  @Test
  void badConnectsAreRefused() throws Exception {
    Socket other = opened(newSocket());
    assertThatThrownBy(() -> other.connect(null)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> other.connect(listener.getLocalSocketAddress(), -1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> other.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
        .isInstanceOf(UnknownHostException.class);
    assertThatThrownBy(() -> client.connect(listener.getLocalSocketAddress()))
        .hasMessageMatching("(?i)already connected");
  }

  /** Connects until the backlog is full, so that the next connect waits. */
  private ServerSocket fullListener() throws Exception {
    ServerSocket full = opened(newServerSocket());
    full.bind(new InetSocketAddress(loopback, 0), BACKLOG);
    // Linux takes one more.
    for (int queued = 1; queued <= BACKLOG + 1; queued++) {
      opened(newSocket()).connect(full.getLocalSocketAddress());
      long start = System.nanoTime();
      while (queued(full) < queued) {
        assertThat(System.nanoTime() - start)
            .as("ns, and %d connections are queued", queued(full))
            .isLessThan(TimeUnit.SECONDS.toNanos(LIMIT_S));
        Thread.sleep(1);
      }
    }
    return full;
  }

  /** How many connections wait to be accepted. */
  private static int queued(ServerSocket listener) throws IOException {
    String port = String.format(":%04X", listener.getLocalPort());
    for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      Path file = Path.of(table);
      for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
        String[] fields = line.trim().split("\\s+", 6);
        if (fields[1].endsWith(port) && fields[3].equals("0A")) {
          return Integer.parseInt(fields[4].substring(fields[4].indexOf(':') + 1), 16);
        }
      }
    }
    return -1; // the tables change while they are read
  }

  @Test
  void aConnectThatLastsTooLongEnds() throws Exception {
    ServerSocket full = fullListener();
    Socket other = opened(newSocket());
    assertThatThrownBy(() -> other.connect(full.getLocalSocketAddress(), TIMEOUT_MS))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageMatching("(?i)connect timed out");
  }

  @Test
  void closingEndsAConnectOfAnotherThread() throws Exception {
    ServerSocket full = fullListener();
    Socket other = opened(newSocket());
    Job<Throwable> connecting =
        start(() -> catchThrowable(() -> other.connect(full.getLocalSocketAddress())))
            .assertGoesOn();
    other.close();
    assertClosed(connecting.get());
  }

  @Test
  void anAcceptThatLastsTooLongEnds() throws Exception {
    listener.setSoTimeout(TIMEOUT_MS);
    assertThat(listener.getSoTimeout()).isEqualTo(TIMEOUT_MS);
    for (int i = 0; i < 2; i++) {
      long start = System.nanoTime();
      assertThatThrownBy(listener::accept)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Accept timed out");
      assertThat(System.nanoTime() - start)
          .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
    }
    Socket other = opened(newSocket());
    other.connect(listener.getLocalSocketAddress());
    assertThat(opened(listener.accept()).getSoTimeout()).isZero();
  }

  @Test
  void closingEndsAnAcceptOfAnotherThread() throws Exception {
    for (int timeout : new int[] {0, 60_000}) {
      ServerSocket other = opened(newServerSocket());
      other.bind(new InetSocketAddress(loopback, 0));
      other.setSoTimeout(timeout);
      Job<Throwable> accepting = start(() -> catchThrowable(other::accept)).assertGoesOn();
      other.close();
      assertClosed(accepting.get());
    }
  }

  @Test
  void anInterruptDoesNotEndAnAccept() throws Exception {
    Job<Boolean> accepting =
        start(
                () -> {
                  opened(listener.accept());
                  return Thread.interrupted();
                })
            .assertGoesOn();
    accepting.thread.interrupt();
    accepting.assertGoesOn();
    opened(newSocket()).connect(listener.getLocalSocketAddress());
    assertThat(accepting.get()).as("interrupt status").isTrue();
  }

  // ---- reading and writing

  @Test
  void bytesTravelBothWays() throws Exception {
    OutputStream out = client.getOutputStream();
    InputStream in = served.getInputStream();
    out.write('T');
    out.write("xalariax".getBytes(StandardCharsets.US_ASCII), 1, 6);
    out.write(new byte[0]);
    assertThat(new String(in.readNBytes(7), StandardCharsets.US_ASCII)).isEqualTo("Talaria");
    served.getOutputStream().write(new byte[] {-1, 2});
    assertThat(client.getInputStream().read()).isEqualTo(255);
    assertThat(client.getInputStream().read()).isEqualTo(2);
    assertThat(in.read(new byte[3], 1, 0)).isZero();
    assertThatThrownBy(() -> in.read(new byte[3], 2, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> out.write(new byte[3], -1, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void muchTravelsBothWaysAtOnce() throws Exception {
    byte[] much = new byte[6_000_000];
    new Random(7).nextBytes(much);
    List<Job<?>> jobs = new ArrayList<>();
    for (Socket one : List.of(client, served)) {
      jobs.add(
          start(
              () -> {
                one.getOutputStream().write(much);
                one.shutdownOutput();
                return null;
              }));
      jobs.add(
          start(
              () -> {
                assertThat(one.getInputStream().readAllBytes()).isEqualTo(much);
                return null;
              }));
    }
    for (Job<?> job : jobs) {
      job.get();
    }
  }

  @Test
  void theEndOfTheStreamIsReadAlsoAfterAClose() throws Exception {
    client.close();
    InputStream in = served.getInputStream();
    assertThat(in.read()).isEqualTo(-1);
    assertThat(in.read(new byte[3])).isEqualTo(-1);
    served.close();
    Throwable afterwards = catchThrowable(() -> assertThat(in.read()).isEqualTo(-1));
    assertThat(afterwards).isNull();
    assertThatThrownBy(served::getInputStream).hasMessage("Socket is closed");
  }

  @Test
  void availableSaysWhatIsThere() throws Exception {
    InputStream in = served.getInputStream();
    assertThat(in.available()).isZero();
    client.getOutputStream().write(new byte[5]);
    assertThat(in.read()).isZero();
    assertThat(in.available()).isEqualTo(4);
    served.close();
    assertClosed(catchThrowable(in::available));
  }

  @Test
  void aReadThatLastsTooLongEndsAndCanBeRepeated() throws Exception {
    served.setSoTimeout(TIMEOUT_MS);
    InputStream in = served.getInputStream();
    for (int i = 0; i < 2; i++) {
      long start = System.nanoTime();
      assertThatThrownBy(in::read)
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("Read timed out");
      assertThat(System.nanoTime() - start)
          .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS));
    }
    client.getOutputStream().write(7);
    assertThat(in.read()).isEqualTo(7);
  }

  @Test
  void closingEndsAReadOfAnotherThread() throws Exception {
    InputStream in = served.getInputStream();
    Job<Throwable> reading = start(() -> catchThrowable(in::read)).assertGoesOn();
    served.close();
    assertClosed(reading.get());
    assertClosed(catchThrowable(in::read));
    assertThat(client.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void closingEndsAReadWithATimeoutOfAVirtualThread() throws Exception {
    served.setSoTimeout(60_000);
    InputStream in = served.getInputStream();
    Job<Throwable> reading = startVirtual(() -> catchThrowable(in::read)).assertGoesOn();
    served.close();
    assertClosed(reading.get());
  }

  @Test
  void closingEndsAWriteOfAnotherThread() throws Exception {
    OutputStream out = client.getOutputStream();
    byte[] much = new byte[64 << 20];
    Job<Throwable> writing = start(() -> catchThrowable(() -> out.write(much))).assertGoesOn();
    client.close();
    assertClosed(writing.get());
    assertClosed(catchThrowable(() -> out.write(1)));
  }

  @Test
  void aReadAndAWriteWaitTogether() throws Exception {
    byte[] much = new byte[20 << 20];
    Job<Integer> reading = start(() -> client.getInputStream().read());
    Job<Object> writing =
        start(
            () -> {
              client.getOutputStream().write(much);
              return null;
            });
    reading.assertGoesOn();
    writing.assertGoesOn();
    served.getOutputStream().write(9);
    assertThat(reading.get()).isEqualTo(9);
    assertThat(served.getInputStream().readNBytes(much.length)).hasSize(much.length);
    writing.get();
  }

  // ---- interrupts

  @Test
  void anInterruptDoesNotEndAReadOfAPlatformThread() throws Exception {
    InputStream in = served.getInputStream();
    for (int timeout : new int[] {0, 60_000}) {
      served.setSoTimeout(timeout);
      Job<Boolean> reading =
          start(
                  () -> {
                    assertThat(in.read()).isEqualTo(5);
                    return Thread.interrupted();
                  })
              .assertGoesOn();
      reading.thread.interrupt();
      reading.assertGoesOn();
      client.getOutputStream().write(5);
      assertThat(reading.get()).as("interrupt status").isTrue();
    }
  }

  @Test
  void anInterruptedPlatformThreadReadsAndWrites() throws Exception {
    Job<Boolean> both =
        start(
            () -> {
              Thread.currentThread().interrupt();
              Socket other = opened(newSocket());
              other.connect(listener.getLocalSocketAddress());
              served.getOutputStream().write(3);
              assertThat(client.getInputStream().read()).isEqualTo(3);
              return Thread.interrupted();
            });
    assertThat(both.get()).isTrue();
    assertThat(served.isClosed()).isFalse();
  }

  @Test
  void anInterruptedWriterAndReaderWaitTogether() throws Exception {
    byte[] much = new byte[20 << 20];
    Job<Integer> reading = start(() -> client.getInputStream().read());
    Job<Boolean> writing =
        start(
            () -> {
              client.getOutputStream().write(much);
              return Thread.interrupted();
            });
    reading.assertGoesOn();
    writing.thread.interrupt();
    reading.thread.interrupt();
    reading.assertGoesOn();
    served.getOutputStream().write(9);
    assertThat(reading.get()).isEqualTo(9);
    assertThat(served.getInputStream().readNBytes(much.length)).hasSize(much.length);
    assertThat(writing.get()).isTrue();
  }

  @Test
  void anInterruptClosesTheSocketUnderAVirtualThread() throws Exception {
    InputStream in = served.getInputStream();
    Job<Throwable> reading = startVirtual(() -> catchThrowable(in::read)).assertGoesOn();
    reading.thread.interrupt();
    assertThat(reading.get()).isInstanceOf(SocketException.class).hasMessage("Closed by interrupt");
    assertThat(served.isClosed()).isTrue();
    assertThat(client.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void anInterruptClosesTheListenerUnderAVirtualThread() throws Exception {
    Job<Throwable> accepting = startVirtual(() -> catchThrowable(listener::accept)).assertGoesOn();
    accepting.thread.interrupt();
    assertThat(accepting.get())
        .isInstanceOf(SocketException.class)
        .hasMessage("Closed by interrupt");
    assertThat(listener.isClosed()).isTrue();
  }

  // ---- ends

  @Test
  void halfAConnectionCanBeShut() throws Exception {
    OutputStream out = client.getOutputStream();
    out.write(1);
    client.shutdownOutput();
    assertThat(client.isOutputShutdown()).isTrue();
    assertThat(client.isInputShutdown()).isFalse();
    assertThat(served.getInputStream().readAllBytes()).containsExactly(1);
    served.getOutputStream().write(2);
    assertThat(client.getInputStream().read()).isEqualTo(2);
    assertThatThrownBy(() -> out.write(1))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("Broken pipe");
    assertThatThrownBy(client::getOutputStream).hasMessage("Socket output is shutdown");
    assertThatThrownBy(client::shutdownOutput).isInstanceOf(SocketException.class);
  }

  @Test
  void theInputCanBeShut() throws Exception {
    InputStream in = client.getInputStream();
    Job<Integer> reading = start(in::read).assertGoesOn();
    client.shutdownInput();
    assertThat(reading.get()).isEqualTo(-1);
    assertThat(in.read()).isEqualTo(-1);
    assertThat(in.available()).isZero();
    assertThat(client.isInputShutdown()).isTrue();
    assertThatThrownBy(client::getInputStream).hasMessage("Socket input is shutdown");
    client.getOutputStream().write(4);
    assertThat(served.getInputStream().read()).isEqualTo(4);
  }

  @Test
  void aCloseWithLingerZeroResets() throws Exception {
    client.setSoLinger(true, 0);
    client.close();
    InputStream in = served.getInputStream();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(in::read)
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
    }
  }

  @Test
  void writingToAClosedPeerFailsInTheEnd() throws Exception {
    client.close();
    OutputStream out = served.getOutputStream();
    Throwable thrown = null;
    for (int i = 0; i < 1000 && thrown == null; i++) {
      thrown = catchThrowable(() -> out.write(1));
      Thread.sleep(2);
    }
    assertThat(thrown).isInstanceOf(SocketException.class);
  }

  @Test
  void closingAStreamClosesTheSocket() throws Exception {
    client.getInputStream().close();
    assertThat(client.isClosed()).isTrue();
    client.close();
    served.getOutputStream().close();
    assertThat(served.isClosed()).isTrue();
  }

  // ---- options

  @Test
  void optionsKeepWhatIsSet() throws Exception {
    for (Socket socket : List.of(client, opened(newSocket()))) {
      for (boolean on : new boolean[] {true, false}) {
        socket.setTcpNoDelay(on);
        assertThat(socket.getTcpNoDelay()).isEqualTo(on);
        socket.setKeepAlive(on);
        assertThat(socket.getKeepAlive()).isEqualTo(on);
        socket.setReuseAddress(on);
        assertThat(socket.getReuseAddress()).isEqualTo(on);
        socket.setOOBInline(on);
        assertThat(socket.getOOBInline()).isEqualTo(on);
      }
      assertThat(socket.getSoLinger()).isEqualTo(-1);
      socket.setSoLinger(true, 5);
      assertThat(socket.getSoLinger()).isEqualTo(5);
      socket.setSoLinger(false, 5);
      assertThat(socket.getSoLinger()).isEqualTo(-1);
      socket.setTrafficClass(0x10);
      assertThat(socket.getTrafficClass()).isEqualTo(0x10);
      socket.setSendBufferSize(20_000);
      assertThat(socket.getSendBufferSize()).isGreaterThanOrEqualTo(20_000);
      socket.setReceiveBufferSize(20_000);
      assertThat(socket.getReceiveBufferSize()).isGreaterThanOrEqualTo(20_000);
      socket.setPerformancePreferences(1, 2, 3);
      assertThat(socket.setOption(StandardSocketOptions.TCP_NODELAY, true)).isSameAs(socket);
      assertThat(socket.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
      assertThat(socket.supportedOptions())
          .contains(
              StandardSocketOptions.TCP_NODELAY,
              StandardSocketOptions.SO_RCVBUF,
              StandardSocketOptions.SO_LINGER,
              StandardSocketOptions.IP_TOS)
          .noneMatch(option -> option.name().contains("OOB"));
      assertThatThrownBy(() -> socket.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> socket.setSoTimeout(-1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> socket.setSendBufferSize(0))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aClosedSocketSaysWhichOptionsItHas() throws Exception {
    ServerSocket other = opened(newServerSocket());
    other.bind(new InetSocketAddress(loopback, 0));
    Set<SocketOption<?>> connected = client.supportedOptions();
    client.close();
    served.close(); // not asked before
    other.close();
    assertThat(client.supportedOptions()).isEqualTo(connected);
    assertThat(served.supportedOptions()).isEqualTo(connected);
    assertThat(other.supportedOptions()).contains(StandardSocketOptions.SO_RCVBUF);
  }

  @Test
  void aListenersTrafficClassIsThatOfItsConnections() throws Exception {
    ServerSocket other = opened(newServerSocket());
    assertThat(other.supportedOptions()).contains(StandardSocketOptions.IP_TOS);
    other.bind(new InetSocketAddress(loopback, 0));
    assertThat(other.getOption(StandardSocketOptions.IP_TOS)).isZero();
    other.setOption(StandardSocketOptions.IP_TOS, 0x11);
    assertThat(other.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x10);
    assertThatThrownBy(() -> other.setOption(StandardSocketOptions.IP_TOS, 256))
        .isInstanceOf(IllegalArgumentException.class);
    try (Socket to = new Socket(other.getInetAddress(), other.getLocalPort());
        Socket from = other.accept()) {
      assertThat(from.getTrafficClass()).isEqualTo(0x10);
      assertThat(to.getTrafficClass()).isZero();
    }
  }

  @Test
  void aListenersOptionsKeepWhatIsSet() throws Exception {
    ServerSocket other = opened(newServerSocket());
    for (boolean on : new boolean[] {true, false}) {
      other.setReuseAddress(on);
      assertThat(other.getReuseAddress()).isEqualTo(on);
    }
    other.setReceiveBufferSize(30_000);
    assertThat(other.getReceiveBufferSize()).isGreaterThanOrEqualTo(30_000);
    assertThat(other.setOption(StandardSocketOptions.SO_REUSEADDR, true)).isSameAs(other);
    assertThat(other.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
    assertThat(other.supportedOptions()).contains(StandardSocketOptions.SO_RCVBUF);
  }

  @Test
  void anOptionThatIsNotSupportedIsRefusedWhateverItsValue() throws Exception {
    for (Integer value : new Integer[] {1, null}) {
      assertThatThrownBy(() -> client.setOption(StandardSocketOptions.IP_MULTICAST_TTL, value))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> listener.setOption(StandardSocketOptions.IP_MULTICAST_TTL, value))
          .isInstanceOf(UnsupportedOperationException.class);
    }
    assertThatThrownBy(() -> client.setOption(StandardSocketOptions.TCP_NODELAY, null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void optionsOfAClosedSocketFail() throws Exception {
    client.close();
    listener.close();
    assertThatThrownBy(() -> client.setTcpNoDelay(true)).hasMessage("Socket is closed");
    assertThatThrownBy(client::getSoTimeout).hasMessage("Socket is closed");
    assertThatThrownBy(client::getSoLinger).hasMessage("Socket is closed");
    assertThatThrownBy(() -> client.setSoTimeout(1)).hasMessage("Socket is closed");
    assertThatThrownBy(() -> listener.setSoTimeout(1)).hasMessage("Socket is closed");
    assertThatThrownBy(() -> client.setOption(StandardSocketOptions.TCP_NODELAY, true))
        .isInstanceOf(SocketException.class);
  }
}
