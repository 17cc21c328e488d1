// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what connects a node. */
package io.talaria.messaging.engine;
