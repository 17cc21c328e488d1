// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The handler threads of a node, which run tasks in the order in which they were submitted. While
 * some of them wait in calls of this package, other threads take their place, up to a limit. Any
 * thread may call the methods.
 */
public final class Handlers {
  private static final int TASKS = 1 << 16;

  private final BoundedQueue<Task> tasks;

  /**
   * Tasks for which {@link #tasks} had no place: submitting a task must not wait, and no task may
   * be lost.
   */
  private final ConcurrentLinkedQueue<Task> rest = new ConcurrentLinkedQueue<>();

  private final IntFunction<String> names;
  private final Consumer<Throwable> failed;
  private final int wanted;
  private final Handler[] handlers;
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger idle = new AtomicInteger();
  private volatile boolean stopped;

  /** How many tasks run that have outlived the handlers. */
  private final AtomicInteger outliving = new AtomicInteger();

  /**
   * Starts no thread; the first task does.
   *
   * @param name prefix of the threads' names
   * @param wanted how many threads run tasks at a time
   * @param most the maximum number of threads, with those that wait
   * @param failed receives what a task has thrown, and failures to start a thread; must not throw
   */
  public Handlers(String name, int wanted, int most, Consumer<Throwable> failed) {
    this(number -> name + number, wanted, most, failed, TASKS);
  }

  Handlers(
      IntFunction<String> names, int wanted, int most, Consumer<Throwable> failed, int capacity) {
    this.failed = failed;
    tasks = new BoundedQueue<>(capacity);
    this.names = names;
    this.wanted = wanted;
    handlers = new Handler[most];
  }

  private final class Handler extends Thread {
    final AtomicInteger sleeps = new AtomicInteger();

    Handlers all() {
      return Handlers.this;
    }

    Handler(int number) {
      super(names.apply(number));
      setDaemon(true);
    }

    @Override
    public void run() {
      while (!stopped) {
        Task task = next();
        if (task != null) {
          try {
            task.turn();
          } catch (Throwable e) { // the program's, or no memory: this thread must continue
            failed.accept(e);
          }
          Thread.interrupted(); // an interrupt meant for one task must not reach the next
        } else {
          sleep();
        }
      }
    }

    private void sleep() {
      sleeps.set(1);
      idle.incrementAndGet();
      VarHandle.fullFence();
      while (isEmpty() && sleeps.get() == 1 && !stopped) {
        LockSupport.park(this);
        Thread.interrupted();
      }
      sleeps.set(0);
      idle.decrementAndGet();
    }
  }

  /**
   * Submits a task. After {@link #stop} it only runs if it outlives the handlers. If this throws,
   * the task is not queued.
   */
  public void run(Task task) {
    put(task);
    VarHandle.fullFence();
    if (stopped) {
      runWithoutHandlers();
    } else {
      wakeOrStartOne();
    }
  }

  /**
   * Submits a task at the end of another one, on the handler that has run it. That handler looks
   * for a task next, so none is woken. If it finds an older task first, a handler was woken for
   * that one, or none slept, and finds this one.
   */
  void runNext(Task task) {
    put(task);
  }

  private void put(Task task) {
    if (!tasks.offer(task)) {
      rest.add(task);
    }
  }

  /** Reports a failure of a task. */
  void failed(Throwable thrown) {
    failed.accept(thrown);
  }

  /**
   * Tries again to start a thread if tasks wait. Called from time to time, because starting a
   * thread may have failed.
   */
  public void lookAfterTasks() {
    if (!isEmpty()) {
      wakeOrStartOne();
    }
  }

  private void wakeOrStartOne() {
    if (idle.get() == 0 || !wakeOne()) {
      startOne();
    }
  }

  /** Removes the next task, or returns null. The caller must run it. */
  Task next() {
    Task task = tasks.poll();
    return task != null ? task : rest.poll();
  }

  private boolean wakeOne() {
    int count = started.get();
    for (int i = 0; i < count; i++) {
      Handler handler = handlers[i];
      if (handler != null && handler.sleeps.compareAndSet(1, 0)) {
        LockSupport.unpark(handler);
        return true;
      }
    }
    return false;
  }

  private void startOne() {
    int count = started.get();
    if (count - waiting.get() >= wanted || count >= handlers.length || stopped) {
      return;
    }
    synchronized (this) {
      count = started.get();
      if (count - waiting.get() < wanted && count < handlers.length && !stopped) {
        try {
          Handler handler = new Handler(count);
          handlers[count] = handler; // before it runs, because it may sleep at once
          started.set(count + 1);
          handler.start();
        } catch (Throwable e) { // the caller must not fail: its task is queued
          started.set(count); // the next task or lookAfterTasks() tries again
          failed.accept(e);
        }
      }
    }
  }

  /**
   * Call before the calling thread waits in a call of any node, and {@link #endWait} with the
   * result after it. If it is a handler, another thread of its own node takes its place.
   *
   * @return the handlers to which the thread belongs, or null
   */
  public static Handlers beginWait() {
    Handlers own = Thread.currentThread() instanceof Handler handler ? handler.all() : null;
    if (own != null) {
      own.waiting.incrementAndGet();
      if (!own.isEmpty()) {
        own.startOne();
      }
    }
    return own;
  }

  /**
   * Call after the calling thread has waited.
   *
   * @param own what {@link #beginWait} has returned
   */
  public static void endWait(Handlers own) {
    if (own != null) {
      own.waiting.decrementAndGet();
    }
  }

  /**
   * Stops the threads after their current tasks. Of the other tasks those run that outlive the
   * handlers, and the others are dropped.
   */
  public void stop() {
    stopped = true;
    synchronized (this) {
      for (int i = 0; i < started.get(); i++) {
        LockSupport.unpark(handlers[i]);
      }
    }
    VarHandle.fullFence(); // set, then look: a task that is put meanwhile is seen here or in run()
    runWithoutHandlers();
  }

  /**
   * Empties the queue after the end of the handlers. Each task that outlives them gets a thread of
   * its own, so that none waits for another, nor this thread for any.
   */
  private void runWithoutHandlers() {
    for (Task task = next(); task != null; task = next()) {
      if (task.outlivesHandlers()) {
        outliving.incrementAndGet();
        try {
          startVirtual(task);
        } catch (Throwable e) { // no memory
          outliving.decrementAndGet();
          failed.accept(e);
        }
      }
    }
  }

  private void startVirtual(Task task) {
    Thread.ofVirtual()
        .name(names.apply(handlers.length)) // as one more handler
        .start(
            () -> {
              try {
                task.turn();
              } catch (Throwable e) {
                failed.accept(e);
              } finally {
                outliving.decrementAndGet();
              }
            });
  }

  /** Whether no task runs that has outlived the handlers. */
  public boolean noneOutlives() {
    return outliving.get() == 0;
  }

  /** Whether no task waits for a thread. */
  public boolean isEmpty() {
    return tasks.isEmpty() && rest.isEmpty();
  }

  /**
   * Waits until all threads but the calling one have ended; false if the deadline has passed.
   *
   * @param deadlineNs in the time of {@link System#nanoTime}
   */
  public boolean awaitStopped(long deadlineNs) throws InterruptedException {
    for (int i = 0; i < started.get(); i++) {
      Handler handler = handlers[i];
      if (handler != Thread.currentThread()) {
        long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
        handler.join(Math.max(1, leftMs));
        if (handler.isAlive()) {
          return false;
        }
      }
    }
    return true;
  }
}
