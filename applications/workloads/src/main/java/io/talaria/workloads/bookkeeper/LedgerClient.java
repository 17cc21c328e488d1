// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Peer;
import io.talaria.bench.compare.Settling;
import io.talaria.bench.compare.Task;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.bookkeeper.LedgerResult.Measure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import org.apache.bookkeeper.client.api.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.api.WriteHandle;

/** Writes a ledger for each size, and reads it back. Used by one thread. */
final class LedgerClient {
  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);

  private final ParentLink link;
  private final LedgerJob job;
  private final List<Measure> measures = new ArrayList<>();
  private long reported = System.nanoTime();

  private LedgerClient(ParentLink link, LedgerJob job) {
    this.link = link;
    this.job = job;
  }

  static Object run(ParentLink link, Task task) throws Exception {
    LedgerClient client = new LedgerClient(link, task.job(LedgerJob.class));
    // Closed at the end of all only: without its servers BookKeeper would wait for them.
    Ledgers ledgers = Ledgers.connect(task.where());
    try {
      LedgerResult result = client.measure(ledgers);
      ledgers.close();
      return result;
    } catch (BKException | TimeoutException e) {
      throw Peer.lost(task.where(), "or to the bookie", e);
    }
  }

  private LedgerResult measure(Ledgers ledgers) throws Exception {
    Settling.await(Ledgers.CONNECTIONS, () -> settle(ledgers));
    boolean rested = warmUp(ledgers);
    for (int size : job.sizes()) {
      byte[] data = data(size);
      WriteHandle written = ledgers.create();
      measures.add(measure("write", size, number -> written.appendAsync(data)));
      written.close();
      ReadHandle read = ledgers.open(written.getId());
      measures.add(measure("read", size, number -> readChecked(read, number, data)));
      read.close();
    }
    return new LedgerResult(measures, TransportProbe.look(), rested);
  }

  /** Speaks to ZooKeeper and to the bookie. */
  private static void settle(Ledgers ledgers) throws Exception {
    byte[] data = data(1);
    WriteHandle ledger = ledgers.create();
    writeAndRead(ledger, 0, data);
    ledger.close();
  }

  /** Both directions until all is compiled; returns whether it is. */
  private boolean warmUp(Ledgers ledgers) throws Exception {
    byte[] data = data(job.sizes().getFirst());
    WarmUp until = job.warmUp().begin(Ledgers.CONNECTIONS);
    WriteHandle ledger = ledgers.create();
    for (long number = 0; number == 0 || !until.done(number); number++) {
      writeAndRead(ledger, number, data);
      report("warming up");
    }
    ledger.close();
    return until.rested();
  }

  private static void writeAndRead(WriteHandle ledger, long number, byte[] data) throws Exception {
    Ledgers.await(ledger.appendAsync(data));
    Ledgers.await(readChecked(ledger, number, data));
  }

  private Measure measure(String operation, int size, LongFunction<CompletableFuture<?>> start)
      throws Exception {
    Window window = new Window(job.outstanding());
    long begin = System.nanoTime();
    for (long number = 0; number < job.entries(); number++) {
      window.submit(start, number);
      report(operation + "s of " + size + " B: " + number);
    }
    window.drain();
    long elapsedNs = System.nanoTime() - begin;
    return new Measure(
        operation, size, job.entries(), elapsedNs, Latencies.encode(window.histogram()));
  }

  private static CompletableFuture<Void> readChecked(ReadHandle ledger, long number, byte[] data) {
    return ledger
        .readUnconfirmedAsync(number, number)
        .thenAccept(
            entries -> {
              try (LedgerEntries read = entries) {
                if (read.getEntry(number).getEntryBuffer().readableBytes() != data.length) {
                  throw new IllegalStateException(
                      "entry " + number + " has not come back with its " + data.length + " B");
                }
              }
            });
  }

  private void report(String progress) {
    long now = System.nanoTime();
    if (now - reported > REPORT_NS) {
      reported = now;
      link.report(Orders.PROGRESS, progress);
    }
  }

  private static byte[] data(int size) throws HarnessException {
    byte[] data = new byte[size];
    for (int i = 0; i < size; i++) {
      data[i] = (byte) i;
    }
    return data;
  }
}
