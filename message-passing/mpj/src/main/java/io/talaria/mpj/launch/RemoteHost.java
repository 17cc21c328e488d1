// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another host of the job, which an {@link Agent} serves. The agent is started by a command like
 * {@code ssh}: it is given the host's name and one word that a shell there is to run, and its
 * standard streams are the link.
 */
final class RemoteHost implements Host {
  private static final int MAX_HANDSHAKE_BYTES = 4096;
  private static final int MAX_LINES_BEFORE = 200;

  /** For the end of the agent's ranks, and what it sends last. */
  private static final long END_NS = 10_000_000_000L;

  private final Plan plan;
  private final List<String> shell;
  private final String java;
  private final Events events;
  private final OutputStream out;
  private final OutputStream err;
  private final LinkedBlockingQueue<String> described = new LinkedBlockingQueue<>();
  private final StringBuilder before = new StringBuilder();
  private volatile Process process;
  private volatile AgentWire wire;
  private volatile boolean stopping;
  private volatile boolean passing;
  private Thread reader;
  private volatile OutputPump errors;

  /**
   * Nothing is started yet.
   *
   * @param shell the command, such as ssh with its options
   * @param java the other host's java
   */
  RemoteHost(
      Plan plan,
      List<String> shell,
      String java,
      Events events,
      OutputStream out,
      OutputStream err) {
    this.plan = plan;
    this.shell = shell;
    this.java = java;
    this.events = events;
    this.out = out;
    this.err = err;
  }

  @Override
  public String name() {
    return plan.hostName();
  }

  @Override
  public int number() {
    return plan.host();
  }

  @Override
  public void start() {
    reader = new Thread(this::run, "talaria-mpj-host-" + plan.host());
    reader.setDaemon(true);
    reader.start();
  }

  private List<String> command() {
    List<String> words = new ArrayList<>(shell);
    words.add(plan.hostName());
    words.add(
        String.join(
            " ",
            quoted(java),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            quoted(absolute(System.getProperty("java.class.path"))),
            Agent.class.getName()));
    return words;
  }

