// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.Peer;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.client.api.BKException;
import org.apache.bookkeeper.client.api.BookKeeper;
import org.apache.bookkeeper.client.api.DigestType;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.api.WriteHandle;
import org.apache.bookkeeper.common.concurrent.FutureUtils;
import org.apache.bookkeeper.conf.ClientConfiguration;

/**
 * A client of a cluster of one bookie; each ledger has one copy. The caller that connects it closes
 * it.
 */
final class Ledgers {
  /** To ZooKeeper and to the bookie. */
  static final int CONNECTIONS = 2;

  private static final byte[] PASSWORD = {};
  static final int LIMIT_MS = 10_000;
  private static final int RETRY_MS = 100;

  private final BookKeeper client;

  private Ledgers(BookKeeper client) {
    this.client = client;
  }

  /** Returns how BookKeeper names the place of its metadata. */
  static String metadataUri(HostPort zookeeper) {
    return "zk+hierarchical://" + zookeeper + "/ledgers";
  }

  static Ledgers connect(HostPort metadata) throws HarnessException, InterruptedException {
    ClientConfiguration configuration = new ClientConfiguration();
    configuration.setMetadataServiceUri(metadataUri(metadata));
    configuration.setZkTimeout(LIMIT_MS);
    configuration.setNumChannelsPerBookie(1);
    try {
      return new Ledgers(BookKeeper.newBuilder(configuration).build());
    } catch (BKException | IOException e) {
      throw Peer.cannotConnect(metadata, e);
    }
  }

  /**
   * Waits for what BookKeeper does; ten seconds at most, because it may wait for lost servers
   * itself.
   *
   * @throws TimeoutException if that was not enough
   * @throws Exception as BookKeeper has failed
   */
  static <T> T await(CompletableFuture<T> future) throws Exception {
    try {
      return FutureUtils.result(future, LIMIT_MS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw noAnswer();
    }
  }

  static TimeoutException noAnswer() {
    return new TimeoutException("no answer within " + LIMIT_MS / 1_000 + " s");
  }

  /**
   * Creates a ledger. A bookie that is busy may lose its session with ZooKeeper, and is no member
   * of the cluster until it has registered again: that is waited for.
   */
  WriteHandle create() throws Exception {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
    while (true) {
      try {
        return await(
            client
                .newCreateLedgerOp()
                .withEnsembleSize(1)
                .withWriteQuorumSize(1)
                .withAckQuorumSize(1)
                .withPassword(PASSWORD)
                .withDigestType(DigestType.CRC32C)
                .execute());
      } catch (BKException e) {
        if (e.getCode() != BKException.Code.NotEnoughBookiesException
            || System.nanoTime() - deadlineNs > 0) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MS);
      }
    }
  }

  ReadHandle open(long id) throws Exception {
    return await(
        client
            .newOpenLedgerOp()
            .withLedgerId(id)
            .withPassword(PASSWORD)
            .withDigestType(DigestType.CRC32C)
            .execute());
  }

  void close() throws BKException, InterruptedException {
    client.close();
  }
}
