// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The handler threads of a node: they take tasks in the order in which these came. While some wait
 * in calls of this package, others take their place, up to a limit. Any thread.
 */
public final class Handlers {
  private static final int TASKS = 1 << 16;

  private final BoundedQueue<Task> tasks;

  /** What found no place there: nobody who brings a task may wait, and none may be forgotten. */
  private final ConcurrentLinkedQueue<Task> rest = new ConcurrentLinkedQueue<>();

  private final String name;
  private final Consumer<Throwable> failed;
  private final int wanted;
  private final Handler[] handlers;
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger idle = new AtomicInteger();
  private volatile boolean stopped;

  /**
   * Starts none yet: the first task does.
   *
   * @param name begin of the threads' names
   * @param wanted how many work at a time
   * @param most how many there are, those that wait included
   * @param failed is told what a task has thrown, and that a thread could not be started; must not
   *     throw
   */
  public Handlers(String name, int wanted, int most, Consumer<Throwable> failed) {
    this(name, wanted, most, failed, TASKS);
  }

  Handlers(String name, int wanted, int most, Consumer<Throwable> failed, int capacity) {
    this.failed = failed;
    tasks = new BoundedQueue<>(capacity);
    this.name = name;
    this.wanted = wanted;
    handlers = new Handler[most];
  }

  private final class Handler extends Thread {
    final AtomicInteger sleeps = new AtomicInteger();

    Handler(int number) {
      super(name + number);
      setDaemon(true);
    }

    @Override
    public void run() {
      while (!stopped) {
        Task task = next();
        if (task != null) {
          try {
            task.turn();
          } catch (Throwable e) { // the program's, or no memory: this thread goes on
            failed.accept(e);
          }
          Thread.interrupted(); // a receiver's business, not the next one's
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

  /** Whether the calling thread is a handler of any node. */
  public static boolean isHandler() {
    return Thread.currentThread() instanceof Handler;
  }

  /** Has a task run. */
  public void run(Task task) {
    if (!tasks.offer(task)) {
      rest.add(task);
    }
    VarHandle.fullFence();
    wakeOrStartOne();
  }

  /** Tells what has gone wrong. */
  void failed(Throwable thrown) {
    failed.accept(thrown);
  }

  /** Now and then: a thread that could not be started is tried again, if tasks wait. */
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

  /** Takes the next task, or null. Any thread that will run it. */
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
        Handler handler = new Handler(count);
        handlers[count] = handler; // known before it runs: it may sleep at once
        started.set(count + 1);
        try {
          handler.start();
        } catch (Throwable e) { // not the fault of whoever brought the task, which waits here
          started.set(count); // the next task tries again, or the look now and then
          failed.accept(e);
        }
      }
    }
  }

  /** Before a handler waits in a call of this package: another one takes over. */
  public void beginWait() {
    waiting.incrementAndGet();
    if (!isEmpty()) {
      startOne();
    }
  }

  /** After that. */
  public void endWait() {
    waiting.decrementAndGet();
  }

  /** Lets no more tasks begin. */
  public void stop() {
    stopped = true;
    synchronized (this) {
      for (int i = 0; i < started.get(); i++) {
        LockSupport.unpark(handlers[i]);
      }
    }
  }

  /** Whether all tasks were taken. */
  public boolean isEmpty() {
    return tasks.isEmpty() && rest.isEmpty();
  }

  /** Waits until the threads have ended, but for the calling one. */
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
