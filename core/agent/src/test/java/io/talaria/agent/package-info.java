// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the agent in JVMs of their own. */
package io.talaria.agent;
