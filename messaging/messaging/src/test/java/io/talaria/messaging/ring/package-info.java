// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the ring. */
package io.talaria.messaging.ring;
