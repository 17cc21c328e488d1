// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What the tests stand on: child processes with a console and a deadline, a laboratory with
 * directories of its own for each test, and the mode of each connection read from outside.
 */
package io.talaria.it.harness;
