// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Runs receivers: mailboxes and handler threads. Does not depend on connections. */
package io.talaria.messaging.dispatch;
