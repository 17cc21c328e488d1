// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.Received;
import java.util.List;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpRequest;

/**
 * An endpoint with one receive posted, whose call-back it is. JUCX holds it, and by it the block,
 * as long as the receive is under way: nothing can cancel that but the close. The block grows when
 * it was filled, and shrinks after many receives that had no need of it; if memory is short, it
 * stays as it is.
 */
final class JucxEndpoint extends UcxCallback implements BoundEndpoint {
  private static final int MANY = 256;

  final Object attachment;
  private final JucxWorker worker;
  private final UcpEndpoint endpoint;
  private JucxBlock block;
  private boolean open = true;

  /** UCX has the block. */
  private boolean posted;

  /** It has been filled, with so many bytes. */
  private boolean arrived;

  private int arrivedBytes;

  /** How many receives in turn would have fitted into the smallest block. */
  private int small;

  /** A negative status once a receive has failed. */
  private int failure;

  /** Whether the worker's list has it. */
  boolean listed;

  /**
   * @param block of the smallest size; its own from now on
   */
  JucxEndpoint(JucxWorker worker, UcpEndpoint endpoint, Object attachment, JucxBlock block) {
    this.worker = worker;
    this.endpoint = endpoint;
    this.attachment = attachment;
    this.block = block;
  }

  // ---- receiving

  /** Has UCX fill the block; not inside a call-back. */
  void post() {
    posted = true;
    try {
      endpoint.recvStreamNonBlocking(
          block.address, block.bytes().capacity(), 0, this, worker.inMainMemory());
    } catch (UcxException e) {
      posted = false;
      failure = JucxWorker.status(e);
    }
  }

  /** A receive is done: inside progress, or inside {@link #post}. */
  @Override
  public void onSuccess(UcpRequest request) {
    posted = false;
    arrived = true;
    arrivedBytes = (int) request.getRecvSize();
    if (open) {
      worker.ready(this);
    }
  }

  /** A receive has failed, or was given up by the close. */
  @Override
  public void onError(int status, String message) {
    posted = false;
    failure = Math.min(status, -1);
  }

  @Override
  public long receiveStream(Received place) {
    if (!arrived) {
      return failure;
    }
    if (arrivedBytes == 0) {
      taken();
      return 0;
    }
    ((JucxReceived) place).hold(this, block.bytes(), arrivedBytes);
    return arrivedBytes;
  }

  /** What had arrived is taken over. */
  void taken() {
    arrived = false;
    if (open) {
      fit();
      post();
    }
  }

  private void fit() {
    int capacity = block.bytes().capacity();
    if (arrivedBytes == capacity && capacity < BlockPool.MAX_BYTES) {
      exchange(capacity * BlockPool.STEP);
      small = 0;
    } else if (arrivedBytes > BlockPool.MIN_BYTES || capacity == BlockPool.MIN_BYTES) {
      small = 0;
    } else if (++small == MANY) {
      exchange(BlockPool.MIN_BYTES);
      small = 0;
    }
  }

  private void exchange(int bytes) {
    JucxBlock other = worker.tryTakeBlock(bytes);
    if (other != null) {
      JucxBlock before = block;
      block = other;
      worker.giveBack(before);
    }
  }

  // ---- sending

  @Override
  public long sendStream(Block from, int length) {
    worker.requests().reserve();
    try {
      return worker
          .requests()
          .posted(
              endpoint.sendStreamNonBlocking(
                  ((JucxBlock) from).address, length, null, worker.inMainMemory()),
              from);
    } catch (UcxException e) {
      return JucxWorker.status(e);
    }
  }

  @Override
  public long sendTag(Block from, int length, long tag) {
    worker.requests().reserve();
    try {
      return worker
          .requests()
          .posted(
              endpoint.sendTaggedNonBlocking(
                  ((JucxBlock) from).address, length, tag, null, worker.inMainMemory()),
              from);
    } catch (UcxException e) {
      return JucxWorker.status(e);
    }
  }

  // ---- closing

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public List<String> transports() {
    return worker.transports();
  }

  @Override
  public long flush() {
    worker.requests().reserve();
    try {
      return worker.requests().posted(endpoint.flushNonBlocking(null), null);
    } catch (UcxException e) {
      return JucxWorker.status(e);
    }
  }

  @Override
  public long closeForced() {
    if (!open) {
      throw new IllegalStateException("the endpoint is closed");
    }
    worker.requests().reserve();
    open = false;
    try {
      long answer = worker.requests().posted(endpoint.closeNonBlockingForce(), this);
      if (answer <= 0) {
        closed();
      }
      return answer;
    } catch (UcxException e) {
      closed();
      return JucxWorker.status(e);
    }
  }

  /** UCX is done with it. */
  void closed() {
    worker.forget(this);
    if (!posted && block != null) {
      worker.giveBack(block);
      block = null;
    }
  }
}
