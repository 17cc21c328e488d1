// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Codecs of records, made at registration, and the bytes that all codecs write and read. */
package io.talaria.messaging.codec;
