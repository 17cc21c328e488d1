// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Lettuce, on Netty: the commands of several threads share a connection. */
final class LettuceProgram implements ThirdParty {
  private final RedisClient client = RedisClient.create();

  @Override
  public int serve(Path folder) throws Exception {
    return RedisServer.start();
  }

  @Override
  public Guest connect(int port) {
    client.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
    RedisCommands<byte[], byte[]> commands =
        client.connect(ByteArrayCodec.INSTANCE, RedisURI.create("127.0.0.1", port)).sync();
    return new Guest() {
      @Override
      public byte[] exchange(byte[] message) {
        byte[] key = Thread.currentThread().getName().getBytes(StandardCharsets.UTF_8);
        commands.set(key, message);
        return commands.get(key);
      }

      @Override
      public int threads() {
        return 4;
      }
    };
  }
}
