// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Generates the codecs of records, and reads and writes the bytes of all messages. */
package io.talaria.messaging.codec;
