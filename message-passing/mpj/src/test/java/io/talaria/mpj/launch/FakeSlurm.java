// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;

/**
 * Says to ranks what Slurm says by PMI-2. As there, what a rank puts is seen after the next fence,
 * and not before. Each rank connects by itself, where Slurm would leave a socket open.
 */
final class FakeSlurm implements AutoCloseable {
  private final ServerSocket listener;
  private final int size;
  private final Runnable onAbort;
  private final Map<String, String> put = new ConcurrentHashMap<>();
  private final Map<String, String> seen = new ConcurrentHashMap<>();
  private final CyclicBarrier fence;

  FakeSlurm(int size, Runnable onAbort) throws IOException {
    this.size = size;
    this.onAbort = onAbort;
    fence = new CyclicBarrier(size, () -> seen.putAll(put));
    listener = new ServerSocket(0, size, InetAddress.getLoopbackAddress());
    thread(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private static void thread(Runnable work) {
    Thread thread = new Thread(work, "fake-slurm");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        thread(() -> serve(socket));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      StringBuilder line = new StringBuilder();
      for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
        line.append((char) b);
      }
      boolean right = line.toString().equals("cmd=init pmi_version=2 pmi_subversion=0");
      String rc = right ? "0" : "1";
      say(out, "cmd=response_to_init rc=" + rc + " pmi_version=2 pmi_subversion=0\n");
      while (right && answer(in, out)) {
        // Until it is done.
      }
    } catch (IOException | BrokenBarrierException | InterruptedException e) {
      // The rank has ended.
    }
  }

  private static void say(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  private static String text(InputStream in, int bytes) throws IOException {
    byte[] read = in.readNBytes(bytes);
    if (read.length < bytes) {
      throw new EOFException();
    }
    return new String(read, StandardCharsets.US_ASCII);
  }

  /** Answers a message; whether there will be others. */
  private boolean answer(InputStream in, OutputStream out)
      throws IOException, BrokenBarrierException, InterruptedException {
    Map<String, String> fields = new TreeMap<>();
    for (String word : text(in, Integer.parseInt(text(in, 6).trim())).split(";")) {
      String[] parts = word.split("=", 2);
      fields.put(parts[0], parts[1]);
    }
    String command = fields.get("cmd");
    String found = "rc=0;";
    switch (command) {
      case "fullinit" -> {
        String rank = fields.get("pmirank");
        found = "rc=0;pmi-version=2;pmi-subversion=0;rank=" + rank + ";size=" + size + ";";
      }
      case "kvs-put" -> put.put(fields.get("key"), fields.get("value"));
      case "kvs-fence" -> fence.await();
      case "kvs-get" -> {
        String value = seen.get(fields.get("key"));
        found = value == null ? "rc=0;found=FALSE;" : "rc=0;found=TRUE;value=" + value + ";";
      }
      case "finalize" -> {}
      case "abort" -> {
        onAbort.run();
        return false;
      }
      default -> found = "rc=14;errmsg=unknown;";
    }
    String message = "cmd=" + command + "-response;" + found;
    say(out, String.format(Locale.ROOT, "%-6d", message.length()) + message);
    return !command.equals("finalize");
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
