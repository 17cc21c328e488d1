// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** RDMA verbs from Java: libibverbs and librdmacm, by the Foreign Function and Memory API. */
module io.talaria.verbs {
  requires io.talaria.ffi;

  exports io.talaria.verbs;
  exports io.talaria.verbs.cm;
}
