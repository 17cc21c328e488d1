// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.Main;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The command {@code talaria} as users run it, in a process of its own; closing it kills it. One
 * that needs no killing runs in this JVM, which saves a start. The JVMs that they start are real.
 */
public final class TalariaCommand implements AutoCloseable {
  private static final long LIMIT_MS = 120_000;
  private static final Pattern LISTENING = Pattern.compile("listening on (\\S+:\\d+), on ");

  private final Process process;
  private final Lines out;
  private final Lines err;

  private TalariaCommand(Process process) {
    this.process = process;
    out = new Lines(process.getInputStream());
    err = new Lines(process.getErrorStream());
  }

  /**
   * How a command has ended.
   *
   * @param status its exit status
   * @param out what it printed
   * @param err what it printed as errors and progress
   */
  public record Ended(int status, String out, String err) {
    /** Checks that it has ended well; returns it. */
    public Ended well() {
      assertThat(status).as(out + err).isZero();
      return this;
    }

    /** Checks that it has failed with this status, and has said so without a stack trace. */
    public void failed(int expected, String... messages) {
      assertThat(status).as(out + err).isEqualTo(expected);
      assertThat(err).contains(messages).doesNotContain("\tat ");
    }
  }

  /** Starts the command with some words. */
  public static TalariaCommand start(String... words) throws IOException {
    List<String> java =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dtalaria.bench.children=" + System.getProperty("talaria.bench.children", ""),
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName());
    return new TalariaCommand(
        new ProcessBuilder(Stream.concat(java.stream(), Stream.of(words)).toList()).start());
  }

  /** Runs the command to its end, without input, in this JVM. */
  public static Ended run(String... words) {
    return runWith("", words);
  }

  /** Runs the command to its end, with this input, in this JVM. */
  public static Ended runWith(String input, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
    try {
      int status =
          Main.commandLine()
              .setOut(new PrintWriter(out))
              .setErr(new PrintWriter(err, true))
              .execute(words);
      return new Ended(status, out.toString(), err.toString());
    } finally {
      System.setIn(before);
    }
  }

  /** Starts a command that serves on a free port. */
  public static TalariaCommand server(String... words) throws IOException {
    String[] more = {"--listen", "127.0.0.1:0"};
    return start(Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new));
  }

  /** Waits until the server listens; returns where. */
  public String address() throws InterruptedException {
    String printed = out.await("Ctrl-C ends it\n", LIMIT_MS);
    Matcher matcher = LISTENING.matcher(printed);
    assertThat(matcher.find()).as(() -> printed + errors()).isTrue();
    return matcher.group(1);
  }

  private String errors() {
    try {
      return err.await("\n", 1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  /** Types some text. */
  public void type(String text) throws IOException {
    OutputStream to = process.getOutputStream();
    to.write(text.getBytes(StandardCharsets.UTF_8));
    to.flush();
  }

  /** Waits until a text is printed. */
  public void awaitOutput(String part) throws InterruptedException {
    assertThat(out.await(part, LIMIT_MS)).as(this::errors).contains(part);
  }

  /** Waits until a text is printed as error or progress. */
  public void awaitError(String part) throws InterruptedException {
    assertThat(err.await(part, LIMIT_MS)).contains(part);
  }

  /** Ends the input and waits for the end. */
  public Ended end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    return ended();
  }

  /** Waits for the end, while the input stands. */
  public Ended ended() throws InterruptedException {
    assertThat(process.waitFor(LIMIT_MS, TimeUnit.MILLISECONDS)).as(this::errors).isTrue();
    return new Ended(process.exitValue(), out.all(LIMIT_MS), err.all(LIMIT_MS));
  }

  /** Kills the JVMs that it has started, and not itself. */
  public void killJvms() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
  }

  /** Kills that one of the JVMs that it has started first, which is a server. */
  public void killServer() {
    process
        .descendants()
        .min(Comparator.comparing(TalariaCommand::startedAt).thenComparingLong(ProcessHandle::pid))
        .orElseThrow()
        .destroyForcibly();
  }

  private static Instant startedAt(ProcessHandle jvm) {
    return jvm.info().startInstant().orElse(Instant.MAX);
  }

  /** Waits for the end, and for that of the JVMs that it has started. */
  public Ended endedWithItsJvms() throws Exception {
    List<ProcessHandle> jvms = process.descendants().toList();
    Ended ended = ended();
    for (ProcessHandle jvm : jvms) {
      jvm.onExit().get(LIMIT_MS, TimeUnit.MILLISECONDS);
    }
    return ended;
  }

  /** Kills it, without a chance to say anything. */
  public void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    kill();
  }

  /** A port of this machine on which nobody can listen while it is held. */
  public static Socket nobody() throws IOException {
    Socket socket = new Socket();
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    return socket;
  }
}
