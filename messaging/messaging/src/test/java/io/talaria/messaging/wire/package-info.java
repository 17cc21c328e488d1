// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what a session's bytes go through. */
package io.talaria.messaging.wire;
