// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what makes, watches and ends the connections of a node. */
package io.talaria.messaging.connect;
