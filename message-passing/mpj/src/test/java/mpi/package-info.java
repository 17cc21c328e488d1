// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the API on threads and on processes. */
package mpi;
