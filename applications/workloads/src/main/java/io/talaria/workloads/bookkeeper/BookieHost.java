// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.compare.Service;
import io.talaria.bench.compare.Task;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.run.FolderJob;
import io.talaria.workloads.zookeeper.ZooKeeperHost;
import java.nio.file.Path;
import org.apache.bookkeeper.client.BookKeeperAdmin;
import org.apache.bookkeeper.common.component.LifecycleComponentStack;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.server.EmbeddedServer;
import org.apache.bookkeeper.server.conf.BookieConfiguration;

/**
 * One bookie, and the ZooKeeper server that keeps its metadata, both on this address. The bookie
 * takes any free port and tells it to ZooKeeper. Neither waits for the disk.
 */
final class BookieHost implements Service {
  private static final int JOURNAL_BLOCK_MB = 1;

  private final ZooKeeperHost metadata;
  private final LifecycleComponentStack bookie;

  private BookieHost(ZooKeeperHost metadata, LifecycleComponentStack bookie) {
    this.metadata = metadata;
    this.bookie = bookie;
  }

  /** Starts both; the port is ZooKeeper's. */
  static BookieHost open(Task task) throws Exception {
    Path folder = Path.of(task.job(FolderJob.class).folder());
    ZooKeeperHost metadata =
        ZooKeeperHost.open(
            new Task(
                true,
                task.where(),
                Json.tree(new FolderJob(folder.resolve("zookeeper").toString()))));
    try {
      HostPort where = new HostPort(task.where().host(), metadata.port());
      ServerConfiguration configuration = configuration(where, folder);
      if (!BookKeeperAdmin.initNewCluster(configuration)) {
        throw new HarnessException("BookKeeper cannot keep its metadata in ZooKeeper at " + where);
      }
      LifecycleComponentStack bookie =
          EmbeddedServer.builder(new BookieConfiguration(configuration))
              .build()
              .getLifecycleComponentStack();
      bookie.start();
      return new BookieHost(metadata, bookie);
    } catch (Exception e) {
      metadata.close();
      throw e;
    }
  }

  private static ServerConfiguration configuration(HostPort metadata, Path folder) {
    ServerConfiguration configuration = new ServerConfiguration();
    configuration.setMetadataServiceUri(Ledgers.metadataUri(metadata));
    configuration.setAllowEphemeralPorts(true);
    configuration.setBookiePort(0);
    configuration.setAllowLoopback(true);
    configuration.setAdvertisedAddress(metadata.host());
    configuration.setJournalDirName(folder.resolve("journal").toString());
    configuration.setLedgerDirNames(new String[] {folder.resolve("ledgers").toString()});
    configuration.setHttpServerEnabled(false);
    // The network is to be measured: entries are acknowledged once the kernel has them, at once.
    configuration.setJournalSyncData(false);
    configuration.setJournalFlushWhenQueueEmpty(true);
    configuration.setProperty("journalMaxGroupWaitMSec", 0);
    configuration.setProperty("journalPreAllocSizeMB", JOURNAL_BLOCK_MB);
    return configuration;
  }

  @Override
  public int port() {
    return metadata.port();
  }

  @Override
  public void close() {
    bookie.close();
    metadata.close();
  }
}
