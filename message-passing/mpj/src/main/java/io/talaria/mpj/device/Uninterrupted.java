// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

import java.io.IOException;

/**
 * Work on files and channels for threads of the program. Java closes a channel if the thread that
 * uses it is interrupted, before or during the operation; so a private thread does the work, which
 * no other code can interrupt, and the caller's interrupt flag stays as it is.
 */
public final class Uninterrupted {
  private Uninterrupted() {}

  /**
   * What is to be done.
   *
   * @param <T> type of its result
   */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does it.
     *
     * @throws IOException if that fails
     */
    T run() throws IOException;
  }

  private static final class Worker<T> extends Thread {
    private final Work<T> work;
    private T result;
    private IOException failure;
    private RuntimeException unexpected;
    private Error error;

    Worker(Work<T> work) {
      super("talaria-mpj-files");
      this.work = work;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        result = work.run();
      } catch (IOException e) {
        failure = e;
      } catch (RuntimeException e) {
        unexpected = e;
      } catch (Error e) {
        error = e;
      }
    }

    void await() {
      boolean interrupted = false;
      while (true) {
        try {
          join();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Does it, and waits for it.
   *
   * @param <T> type of its result
   * @param work what
   * @return what it returns
   * @throws IOException if it throws one
   */
  public static <T> T call(Work<T> work) throws IOException {
    Worker<T> worker = new Worker<>(work);
    worker.start();
    worker.await();
    if (worker.failure != null) {
      throw worker.failure;
    }
    if (worker.unexpected != null) {
      throw worker.unexpected;
    }
    if (worker.error != null) {
      throw worker.error;
    }
    return worker.result;
  }
}
