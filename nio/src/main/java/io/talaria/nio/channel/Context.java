// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Reason;
import io.talaria.nio.config.Config;
import io.talaria.nio.config.PrivateDirectory;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.negotiation.Negotiator;
import io.talaria.nio.shm.ShmFabric;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What all channels and selectors of a process share. Made with the provider, once. */
public final class Context {
  private final SelectorProvider provider;
  private final SelectorProvider jdk;
  private final Config config;
  private final Fabric fabric;
  private final Negotiator negotiator;
  private final ProcessCounters counters;
  private final Spinning spinning;
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  /**
   * @param provider the provider that programs see
   * @param config the checked configuration
   */
  public Context(SelectorProvider provider, Config config) {
    this.provider = provider;
    this.config = config;
    jdk = JdkNio.provider();
    spinning = new Spinning(config.spinNs());
    ShmFabric shm =
        new ShmFabric(
            new PrivateDirectory(config.shmDir(), Reason.NO_SHM_DIR),
            config.ringInitialBytes(),
            config.ringMaxBytes());
    fabric = shm;
    negotiator =
        new Negotiator(
            jdk, new PrivateDirectory(config.dir(), Reason.NO_RUNTIME_DIR), shm, this::log);
    if (config.enabled()) {
      counters = ProcessCounters.open(config.dir(), negotiator);
      counters.makeCurrent();
      negotiator.counters(counters);
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    negotiator.removeFiles();
                    shm.removeFiles();
                    counters.close();
                  },
                  "talaria-shutdown"));
    } else {
      counters = ProcessCounters.onHeap("disabled");
    }
  }

  SelectorProvider provider() {
    return provider;
  }

  SelectorProvider jdk() {
    return jdk;
  }

  boolean enabled() {
    return config.enabled();
  }

  Fabric fabric() {
    return fabric;
  }

  Negotiator negotiator() {
    return negotiator;
  }

  ProcessCounters counters() {
    return counters;
  }

  Spinning spinning() {
    return spinning;
  }

  /** Logs a line, each text once in the life of the process. */
  private void log(String line) {
    if (logged.size() < 256 && logged.add(line)) {
      System.getLogger("io.talaria.nio").log(System.Logger.Level.INFO, line);
    }
  }
}
