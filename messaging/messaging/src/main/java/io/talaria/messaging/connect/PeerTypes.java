// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.handshake.HandshakeMessage.Forms;
import io.talaria.messaging.handshake.HandshakeMessage.Offer;
import io.talaria.messaging.types.TypeEntry;
import io.talaria.messaging.types.Types;
import java.util.HashMap;
import java.util.Map;

/** The types of another node, by its numbers, matched with those of this one. */
final class PeerTypes {
  /** Their names. */
  final String[] names;

  /** How they are read here; null: not at all. */
  final TypeEntry[] entries;

  /** Why one cannot be read although its name is known here; else null. */
  final String[] mismatches;

  private PeerTypes(String[] names, TypeEntry[] entries, String[] mismatches) {
    this.names = names;
    this.entries = entries;
    this.mismatches = mismatches;
  }

  /**
   * Matches them.
   *
   * @param forms how the other node writes types that it writes otherwise than this one
   */
  static PeerTypes of(Types own, Offer theirs, Forms forms) {
    int count = theirs.names().size();
    TypeEntry[] entries = new TypeEntry[count];
    String[] mismatches = new String[count];
    for (int i = 0; i < count; i++) {
      TypeEntry entry = own.named(theirs.names().get(i));
      String form = forms.byType().get(i);
      if (entry != null && entry.fingerprint == theirs.fingerprints().get(i)) {
        entries[i] = entry;
      } else if (entry != null && !entry.explicit && form != null) {
        try {
          entries[i] = own.adapted(entry, form);
        } catch (IllegalArgumentException | LinkageError e) {
          mismatches[i] = e.getMessage();
        }
      }
    }
    return new PeerTypes(theirs.names().toArray(String[]::new), entries, mismatches);
  }

  /**
   * How this node writes types that the other one writes otherwise.
   *
   * @param beside what is sent with them, or null
   */
  static Forms differing(Types own, Offer theirs, Offer beside) {
    Map<Integer, String> forms = new HashMap<>();
    for (int i = 0; i < theirs.names().size(); i++) {
      TypeEntry entry = own.named(theirs.names().get(i));
      long fingerprint = theirs.fingerprints().get(i);
      if (entry != null
          && entry.form != null
          && fingerprint != 0
          && entry.fingerprint != fingerprint) {
        forms.put(entry.index, entry.form);
      }
    }
    return Forms.of(forms, beside);
  }
}
