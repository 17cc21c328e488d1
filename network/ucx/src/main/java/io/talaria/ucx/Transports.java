// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants14.UCP_EP_ATTR_FIELD_TRANSPORTS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.EpAttr14;
import io.talaria.ucx.binding.UcpStructs.TransportEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which transports an endpoint uses. */
final class Transports {
  private static final int MAX = 64;

  /** A lane as {@code ucp_ep_print_info} prints it, such as «lane[0]: 3:posix/memory.0 md[1]». */
  private static final Pattern LANE =
      Pattern.compile("lane\\[\\d+\\]:\\s+\\d+:([^\\s/]+/\\S+?)(?:\\.\\d+)?\\s");

  private Transports() {}

  static List<String> of(long endpoint) {
    return Ucx.has(Ucx.Capability.TRANSPORT_QUERY)
        ? queried(endpoint)
        : printed(Libc.print(stream -> Ucp.epPrintInfo(endpoint, stream)));
  }

  private static List<String> queried(long endpoint) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entries = arena.allocate(TransportEntry.SIZE * MAX, 8);
      MemorySegment attr = Native.zeroed(arena, EpAttr14.STRUCT);
      attr.set(JAVA_LONG, EpAttr14.FIELD_MASK, UCP_EP_ATTR_FIELD_TRANSPORTS);
      attr.set(JAVA_LONG, EpAttr14.TRANSPORTS_ENTRIES, entries.address());
      attr.set(JAVA_INT, EpAttr14.TRANSPORTS_NUM_ENTRIES, MAX);
      attr.set(JAVA_LONG, EpAttr14.TRANSPORTS_ENTRY_SIZE, TransportEntry.SIZE);
      Status.check(Ucp.epQuery(endpoint, attr.address()), "ucp_ep_query");
      int count = Math.min(MAX, attr.get(JAVA_INT, EpAttr14.TRANSPORTS_NUM_ENTRIES));
      Set<String> found = new LinkedHashSet<>();
      for (int i = 0; i < count; i++) {
        long entry = i * TransportEntry.SIZE;
        found.add(
            Libc.string(entries.get(JAVA_LONG, entry + TransportEntry.TRANSPORT_NAME))
                + "/"
                + Libc.string(entries.get(JAVA_LONG, entry + TransportEntry.DEVICE_NAME)));
      }
      return List.copyOf(found);
    }
  }

  static List<String> printed(String info) {
    Set<String> found = new LinkedHashSet<>();
    Matcher matcher = LANE.matcher(info);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return List.copyOf(found);
  }
}
