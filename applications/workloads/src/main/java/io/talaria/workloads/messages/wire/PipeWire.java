// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HarnessException;
import io.talaria.workloads.messages.objects.Tally;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A named pipe each way: what the kernel takes to wake a thread of another process, and little
 * else. Each message is a request or a response, so a read has one message.
 */
public final class PipeWire implements Wire {
  private static final int MAX_BYTES = 256;

  private final RandomAccessFile out;
  private final RandomAccessFile in;
  private final byte[] outBytes = new byte[MAX_BYTES];
  private final byte[] inBytes = new byte[MAX_BYTES];
  private final UnsafeBuffer toWrite = new UnsafeBuffer(outBytes);
  private final UnsafeBuffer received = new UnsafeBuffer(inBytes);

  /** The client's end; the pipes are there. */
  PipeWire(MessagesJob job) throws IOException {
    this(there(job), back(job));
  }

  /** Opened for both, a pipe waits for no other end to be opened. */
  private PipeWire(Path out, Path in) throws IOException {
    this.out = new RandomAccessFile(out.toFile(), "rw");
    this.in = new RandomAccessFile(in.toFile(), "rw");
  }

  private static Path there(MessagesJob job) {
    return Path.of(job.directory()).resolve("there");
  }

  private static Path back(MessagesJob job) {
    return Path.of(job.directory()).resolve("back");
  }

  static Service serve(MessagesJob job) throws Exception {
    Process mkfifo =
        new ProcessBuilder("mkfifo", there(job).toString(), back(job).toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    if (mkfifo.waitFor() != 0) {
      throw new HarnessException("mkfifo made no pipes in " + job.directory());
    }
    PipeWire end = new PipeWire(back(job), there(job));
    Thread thread = new Thread(end::respond, "receiver");
    thread.setDaemon(true);
    thread.start();
    return Service.of(0, end::close);
  }

  private void respond() {
    try {
      Tally none = new Tally(0, 0, 0);
      while (true) {
        Object message = read();
        write(Handmade.PLAIN, message instanceof Handmade.HowMany ? none : message);
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void write(int kind, Object message) throws IOException {
    Handmade.write(toWrite, 0, kind, message);
    out.write(outBytes, 0, Handmade.size(message));
  }

  private Object read() throws IOException {
    if (in.read(inBytes) < 0) {
      throw new IOException("the pipe has ended");
    }
    return Handmade.read(received, 0);
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return message -> {
      throw new UnsupportedOperationException("each message is a request here");
    };
  }

  @Override
  public Tally tally() throws IOException {
    return (Tally) request(new Handmade.HowMany());
  }

  @Override
  public Object request(Object message) throws IOException {
    write(Handmade.REQUEST, message);
    return read();
  }

  @Override
  public void close() {
    try (out;
        in) {
      // Both are closed.
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
