// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * How a child program and the test talk: the program says events on standard output, one a line,
 * {@code @name key=value ...}; the test sends commands on standard input, one a line. The end of
 * standard input ends the program, so that none outlives its test.
 *
 * <p>Any thread may call any method.
 */
public final class Console {
  /** Exit status of a program that failed. */
  public static final int FAILED = 70;

  private static final BlockingQueue<String> COMMANDS = new LinkedBlockingQueue<>();

  private Console() {}

  /** What a program does. */
  @FunctionalInterface
  public interface Body {
    /**
     * Runs the program to its end.
     *
     * @param args the program's arguments
     * @throws Exception whatever makes the program fail
     */
    void run(Args args) throws Exception;
  }

  /**
   * Runs a program and ends the JVM with status 0, or {@link #FAILED} if it threw.
   *
   * @param arguments what main was given
   * @param body the program
   */
  public static void run(String[] arguments, Body body) {
    Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> fail(failure));
    daemon("console", Console::listen);
    try {
      body.run(new Args(arguments));
    } catch (Throwable failure) {
      fail(failure);
    }
    System.exit(0);
  }

  /**
   * Tells the test that something happened.
   *
   * @param name the event
   * @param keyValues names and values in turn; blanks in values become underscores
   */
  public static void say(String name, Object... keyValues) {
    StringBuilder line = new StringBuilder("@").append(name);
    for (int i = 0; i < keyValues.length; i += 2) {
      String value = String.valueOf(keyValues[i + 1]).replaceAll("\\s", "_");
      line.append(' ').append(keyValues[i]).append('=').append(value);
    }
    String text = line.append('\n').toString();
    synchronized (Console.class) {
      System.out.print(text);
      System.out.flush();
    }
  }

  /**
   * Waits for the test's next command.
   *
   * @return the line, without its end
   * @throws InterruptedException if this thread is interrupted
   */
  public static String command() throws InterruptedException {
    return COMMANDS.take();
  }

  /**
   * Waits for one particular command.
   *
   * @param expected the line
   * @throws InterruptedException if this thread is interrupted
   */
  public static void awaitCommand(String expected) throws InterruptedException {
    String command = command();
    if (!command.equals(expected)) {
      throw new IllegalStateException("expected the command " + expected + ", got " + command);
    }
  }

  /**
   * Waits until the test ends this program by closing its standard input.
   *
   * @throws InterruptedException if this thread is interrupted
   */
  public static void awaitEnd() throws InterruptedException {
    while (true) {
      String command = command();
      if (!command.isEmpty()) {
        throw new IllegalStateException("unexpected command " + command);
      }
    }
  }

  /**
   * Ends the program as failed.
   *
   * @param failure why; its stack trace goes to standard error
   */
  public static void fail(Throwable failure) {
    synchronized (Console.class) {
      failure.printStackTrace();
      System.err.flush();
    }
    say("failed", "what", failure);
    System.exit(FAILED);
  }

  /**
   * Starts a daemon thread; if it throws, the program fails.
   *
   * @param name the thread's name
   * @param task what it does
   * @return the thread
   */
  public static Thread daemon(String name, Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Throwable failure) {
                fail(failure);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Something that may fail. */
  @FunctionalInterface
  public interface Task {
    /**
     * Does it.
     *
     * @throws Exception whatever makes it fail
     */
    void run() throws Exception;
  }

  private static void listen() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      COMMANDS.add(line);
    }
    daemon("last-resort", Console::haltLater);
    System.exit(0);
  }

  private static void haltLater() throws InterruptedException {
    Thread.sleep(20_000);
    Runtime.getRuntime().halt(FAILED + 1);
  }
}
