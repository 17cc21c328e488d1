// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What a session's bytes go through: nothing, or encryption. Knows neither greetings nor records.
 */
package io.talaria.messaging.wire;