  /** A word as a POSIX shell reads it. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /** A class path whose entries do not depend on the working directory. */
  static String absolute(String classPath) {
    List<String> entries = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator)) {
      entries.add(Path.of(entry).toAbsolutePath().normalize().toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  private void run() {
    try {
      process = new ProcessBuilder(command()).start();
      if (stopping) {
        process.destroy();
      }
    } catch (IOException e) {
      events.failed("host " + name() + " cannot be reached: " + e.getMessage());
      return;
    }
    errors = new OutputPump(process.getErrorStream(), err, name() + ": ");
    errors.start();
    Silence silence =
        new Silence(
            () -> {
              events.failed("host " + name() + " has not been heard of for 10 s");
              process.destroyForcibly();
            });
    try {
      // A name server or a slow login may take its time: the launcher's limit counts.
      silence.busy(true);
      check(handshake(process.getInputStream()));
      silence.busy(false);
      AgentWire link = new AgentWire(process.getInputStream(), process.getOutputStream());
      link.send(AgentWire.PLAN, plan::write);
      link.beat();
      wire = link;
      AgentWire.Frame frame;
      while ((frame = link.read()) != null) {
        silence.busy(true);
        handle(frame);
        silence.busy(false);
      }
      lost("its link has ended");
    } catch (IOException e) {
      lost("" + e.getMessage());
    } catch (RuntimeException | Error e) {
      events.failed("host " + name() + " is lost: its link failed: " + e);
    } finally {
      silence.end();
    }
  }

  private void lost(String how) {
    if (stopping) {
      return;
    }
    String status = "";
    try {
      if (process.waitFor(2, TimeUnit.SECONDS)) {
        status = "; " + shell.get(0) + " ended with status " + process.exitValue();
      }
      errors.join(2000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    String last = (before + " " + errors.lastLines()).strip();
    events.failed(
        "host "
            + name()
            + " is lost: "
            + how
            + status
            + (last.isEmpty() ? "" : "; it said last: " + last));
  }

  /** Skips what a login prints; the agent's first line. */
  private String handshake(InputStream in) throws IOException {
    for (int i = 0; i < MAX_LINES_BEFORE; i++) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      int b;
      while ((b = in.read()) != '\n') {
        if (b < 0 || line.size() == MAX_HANDSHAKE_BYTES) {
          before.append(line.toString(StandardCharsets.UTF_8));
          throw new IOException("no agent answers");
        }
        line.write(b);
      }
      String text = line.toString(StandardCharsets.UTF_8);
      if (text.startsWith(AgentWire.HANDSHAKE)) {
        return text;
      }
      before.append(text).append(' ');
    }
    throw new IOException("no agent answers in " + MAX_LINES_BEFORE + " lines");
  }

  private static void check(String handshake) throws IOException {
    String[] words = handshake.substring(AgentWire.HANDSHAKE.length()).strip().split(" ");
    if (!words[0].equals("" + AgentWire.VERSION)) {
      throw new IOException(
          "its agent speaks version " + words[0] + ", this launcher " + AgentWire.VERSION);
    }
    String theirs = words.length > 1 ? words[1] : "?";
    String ours = "" + Runtime.version().feature();
    if (!theirs.equals(ours)) {
      throw new IOException(
          "it has Java " + theirs + ", this host " + ours + "; -java names another there");
    }
  }

  private void handle(AgentWire.Frame frame) throws IOException {
    DataInputStream in = frame.content();
    switch (frame.kind()) {
      case AgentWire.HELLO -> events.hello(rank(in), in.readLong());
      case AgentWire.RANK_ADDRESS -> events.rankAddress(rank(in), in.readUTF());
      case AgentWire.INIT -> events.init(rank(in));
      case AgentWire.FINISH -> events.finish(rank(in));
      case AgentWire.FINALIZED -> events.finalized(rank(in));
      case AgentWire.SAID ->
          events.said(rank(in), new String(in.readAllBytes(), StandardCharsets.UTF_8));
      case AgentWire.ABORT -> events.abort(rank(in), in.readInt(), in.readUTF());
      case AgentWire.EXITED -> events.exited(rank(in), in.readLong(), in.readInt());
      case AgentWire.FAILED -> events.failed("host " + name() + ": " + frame.text());
      case AgentWire.DESCRIBED -> described.add(frame.text());
      case AgentWire.OUTPUT -> pass(out, frame.bytes());
      case AgentWire.ERRORS -> pass(err, frame.bytes());
      default -> {}
    }
  }

  /**
   * Reads a rank, which must be of this host: an agent cannot report for the ranks of another host.
   */
  private int rank(DataInputStream in) throws IOException {
    int rank = in.readInt();
    if (rank < 0 || rank >= plan.size() || plan.hostOfRank().get(rank) != plan.host()) {
      throw new IOException("it speaks of rank " + rank + ", which is not there");
    }
    return rank;
  }

  private void pass(OutputStream to, byte[] lines) throws IOException {
    passing = true;
    synchronized (to) {
      to.write(lines);
      to.flush();
    }
    passing = false;
  }

  private void send(int kind, String text) {
    AgentWire link = wire;
    if (link != null) {
      try {
        link.send(kind, text);
      } catch (IOException e) {
        // The reader sees the end.
      }
    }
  }

  @Override
  public void rankAddresses(List<String> ofAll) {
    send(AgentWire.RANK_ADDRESSES, String.join("\n", ofAll));
  }

  @Override
  public void go() {
    send(AgentWire.GO, "");
  }

  @Override
  public void tell(int rank, String line) {
    send(AgentWire.TELL, rank + " " + line);
  }

  @Override
  public List<String> describe() {
    if (wire == null) {
      return List.of("host " + name() + " has no agent yet");
    }
    send(AgentWire.DESCRIBE, "");
    try {
      String text = described.poll(5, TimeUnit.SECONDS);
      return text == null
          ? List.of("host " + name() + " does not answer")
          : List.of(text.split("\n"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  @Override
  public void stop() {
    stopping = true;
    if (wire != null) {
      send(AgentWire.STOP, "");
    } else if (process != null) {
      process.destroy();
    }
  }

  @Override
  public void awaitEnd(long forReaderNs) {
    stop();
    Patience patience = new Patience(END_NS, forReaderNs);
    try {
      // The agent ends when it has sent all that the ranks wrote.
      while (process != null && !process.waitFor(Patience.LOOK_MS, TimeUnit.MILLISECONDS)) {
        if (!patience.lasts(passing)) {
          process.destroyForcibly();
          break;
        }
      }
      // What it has sent last is still on its way.
      while (reader != null && reader.isAlive() && patience.lasts(passing)) {
        reader.join(Patience.LOOK_MS);
      }
      if (errors != null) {
        errors.join(2_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void kill() {
    awaitEnd(READER_NS_AT_KILL);
  }
}
