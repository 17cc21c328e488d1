// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import org.openucx.jucx.UcxUtils;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpRequestParams;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;
import org.openucx.jucx.ucs.UcsConstants;

/**
 * A program that uses JUCX itself, by a thread with a context of its own, while {@link Churn} makes
 * its connections. Says {@code own COUNT} before {@link Churn} begins and after it is done: how
 * many messages of its own have arrived as they were sent.
 */
final class OwnUse {
  private static final int BYTES = 64;
  private static final int LEAST = 1_000;
  private static final long LOOK_NS = 100_000;

  private volatile boolean ends;
  private volatile long count;
  private volatile Throwable failure;

  private OwnUse() {}

  /**
   * Runs it.
   *
   * @param arguments how many connections
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    OwnUse own = new OwnUse();
    Thread thread = new Thread(own::useGuarded, "own");
    thread.start();
    own.awaitMore();
    Churn.make(Integer.parseInt(arguments[0]));
    own.awaitMore();
    own.ends = true;
    thread.join();
    System.exit(own.failure == null ? 0 : 1);
  }

  private void awaitMore() {
    long wanted = count + LEAST;
    while (count < wanted && failure == null) {
      LockSupport.parkNanos(LOOK_NS);
    }
    System.out.println("own " + count);
  }

  private void useGuarded() {
    try {
      use();
    } catch (Throwable t) {
      t.printStackTrace();
      failure = t;
    }
  }

  private void use() throws Exception {
    UcpRequestParams host =
        new UcpRequestParams().setMemoryType(UcsConstants.MEMORY_TYPE.UCS_MEMORY_TYPE_HOST);
    ByteBuffer out = ByteBuffer.allocateDirect(BYTES);
    ByteBuffer in = ByteBuffer.allocateDirect(BYTES);
    UcpContext context = new UcpContext(new UcpParams().requestTagFeature());
    UcpWorker here = context.newWorker(new UcpWorkerParams());
    UcpWorker there = context.newWorker(new UcpWorkerParams());
    UcpEndpoint endpoint =
        here.newEndpoint(new UcpEndpointParams().setUcpAddress(there.getAddress()));
    for (long message = 0; !ends; message++) {
      for (int i = 0; i < BYTES; i++) {
        out.put(i, (byte) (message + i));
        in.put(i, (byte) 0);
      }
      UcpRequest received =
          there.recvTaggedNonBlocking(UcxUtils.getAddress(in), BYTES, message, -1L, null, host);
      UcpRequest sent =
          endpoint.sendTaggedNonBlocking(UcxUtils.getAddress(out), BYTES, message, null, host);
      while (!received.isCompleted() || !sent.isCompleted()) {
        here.progress();
        there.progress();
      }
      if (!in.equals(out)) {
        throw new IllegalStateException("other bytes in message " + message);
      }
      count = message + 1;
    }
    endpoint.close();
    here.close();
    there.close();
    context.close();
  }
}
