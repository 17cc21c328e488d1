// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Runs receivers: mailboxes and handler threads, the memory of what waits for them, and what was
 * delivered. Does not depend on connections.
 */
package io.talaria.messaging.dispatch;
