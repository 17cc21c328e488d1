// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.DescriptorSet;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.io.IOException;
import java.util.Map;

/** UCX by JUCX, if that is there. */
public final class JucxBinding implements UcxBinding {
  /** Written by {@link #start}, before others look. */
  private JucxContext context;

  private String versions = "";

  /** Makes one that is not started; found by name. */
  public JucxBinding() {}

  @Override
  public String name() {
    return "jucx";
  }

  @Override
  public String unavailableReason() {
    return surroundings().unavailableReason();
  }

  private static Surroundings surroundings() {
    return new Surroundings(
        JucxBinding.class.getClassLoader(), System::getenv, System::getProperty);
  }

  @Override
  public String start(Map<String, String> settings) {
    Surroundings here = surroundings();
    String unavailableReason = here.unavailableReason();
    if (!unavailableReason.isEmpty()) {
      return unavailableReason;
    }
    try {
      JucxContext opened = new JucxContext(settings);
      LoopBack.check(opened);
      context = opened;
      String ucx = LoadedLibrary.release();
      versions = "jucx " + here.version() + (ucx.isEmpty() ? "" : "/" + ucx);
      return "";
    } catch (LinkageError e) {
      return here.unloadable(e);
    } catch (RuntimeException e) {
      return "JUCX "
          + here.version()
          + " and the UCX of this machine do not work together: "
          + e.getMessage()
          + ". Tried are JUCX 1.15.0 and 1.18.1 on UCX 1.13.1.";
    }
  }

  @Override
  public String versions() {
    return versions;
  }

  @Override
  public boolean tellsTransports() {
    return false;
  }

  @Override
  public BoundWorker openWorker() {
    return context.openWorker();
  }

  @Override
  public Block newBlock(int bytes) {
    return new JucxBlock(bytes);
  }

  @Override
  public DescriptorSet newDescriptorSet() throws IOException {
    return new JucxDescriptors();
  }
}
