// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What a ring carries: {@link Records} and {@link RecordHead} are its kinds and its head, {@link
 * Encoder} and {@link Decoder} make it of an object and an object of it, by the codec of its type,
 * with what each thread keeps for that in its {@link ThreadContext}. {@link Positions} are where
 * they are.
 */
package io.talaria.messaging.records;
