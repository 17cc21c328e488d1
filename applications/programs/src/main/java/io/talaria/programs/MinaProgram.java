// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.mina.core.buffer.IoBuffer;
import org.apache.mina.core.service.IoHandlerAdapter;
import org.apache.mina.core.session.IoSession;
import org.apache.mina.filter.codec.CumulativeProtocolDecoder;
import org.apache.mina.filter.codec.ProtocolCodecFilter;
import org.apache.mina.filter.codec.ProtocolDecoderOutput;
import org.apache.mina.filter.codec.ProtocolEncoderAdapter;
import org.apache.mina.filter.codec.ProtocolEncoderOutput;
import org.apache.mina.transport.socket.nio.NioSocketAcceptor;
import org.apache.mina.transport.socket.nio.NioSocketConnector;

/** MINA: an echo of messages that begin with their length. */
final class MinaProgram implements ThirdParty {
  private static ProtocolCodecFilter codec() {
    return new ProtocolCodecFilter(new Encoder(), new Decoder());
  }

  @Override
  public int serve(Path folder) throws Exception {
    NioSocketAcceptor acceptor = new NioSocketAcceptor();
    acceptor.getFilterChain().addLast("codec", codec());
    acceptor.setHandler(
        new Handler() {
          @Override
          public void messageReceived(IoSession session, Object message) {
            session.write(message);
          }
        });
    acceptor.bind(new InetSocketAddress("127.0.0.1", 0));
    return acceptor.getLocalAddress().getPort();
  }

  @Override
  public Guest connect(int port) {
    BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
    NioSocketConnector connector = new NioSocketConnector();
    connector.getFilterChain().addLast("codec", codec());
    connector.setHandler(
        new Handler() {
          @Override
          public void messageReceived(IoSession session, Object message) {
            answers.add((byte[]) message);
          }
        });
    IoSession session =
        connector
            .connect(new InetSocketAddress("127.0.0.1", port))
            .awaitUninterruptibly()
            .getSession();
    return message -> {
      session.write(message);
      return answers.poll(PATIENCE_S, TimeUnit.SECONDS);
    };
  }

  private static class Handler extends IoHandlerAdapter {
    @Override
    public void exceptionCaught(IoSession session, Throwable cause) {
      Failure.end(cause);
    }
  }

  private static final class Encoder extends ProtocolEncoderAdapter {
    @Override
    public void encode(IoSession session, Object message, ProtocolEncoderOutput out) {
      byte[] bytes = (byte[]) message;
      out.write(IoBuffer.allocate(4 + bytes.length).putInt(bytes.length).put(bytes).flip());
    }
  }

  private static final class Decoder extends CumulativeProtocolDecoder {
    @Override
    protected boolean doDecode(IoSession session, IoBuffer in, ProtocolDecoderOutput out) {
      if (!in.prefixedDataAvailable(4)) {
        return false;
      }
      byte[] bytes = new byte[in.getInt()];
      in.get(bytes);
      out.write(bytes);
      return true;
    }
  }
}
