// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

/** A message that a matched probe has taken; the device that made it knows what it is. */
public abstract class Matched {
  /** For devices. */
  protected Matched() {}
}
