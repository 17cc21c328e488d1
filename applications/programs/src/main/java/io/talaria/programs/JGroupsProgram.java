// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;

/** JGroups on {@code TCP_NIO2}: each client is a member, and sends to the coordinator. */
final class JGroupsProgram implements ThirdParty {
  /** How long the first looks for others before it is the coordinator. */
  private static final int ALONE_MS = 1_000;

  private static final int JOIN_MS = 30_000;

  /** How many ports above its own a member may take that nobody must find there. */
  private static final int SPARE_PORTS = 50;

  /** What a member does with a message. */
  @FunctionalInterface
  private interface Taker {
    void take(Message message, byte[] bytes) throws Exception;
  }

  private static JChannel member(int port, int coordinator, int joinTimeoutMs) throws Exception {
    String stack =
        """
        <config xmlns="urn:org:jgroups">
          <TCP_NIO2 bind_addr="127.0.0.1" bind_port="%d" port_range="%d"/>
          <TCPPING initial_hosts="127.0.0.1[%d]" port_range="0"/>
          <MERGE3/>
          <FD_ALL3 timeout="40000"/>
          <VERIFY_SUSPECT2/>
          <pbcast.NAKACK2/>
          <UNICAST3/>
          <pbcast.STABLE/>
          <pbcast.GMS join_timeout="%d"/>
          <FRAG2/>
        </config>
        """
            .formatted(port, port == coordinator ? 0 : SPARE_PORTS, coordinator, joinTimeoutMs);
    return new JChannel(new ByteArrayInputStream(stack.getBytes(StandardCharsets.UTF_8)));
  }

  private static void join(JChannel member, Taker taker) throws Exception {
    member.setReceiver(
        new Receiver() {
          @Override
          public void receive(Message message) {
            try {
              int from = message.getOffset();
              taker.take(
                  message,
                  Arrays.copyOfRange(message.getArray(), from, from + message.getLength()));
            } catch (Exception e) {
              Failure.end(e);
            }
          }
        });
    member.connect("talaria");
  }

  @Override
  public int serve(Path folder) throws Exception {
    int port = ThirdParty.freePort();
    JChannel member = member(port, port, ALONE_MS);
    join(member, (message, bytes) -> member.send(new BytesMessage(message.getSrc(), bytes)));
    return port;
  }

  @Override
  public Guest connect(int port) throws Exception {
    BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
    JChannel member = member(ThirdParty.freePort(), port, JOIN_MS);
    join(member, (message, bytes) -> answers.add(bytes));
    if (member.getView().size() < 2) { // it would be its own coordinator, and answer itself
      throw new IOException("the member at port " + port + " was not found: " + member.getView());
    }
    return message -> {
      member.send(new BytesMessage(member.getView().getCoord(), message));
      return answers.poll(PATIENCE_S, TimeUnit.SECONDS);
    };
  }
}
