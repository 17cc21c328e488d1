// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of nodes, over all transports. */
package io.talaria.messaging;
