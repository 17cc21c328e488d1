// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.screen;

import io.talaria.cli.harness.Terminal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Attributes;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedCharSequence;
import org.jline.utils.AttributedString;
import org.jline.utils.Signals;

/**
 * A terminal's alternate screen, refreshed in place, and its keys. Whatever ends the view, a signal
 * too, the terminal shows again what it showed before, with its cursor and its modes; Ctrl-Z gives
 * it back until the process continues. Only {@code kill -9} leaves it as it is: {@code reset} helps
 * then.
 *
 * <p>All methods are for one thread; signals come on others and are taken care of.
 */
public final class Screen implements AutoCloseable {
  /** To the alternate screen, without a cursor. */
  static final String ENTER = "\u001b[?1049h\u001b[?25l";

  /** Back, with the cursor. */
  static final String LEAVE = "\u001b[0m\u001b[?25h\u001b[?1049l";

  private static final String HOME = "\u001b[H";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_BELOW = "\u001b[J";
  private static final int COLORS = 8;
  private static final long NS_PER_MS = 1_000_000;

  /** How long a signal is unseen at most. */
  private static final long MAX_READ_MS = 250;

  private final org.jline.terminal.Terminal terminal;
  private final PrintWriter out;
  private final OutputStream atLast;
  private final KeyReader keys;
  private final Thread atExit = new Thread(this::leave, "talaria-restore-terminal");
  private final Object windowSignal;
  private final Object stopSignal;
  private final Object goOnSignal;

  /** The modes before; guarded by this. */
  private Attributes before;

  /** Guarded by this. */
  private boolean left = true;

  /** Guarded by this. */
  private boolean closed;

  private volatile boolean resized;

  private Screen(
      org.jline.terminal.Terminal terminal, PrintWriter out, OutputStream atLast, KeyReader keys) {
    this.terminal = terminal;
    this.out = out;
    this.atLast = atLast;
    this.keys = keys;
    Runtime.getRuntime().addShutdownHook(atExit);
    enter();
    if (terminal == null) {
      windowSignal = null;
      stopSignal = null;
      goOnSignal = null;
    } else {
      windowSignal = Signals.register("WINCH", () -> resized = true);
      stopSignal = Signals.register("TSTP", this::suspend);
      goOnSignal = Signals.register("CONT", this::goOn);
    }
  }

  /**
   * Takes the screen of the terminal that this process has. If its input is none, there are no
   * keys, but the screen is taken all the same.
   */
  public static Screen take() {
    org.jline.terminal.Terminal terminal = null;
    try {
      if (Terminal.onStandardInput()) {
        terminal =
            TerminalBuilder.builder()
                .name("talaria")
                .system(true)
                .dumb(false)
                // It would ask the terminal what it can, and swallow keys that were typed ahead.
                .graphemeCluster(false)
                // It would give SIGINT to the system again, which ends the process without hooks.
                .nativeSignals(false)
                .build();
      }
    } catch (IOException | IllegalStateException e) {
      terminal = null; // shown without keys
    }
    OutputStream standard = new FileOutputStream(FileDescriptor.out);
    if (terminal == null) {
      return new Screen(null, new PrintWriter(standard, true, charset()), standard, null);
    }
    org.jline.terminal.Terminal taken = terminal;
    return new Screen(
        taken, taken.writer(), standard, new KeyReader(ms -> taken.reader().read(ms)));
  }

  /** A screen that is only written to, for tests. */
  static Screen on(PrintWriter out, OutputStream atLast) {
    return new Screen(null, out, atLast, null);
  }

  private static Charset charset() {
    String name = System.getProperty("stdout.encoding");
    try {
      return name == null ? Charset.defaultCharset() : Charset.forName(name);
    } catch (IllegalArgumentException e) {
      return Charset.defaultCharset();
    }
  }

  /** Whether keys can be read. */
  public boolean hasKeys() {
    return keys != null;
  }

  /** Whether colours are wanted: not if {@code NO_COLOR} is set to anything (no-color.org). */
  public static boolean colored() {
    String no = System.getenv("NO_COLOR");
    return no == null || no.isEmpty();
  }

  /** Whether the terminal shows more than ASCII. */
  public boolean unicode() {
    Charset used = terminal == null ? charset() : terminal.encoding();
    return used.equals(StandardCharsets.UTF_8);
  }

  /**
   * Returns how much it shows.
   *
   * @throws InterruptedException if this thread is interrupted
   */
  public Terminal.Size size() throws InterruptedException {
    if (terminal == null) {
      return Terminal.size();
    }
    int rows = terminal.getSize().getRows();
    int columns = terminal.getSize().getColumns();
    return rows > 0 && columns > 0 ? new Terminal.Size(rows, columns) : Terminal.size();
  }

