// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of codecs. */
package io.talaria.messaging.codec;
