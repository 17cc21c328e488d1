// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Who runs a receiver, and when: mailboxes and handler threads. Knows no connections. */
package io.talaria.messaging.dispatch;
