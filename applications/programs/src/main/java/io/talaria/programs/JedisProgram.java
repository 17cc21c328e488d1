// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import redis.clients.jedis.Jedis;

/** Jedis, on {@code java.net.Socket}: one connection for each client. */
final class JedisProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    return RedisServer.start();
  }

  @Override
  public Guest connect(int port) {
    Jedis jedis = new Jedis("127.0.0.1", port);
    byte[] key = ("jedis-" + System.identityHashCode(jedis)).getBytes(StandardCharsets.UTF_8);
    return message -> {
      jedis.set(key, message);
      return jedis.get(key);
    };
  }
}
