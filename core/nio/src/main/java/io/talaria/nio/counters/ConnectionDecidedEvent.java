// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** A connection or listener has a new transport or reason. */
@Name("io.talaria.ConnectionDecided")
@Label("Connection Decided")
@Description("A connection or listener has a new transport or reason")
final class ConnectionDecidedEvent extends ConnectionEvent {}