  /**
   * Shows lines, cut at the screen's edges.
   *
   * @param lines what to show
   * @throws InterruptedException if this thread is interrupted
   */
  public void show(List<String> lines) throws InterruptedException {
    draw(lines.stream().map(AttributedString::new).toList(), size());
  }

  /**
   * Shows lines with colours, cut at the screen's edges.
   *
   * @param lines what to show
   * @param size the screen
   */
  public void draw(List<AttributedString> lines, Terminal.Size size) {
    StringBuilder all = new StringBuilder(HOME);
    for (int i = 0; i < Math.min(lines.size(), size.rows()); i++) {
      // No line feed behind the last one: it would scroll.
      all.append(i == 0 ? "" : "\r\n").append(cut(lines.get(i), size.columns()));
      all.append(CLEAR_LINE);
    }
    print(all.append(CLEAR_BELOW).toString());
  }

  private static String cut(AttributedString line, int columns) {
    AttributedString shown =
        line.columnLength() <= columns
            ? line
            : AttributedString.join(
                AttributedString.EMPTY,
                line.columnSubSequence(0, columns - 1),
                new AttributedString("…"));
    return shown.toAnsi(COLORS, AttributedCharSequence.ForceMode.None);
  }

  /**
   * Waits for a key; at once when the screen has another size.
   *
   * @param ns how long
   * @return the key, {@link Key#NONE} if there was none
   * @throws InterruptedException if this thread is interrupted
   */
  public Key key(long ns) throws InterruptedException {
    long endNs = System.nanoTime() + ns;
    while (true) {
      long leftMs = Math.max(0, (endNs - System.nanoTime()) / NS_PER_MS);
      if (keys == null) {
        TimeUnit.MILLISECONDS.sleep(leftMs);
        return out.checkError() ? Key.of(Key.Name.CLOSED) : Key.NONE;
      }
      Key key;
      try {
        key = keys.read(Math.max(1, Math.min(leftMs, MAX_READ_MS)));
      } catch (IOException e) {
        return Key.of(Key.Name.CLOSED);
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (key.name() != Key.Name.NONE || leftMs <= MAX_READ_MS || resized) {
        resized = false;
        return key;
      }
    }
  }

  /**
   * Waits, or until the user wants to leave, or the screen has another size.
   *
   * @param ns how long
   * @return whether the user wants to leave
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean pause(long ns) throws InterruptedException {
    long endNs = System.nanoTime() + ns;
    while (true) {
      long leftNs = endNs - System.nanoTime();
      if (leftNs <= 0) {
        return false;
      }
      Key key = key(leftNs);
      if (key.leaves()) {
        return true;
      }
      if (key.name() == Key.Name.NONE) {
        return false;
      }
    }
  }

  private synchronized void print(String text) {
    if (!left) {
      out.print(text);
      out.flush();
    }
  }

  private synchronized void enter() {
    if (terminal != null) {
      before = terminal.enterRawMode();
      // Ctrl-C and Ctrl-Z must work also while no thread reads keys.
      Attributes raw = terminal.getAttributes();
      raw.setLocalFlag(Attributes.LocalFlag.ISIG, true);
      terminal.setAttributes(raw);
    }
    left = false;
    print(ENTER);
  }

  /** Gives the screen back; from a signal or the end of the JVM, too. */
  private synchronized void leave() {
    if (left) {
      return;
    }
    left = true;
    try {
      out.flush();
    } catch (RuntimeException | Error e) {
      // Closed by its own hook already.
    }
    try {
      // Not by the terminal, which may be closed by its own hook already.
      atLast.write(LEAVE.getBytes(StandardCharsets.US_ASCII));
      atLast.flush();
    } catch (IOException e) {
      // The terminal is gone.
    }
    if (terminal != null) {
      try {
        terminal.setAttributes(before);
      } catch (RuntimeException | Error e) {
        // Closed: then it has its modes back.
      }
    }
  }

  /** Ctrl-Z: gives the screen back and stops, as it would without us. */
  private void suspend() {
    leave();
    try {
      // SIGTSTP has our handler now; SIGSTOP has none, and the shell sees the same.
      int ignored =
          new ProcessBuilder("kill", "-STOP", Long.toString(ProcessHandle.current().pid()))
              .inheritIO()
              .start()
              .waitFor();
    } catch (IOException e) {
      goOn();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void goOn() {
    if (left && !closed) {
      enter();
    }
    resized = true;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    leave();
    if (terminal != null) {
      Signals.unregister("WINCH", windowSignal);
      Signals.unregister("TSTP", stopSignal);
      Signals.unregister("CONT", goOnSignal);
      try {
        terminal.close();
      } catch (IOException e) {
        // It has its modes back.
      }
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // It runs, and finds nothing to do.
    }
  }
}
