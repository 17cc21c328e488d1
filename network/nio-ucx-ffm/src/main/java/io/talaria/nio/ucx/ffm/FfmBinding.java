// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.ffi.Epoll;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.DescriptorSet;
import io.talaria.nio.ucx.binding.UcxBinding;
import io.talaria.ucx.Config;
import io.talaria.ucx.Context;
import io.talaria.ucx.Feature;
import io.talaria.ucx.ThreadMode;
import io.talaria.ucx.Ucx;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import java.util.Map;

/** UCX by the module {@code ucx}. */
public final class FfmBinding implements UcxBinding {
  /** Written by {@link #start}, before others look. */
  private Context context;

  /** Makes one that is not started; found by name. */
  public FfmBinding() {}

  @Override
  public String name() {
    return "ffm";
  }

  /** Only a library that is not there can be asked for: one that is there would be loaded. */
  @Override
  public String unavailableReason() {
    return LibraryFile.ofProcess().isMissing() ? Ucx.unavailableReason().orElse("") : "";
  }

  @Override
  public String start(Map<String, String> settings) {
    // Before it is loaded, which is when UCX reads some of them.
    settings.forEach(Ucx::defaultSetting);
    String unavailableReason = Ucx.unavailableReason().orElse("");
    if (unavailableReason.isEmpty()) {
      try (Config config = Config.read()) {
        context =
            Context.open(Context.Options.of(Feature.STREAM, Feature.TAG, Feature.WAKEUP), config);
      }
    }
    return unavailableReason;
  }

  @Override
  public String versions() {
    return "ffm/" + Ucx.version();
  }

  @Override
  public boolean tellsTransports() {
    return true;
  }

  @Override
  public BoundWorker openWorker() {
    try {
      return new FfmWorker(
          Worker.open(context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED)));
    } catch (UcxException e) {
      throw new BindingException(e.getMessage(), e);
    }
  }

  @Override
  public Block newBlock(int bytes) {
    return new FfmBlock(bytes);
  }

  @Override
  public DescriptorSet newDescriptorSet() {
    return new EpollSet(new Epoll());
  }

  private record EpollSet(Epoll epoll) implements DescriptorSet {
    @Override
    public int descriptor() {
      return epoll.descriptor();
    }

    @Override
    public void add(int other) {
      epoll.add(other);
    }

    @Override
    public void remove(int other) {
      epoll.remove(other);
    }
  }
}
