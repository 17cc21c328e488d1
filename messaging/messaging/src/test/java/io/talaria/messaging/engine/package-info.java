// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of a running node: its threads, wake-ups, requests and deliveries. */
package io.talaria.messaging.engine;
