// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.Block;
import java.nio.ByteBuffer;
import org.openucx.jucx.UcxUtils;

/** Memory as a direct buffer, which the collector frees. */
final class JucxBlock extends Block {
  final long address;

  JucxBlock(int bytes) {
    super(ByteBuffer.allocateDirect(bytes));
    address = UcxUtils.getAddress(bytes());
  }
}
