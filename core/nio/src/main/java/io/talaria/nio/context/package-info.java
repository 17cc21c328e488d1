// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What all channels and selectors of a process share: configuration, transports, negotiation. */
package io.talaria.nio.context;
