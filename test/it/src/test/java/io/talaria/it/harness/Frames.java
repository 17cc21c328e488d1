// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Frames of the negotiation as an attacker would forge them: written down here a second time, so
 * that what Talaria's own code would never send can be sent. Big-endian: length:2 type:1 body.
 */
public final class Frames {
  /** Bytes of the memory that two processes share. */
  public static final int REGION_BYTES = 45_056;

  /** Of the negotiation, spoken by this build. */
  public static final int VERSION = 4;

  private static final int RING = 32 << 10;

  /** Bytes of a session's first slab with rings of 32 KiB: a page and one for each side. */
  public static final int SLAB_BYTES = 4096 + 2 * RING;

  private static final int HELLO = 1;
  private static final int OFFER = 4;
  private static final int WITHDRAW = 7;
  private static final int TRANSPORT = 8;

  private Frames() {}

  /**
   * A greeting that is right but for what it is told to be.
   *
   * @param region the number in the name of the file to share
   * @return the frame
   * @throws IOException if this host cannot be described
   */
  public static ByteBuffer hello(long region) throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
    return hello(VERSION, boot, region);
  }

  /**
   * A greeting.
   *
   * @param version of the negotiation
   * @param boot the host's boot
   * @param region the number in the name of the file to share
   * @return the frame
   * @throws IOException if this host cannot be described
   */
  public static ByteBuffer hello(int version, String boot, long region) throws IOException {
    ByteBuffer body = ByteBuffer.allocate(1024);
    body.putLong(0x5461_6c61_7269_6100L).putShort((short) version);
    body.putLong(ProcessHandle.current().pid());
    string(body, boot);
    string(body, Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString());
    body.put((byte) 0); // does not share its network namespace
    string(body, "shm");
    body.putShort((short) 8).putLong(region);
    return frame(HELLO, body);
  }

  /**
   * An offer of a page in a slab.
   *
   * @param id of the offer
   * @param client one end of the connection it is for
   * @param server the other end
   * @param slot the slot
   * @return the frame
   */
  public static ByteBuffer offer(
      int id, InetSocketAddress client, InetSocketAddress server, int slot) {
    ByteBuffer body = ByteBuffer.allocate(256).putInt(id);
    address(body, client);
    address(body, server);
    string(body, ""); // no proof: both ends are in one network namespace
    body.putShort((short) 8).putInt(slot).putInt(1);
    return frame(OFFER, body);
  }

  /**
   * Takes an offer back.
   *
   * @param id of the offer
   * @return the frame
   */
  public static ByteBuffer withdraw(int id) {
    return frame(WITHDRAW, ByteBuffer.allocate(16).putInt(id));
  }

  /**
   * A message from transport to transport.
   *
   * @param message its bytes
   * @return the frame
   */
  public static ByteBuffer transport(ByteBuffer message) {
    return frame(TRANSPORT, ByteBuffer.allocate(1024).put(message));
  }

  /**
   * A slab, said to be in a file.
   *
   * @param slab its index
   * @param file the number in the name of the file
   * @return the frame
   */
  public static ByteBuffer slab(int slab, long file) {
    ByteBuffer message = ByteBuffer.allocate(17).put((byte) 6).putInt(slab);
    return transport(message.putLong(file).putInt(RING).flip());
  }

  /**
   * A larger ring, said to be in a file.
   *
   * @param slot the slot
   * @param file the number in the name of the ring's file
   * @param bytes its size
   * @return the frame
   */
  public static ByteBuffer grow(int slot, long file, int bytes) {
    ByteBuffer message = ByteBuffer.allocate(29).put((byte) 3).putInt(slot).putInt(1);
    return transport(message.putLong(1).putLong(file).putInt(bytes).flip());
  }

  /**
   * The start of the memory that two processes share.
   *
   * @return a region of zeros with its magic number
   */
  public static byte[] region() {
    ByteBuffer region = ByteBuffer.allocate(REGION_BYTES).order(ByteOrder.nativeOrder());
    return region.putLong(0, 0x5441_4c50_4545_5203L).array();
  }

  /**
   * A session's first slab before its first use.
   *
   * @return zeros with a header
   */
  public static byte[] slab() {
    ByteBuffer slab = ByteBuffer.allocate(SLAB_BYTES).order(ByteOrder.nativeOrder());
    return slab.putLong(0, 0x5441_4c41_5249_4103L).putLong(8, RING).putLong(16, 1).array();
  }

  private static ByteBuffer frame(int type, ByteBuffer body) {
    body.flip();
    ByteBuffer frame = ByteBuffer.allocate(3 + body.remaining());
    return frame.putShort((short) (1 + body.remaining())).put((byte) type).put(body).flip();
  }

  private static void string(ByteBuffer to, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    to.put((byte) bytes.length).put(bytes);
  }

  private static void address(ByteBuffer to, InetSocketAddress address) {
    byte[] ip = address.getAddress().getAddress();
    to.put((byte) ip.length).put(ip).putShort((short) address.getPort());
  }
}
