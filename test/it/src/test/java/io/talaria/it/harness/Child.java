// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A child process. Made by {@link Lab#child}; the laboratory ends it with the test. */
public final class Child {
  /** How long anything that is not slow by nature may take. */
  public static final Duration PATIENCE = Settings.patience(Duration.ofSeconds(30));

  private final String name;
  private final ChildSpec spec;
  private final Process process;
  private final Output output;
  private final Output errors;
  private boolean killed;

  Child(String name, ChildSpec spec, Process process) {
    this.name = name;
    this.spec = spec;
    this.process = process;
    this.output = new Output(process.getInputStream(), name + "-out");
    this.errors = new Output(process.getErrorStream(), name + "-err");
  }

  /**
   * Its process id.
   *
   * @return the pid
   */
  public long pid() {
    return process.pid();
  }

  /**
   * Waits for an event, as long as anything may take.
   *
   * @param event its name
   * @return the event
   * @throws InterruptedException if the test's time is up
   */
  public Event await(String event) throws InterruptedException {
    return await(event, PATIENCE);
  }

  /**
   * Waits for an event.
   *
   * @param event its name
   * @param limit how long
   * @return the event
   * @throws InterruptedException if the test's time is up
   */
  public Event await(String event, Duration limit) throws InterruptedException {
    Event found = output.take(event, limit);
    if (found == null) {
      errors.awaitEnd(process.isAlive() ? Duration.ZERO : Duration.ofSeconds(1));
      throw new AssertionError(
          this
              + " did not say @"
              + event
              + " within "
              + limit
              + ", or failed before; standard error:\n"
              + errors.tail());
    }
    return found;
  }

  /**
   * Takes an event if it has come, or comes within a moment.
   *
   * @param event its name
   * @return the event, or null
   * @throws InterruptedException if the test's time is up
   */
  public Event poll(String event) throws InterruptedException {
    return output.take(event, Duration.ofMillis(20));
  }

  /**
   * Sends a command.
   *
   * @param command one line
   * @throws IOException if the child is gone
   */
  public void send(String command) throws IOException {
    OutputStream input = process.getOutputStream();
    input.write((command + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  /**
   * Kills the child as {@code kill -9} does, and waits until it is dead.
   *
   * @throws InterruptedException if the test's time is up
   */
  public void kill() throws InterruptedException {
    killed = true;
    process.destroyForcibly();
    process.waitFor();
  }

  /**
   * Asks the child to end and waits until it has done so, properly.
   *
   * @throws IOException never
   * @throws InterruptedException if the test's time is up
   */
  public void stop() throws IOException, InterruptedException {
    closeInput();
    awaitExit(0);
  }

  /**
   * Waits until the child has ended.
   *
   * @param status the exit status it must have
   * @throws InterruptedException if the test's time is up
   */
  public void awaitExit(int status) throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError(this + " did not end within " + PATIENCE);
    }
    assertThat(process.exitValue())
        .as("exit status of %s; standard error:\n%s", this, errors.tail())
        .isEqualTo(status);
  }

  /**
   * Waits until the child has ended in whatever way.
   *
   * @return its exit status
   * @throws InterruptedException if the test's time is up
   */
  public int awaitAnyExit() throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError(this + " did not end within " + PATIENCE);
    }
    output.awaitEnd(PATIENCE);
    errors.awaitEnd(PATIENCE);
    return process.exitValue();
  }

  /**
   * Waits until its log says something.
   *
   * @param text what it must contain
   * @throws InterruptedException if the test's time is up
   */
  public void awaitLog(String text) throws InterruptedException {
    if (!errors.awaitText(text, PATIENCE)) {
      throw new AssertionError(this + " has not logged " + text + ", but:\n" + errors.tail());
    }
  }

  /**
   * The last lines of its standard error.
   *
   * @return the text
   */
  public String errorText() {
    return errors.tail();
  }

  /**
   * The last lines of its standard output.
   *
   * @return the text
   */
  public String outputText() {
    return output.tail();
  }

  /**
   * Whether it runs.
   *
   * @return true if so
   */
  public boolean alive() {
    return process.isAlive();
  }

  /**
   * Its sockets and its Java.
   *
   * @return the flavour
   */
  public Flavour flavour() {
    return spec.flavour();
  }

  ChildSpec spec() {
    return spec;
  }

  /** Whether it ended without a chance to tidy up. */
  boolean endedRoughly() {
    return killed || (!process.isAlive() && process.exitValue() != 0);
  }

  void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      assertThat(process.isAlive()).as("%s without standard input: %s", this, e).isFalse();
    }
  }

  boolean awaitExitQuietly(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * All there is to know about the child.
   *
   * @return its last outputs and, while it runs, the stacks of its threads
   */
  public String dump() {
    StringBuilder text = new StringBuilder();
    text.append("=== ").append(this).append(process.isAlive() ? ", alive" : ", dead");
    if (!process.isAlive()) {
      text.append(" with status ").append(process.exitValue());
    }
    text.append("\n--- standard error\n").append(errors.tail());
    text.append("\n--- standard output\n").append(output.tail());
    if (process.isAlive()) {
      text.append("\n--- threads\n").append(Proc.threads(pid()));
    }
    return text.append('\n').toString();
  }

  @Override
  public String toString() {
    return name + " (" + spec.flavour() + ", pid " + process.pid() + ")";
  }
}
