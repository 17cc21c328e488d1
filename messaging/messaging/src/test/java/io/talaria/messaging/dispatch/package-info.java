// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of handlers and mailboxes. */
package io.talaria.messaging.dispatch;
