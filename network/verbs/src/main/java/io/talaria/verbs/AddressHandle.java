// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.VerbsStructs.AhAttr;
import java.lang.foreign.Arena;

/**
 * A destination of datagrams ({@code ibv_ah}). Belongs to its protection domain. Must stay open
 * until the datagrams sent to it are completed. Usable by any thread.
 */
public final class AddressHandle extends NativeObject {
  private final ProtectionDomain domain;

  AddressHandle(ProtectionDomain domain, AddressVector address) {
    super("address handle", domain);
    this.domain = domain;
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, AhAttr.STRUCT).address();
      address.store(at);
      opened(VerbsException.check(Ibv.createAh(domain.pointer(), at), "ibv_create_ah"));
    } catch (RuntimeException | Error e) {
      abandoned();
      throw e;
    }
  }

  /**
   * The domain it belongs to.
   *
   * @return the protection domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  int destroy(long address) {
    return Ibv.destroyAh(address);
  }
}
