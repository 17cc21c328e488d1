// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The connections of all processes as they are at one moment: which, in which order, how fast. */
package io.talaria.cli.ss.snapshot;
