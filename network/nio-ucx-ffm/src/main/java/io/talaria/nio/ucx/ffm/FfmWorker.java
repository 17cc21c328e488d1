// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;

/** A worker of the module {@code ucx}, whose request numbers and status codes are the same. */
final class FfmWorker implements BoundWorker {
  private final Worker worker;
  private final Endpoint[] polled = new Endpoint[MAX_READY];

  FfmWorker(Worker worker) {
    this.worker = worker;
  }

  @Override
  public void enter() {
    worker.enter();
  }

  @Override
  public boolean tryEnter() {
    return worker.tryEnter();
  }

  @Override
  public void exit() {
    worker.exit();
  }

  @Override
  public boolean entered() {
    return worker.requestsHeld() >= 0; // throws unless the thread has entered
  }

  @Override
  public byte[] address() {
    return worker.address().toRaw();
  }

  @Override
  public int eventDescriptor() {
    return worker.eventDescriptor();
  }

  @Override
  public boolean arm() {
    return worker.arm();
  }

  @Override
  public int progress() {
    return worker.progress();
  }

  @Override
  public int pollStreams(Object[] ready) {
    int count = worker.pollStreams(polled);
    for (int i = 0; i < count; i++) {
      ready[i] = polled[i].attachment();
    }
    return count;
  }

  @Override
  public BoundEndpoint connect(byte[] address, Object attachment) {
    try {
      Endpoint endpoint = worker.connect(Endpoint.Options.to(WorkerAddress.ofRaw(address)));
      endpoint.attach(attachment);
      return new FfmEndpoint(endpoint);
    } catch (UcxException e) {
      throw new BindingException(e.getMessage(), e);
    }
  }

  @Override
  public Received newReceived() {
    return new FfmReceived();
  }

  @Override
  public boolean hasMessage() {
    return worker.probeTag(0, 0) >= 0;
  }

  @Override
  public long receiveTag(Block block, int length) {
    return worker.receiveTag(((FfmBlock) block).memory, 0, length, 0, 0);
  }

  @Override
  public int status(long request) {
    return worker.status(request);
  }

  @Override
  public long receivedBytes(long request) {
    return worker.receivedBytes(request);
  }

  @Override
  public long receivedTag(long request) {
    return worker.status(request) == Status.OK ? worker.receivedTag(request) : 0;
  }

  @Override
  public void release(long request) {
    worker.release(request);
  }

  @Override
  public int poll(long request) {
    return worker.poll(request);
  }

  @Override
  public long flush() {
    return worker.flush();
  }

  @Override
  public void close() {
    worker.close();
  }
}
