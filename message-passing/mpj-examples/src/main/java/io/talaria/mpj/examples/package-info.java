// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Short programs that show how messages are passed by the mpiJava API, which is all they use. Those
 * that compute something check it, and end with status 1 if it is wrong.
 */
package io.talaria.mpj.examples;
