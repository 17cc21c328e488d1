// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import java.nio.file.Path;
import java.util.Map;

/** Hazelcast: a member, and clients whose threads put into its map and get from it. */
final class HazelcastProgram implements ThirdParty {
  private static final String CALLS_HOME = "hazelcast.phone.home.enabled";

  @Override
  public int serve(Path folder) throws Exception {
    int port = ThirdParty.freePort();
    Config config = new Config();
    config.setProperty(CALLS_HOME, "false");
    NetworkConfig network = config.getNetworkConfig();
    network.setPort(port).setPortAutoIncrement(false);
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true).addMember("127.0.0.1:" + port);
    Hazelcast.newHazelcastInstance(config);
    return port;
  }

  @Override
  public Guest connect(int port) {
    ClientConfig config = new ClientConfig();
    config.getNetworkConfig().addAddress("127.0.0.1:" + port);
    HazelcastInstance client = HazelcastClient.newHazelcastClient(config);
    Map<String, byte[]> map = client.getMap("echo");
    return new Guest() {
      @Override
      public byte[] exchange(byte[] message) {
        String key = Thread.currentThread().getName();
        map.put(key, message);
        return map.get(key);
      }

      @Override
      public int threads() {
        return 2;
      }
    };
  }
}
