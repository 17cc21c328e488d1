// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.types;

import io.talaria.messaging.Codec;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.NodeOptions.Registration;
import io.talaria.messaging.Receiver;
import io.talaria.messaging.RequestHandler;
import io.talaria.messaging.codec.Codecs;
import io.talaria.messaging.handshake.Fnv;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The registered types of a node. Fixed when the node starts. */
public final class Types {
  /** The most types that a node may have. */
  static final int MAX_TYPES = 4096;

  private final Map<Class<?>, TypeEntry> byClass = new HashMap<>();
  private final Map<String, TypeEntry> byName = new HashMap<>();
  private final List<TypeEntry> entries = new ArrayList<>();
  private final Codecs codecs;
  private int targets;

  public Types(NodeOptions options) {
    codecs = new Codecs(options.lookup());
    for (Registration each : options.registrations()) {
      if (each.kind() == Registration.Kind.TYPE) {
        register(each);
      }
    }
    for (Registration each : options.registrations()) {
      if (each.kind() != Registration.Kind.TYPE) {
        attach(each);
      }
    }
  }

  @SuppressWarnings("unchecked")
  private void register(Registration what) {
    Class<?> type = what.type();
    if (byClass.containsKey(type)) {
      throw new IllegalArgumentException(type.getName() + " is registered twice");
    }
    if (entries.size() == MAX_TYPES) {
      throw new IllegalArgumentException("more than " + MAX_TYPES + " types");
    }
    boolean explicit = what.codec() != null;
    Codec<Object> codec = (Codec<Object>) (explicit ? what.codec() : codecs.ofRecord(type));
    String form = explicit ? null : codecs.form(type);
    long fingerprint = explicit ? 0 : fingerprint(form);
    TypeEntry entry = new TypeEntry(entries.size(), type, codec, explicit, fingerprint, form);
    entries.add(entry);
    byClass.put(type, entry);
    byName.put(entry.name(), entry);
  }

  @SuppressWarnings("unchecked")
  private void attach(Registration what) {
    TypeEntry entry = byClass.get(what.type());
    if (entry == null && what.type().isRecord()) {
      register(new Registration(Registration.Kind.TYPE, what.type(), null, null, null));
      entry = byClass.get(what.type());
    }
    if (entry == null) {
      throw unknown(what.type());
    }
    switch (what.kind()) {
      case RECEIVER -> {
        twice(entry.receiver, entry, "receiver");
        entry.receiver = new Target<>(targets++, what.dispatch(), (Receiver<Object>) what.taker());
      }
      case REQUEST_HANDLER -> {
        twice(entry.requestHandler, entry, "request handler");
        entry.requestHandler =
            new Target<>(targets++, what.dispatch(), (RequestHandler<Object>) what.taker());
      }
      default -> entry.reuse = (Supplier<?>) what.taker();
    }
  }

  private static void twice(Object there, TypeEntry entry, String what) {
    if (there != null) {
      throw new IllegalArgumentException(entry.name() + " has more than one " + what);
    }
  }

  private static IllegalArgumentException unknown(Class<?> type) {
    return new IllegalArgumentException(
        type.getName() + " is not registered: call NodeOptions.type before the node starts");
  }

  /** The 64-bit FNV-1a hash of a form, but never 0, which means that there is no form. */
  private static long fingerprint(String form) {
    long hash = Fnv.hash(form);
    return hash == 0 ? 1 : hash;
  }

  public TypeEntry of(Object message) {
    TypeEntry entry = byClass.get(message.getClass());
    return entry != null ? entry : ofSuper(message.getClass());
  }

  /**
   * The entry of a superclass with a codec of the program. Covers enum constants with a body, too,
   * whose class is a subclass of the enum.
   */
  private TypeEntry ofSuper(Class<?> type) {
    for (Class<?> each = type.getSuperclass(); each != null; each = each.getSuperclass()) {
      TypeEntry entry = byClass.get(each);
      if (entry != null && entry.explicit) {
        return entry;
      }
    }
    throw unknown(type);
  }

  public TypeEntry ofClass(Class<?> type) {
    TypeEntry entry = byClass.get(type);
    if (entry == null) {
      throw unknown(type);
    }
    return entry;
  }

  /** This node's type of a name, or null. */
  public TypeEntry named(String name) {
    return byName.get(name);
  }

  /**
   * An entry that reads one of this node's records from another node's form. One thread at a time.
   *
   * @throws IllegalArgumentException if the form cannot be read as this record; names the component
   */
  public TypeEntry adapted(TypeEntry own, String form) {
    return own.readBy(codecs.adapted(own.type, form));
  }

  public List<TypeEntry> entries() {
    return entries;
  }

  public int targetCount() {
    return targets;
  }
}
