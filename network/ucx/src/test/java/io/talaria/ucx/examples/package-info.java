// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Examples of UCX from Java, each in a file of its own; {@link Examples} runs them. */
package io.talaria.ucx.examples;
