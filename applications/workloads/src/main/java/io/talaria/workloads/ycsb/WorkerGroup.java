// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Tracer;
import site.ycsb.ClientThread;
import site.ycsb.DB;
import site.ycsb.DBWrapper;
import site.ycsb.Workload;

/** YCSB's client threads. Used by one thread. */
final class WorkerGroup {
  /** Limit of a thread's operations per millisecond: none. */
  private static final double UNTHROTTLED = 0;

  private final CountDownLatch finished;
  private final List<ClientThread> members = new ArrayList<>();

  /**
   * @param bindings one for each thread
   * @param transactions whether they do what the workload says; else they insert the records
   * @param operations how many in all
   */
  WorkerGroup(
      List<TimedDb> bindings,
      boolean transactions,
      Workload workload,
      Properties properties,
      long operations) {
    int threads = bindings.size();
    finished = new CountDownLatch(threads);
    // The wrapper measures; it also needs a tracer, to which nothing listens.
    Tracer tracer = new Tracer.Builder("ycsb").conf(HTraceConfiguration.EMPTY).build();
    for (int i = 0; i < threads; i++) {
      DB measured = new DBWrapper(bindings.get(i), tracer);
      measured.setProperties(properties);
      int share = Math.toIntExact(operations / threads + (i < operations % threads ? 1 : 0));
      ClientThread member =
          new ClientThread(
              measured, transactions, workload, properties, share, UNTHROTTLED, finished);
      member.setThreadId(i);
      member.setThreadCount(threads);
      members.add(member);
    }
  }

  /** Runs them all to the end; returns how long that took, in nanoseconds. */
  long run(LongConsumer everySecond) throws InterruptedException {
    long start = System.nanoTime();
    for (ClientThread member : members) {
      Thread.ofPlatform().daemon().name("talaria-ycsb").start(member);
    }
    while (!finished.await(1, TimeUnit.SECONDS)) {
      everySecond.accept(members.stream().mapToLong(ClientThread::getOpsDone).sum());
    }
    return System.nanoTime() - start;
  }
}
