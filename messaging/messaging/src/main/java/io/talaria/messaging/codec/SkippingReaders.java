// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.MessageReader;
import java.util.IdentityHashMap;

/**
 * Makes the readers of components that only the other node has. Made by one thread; any number of
 * threads may then read.
 */
final class SkippingReaders {
  private final Form.Whole theirs;

  /** The readers made or being made. */
  private final IdentityHashMap<Form, ValueReader.Later> made = new IdentityHashMap<>();

  /**
   * @param theirs the form that the other node has sent
   */
  SkippingReaders(Form.Whole theirs) {
    this.theirs = theirs;
  }

  /** Makes a reader that discards what it reads. */
  ValueReader of(Form.Part part) {
    if (part.varint()) {
      return LeafReaders.skippingVarint(part);
    }
    ValueReader there = of(part.form());
    return part.nullable() ? ValueReader.orNull(there) : there;
  }

  private ValueReader of(Form form) {
    return switch (form) {
      case Form.Leaf leaf -> LeafReaders.skipping(leaf);
      case Form.ListOf list -> elements(list.element());
      case Form.ArrayOf array -> elements(array.element());
      case Form.OptionalOf some -> ValueReader.orNull(of(some.element()));
      case Form.EnumOf unused -> MessageReader::getVarUnsigned;
      case Form.Known known -> of(theirs.of(known));
      case Form.RecordOf record -> ValueReader.level(ofRecord(record));
      case Form.OneOf oneOf ->
          ValueReader.level(ValueReader.once(made, oneOf, () -> leaves(oneOf)));
    };
  }

  private ValueReader ofRecord(Form.RecordOf record) {
    return ValueReader.once(made, record, () -> components(record));
  }

  private ValueReader components(Form.RecordOf record) {
    ValueReader[] parts = record.components().stream().map(this::of).toArray(ValueReader[]::new);
    return in -> {
      for (ValueReader each : parts) {
        each.read(in);
      }
      return null;
    };
  }

  private ValueReader leaves(Form.OneOf oneOf) {
    ValueReader[] parts =
        oneOf.leaves().stream().map(each -> leaf(each.form())).toArray(ValueReader[]::new);
    return in -> {
      int number = in.getVarUnsigned();
      if (number < 0 || number >= parts.length) {
        throw new MalformedMessageException(oneOf.name() + " has no subtype number " + number);
      }
      return parts[number].read(in);
    };
  }

  /** A leaf that is a record is of one level with its interface, as for {@link Codecs}. */
  private ValueReader leaf(Form form) {
    Form there = form instanceof Form.Known known ? theirs.of(known) : form;
    return there instanceof Form.RecordOf record ? ofRecord(record) : of(there);
  }

  private ValueReader elements(Form form) {
    ValueReader element = of(Form.ofElements(form));
    return in -> {
      int length = in.getLength(1);
      in.enter();
      for (int i = 0; i < length; i++) {
        element.read(in);
      }
      in.leave();
      return null;
    };
  }
}
