// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
//
// libibverbs and librdmacm for tests: one device, loop0, whose queue pairs reach those of the same
// process in memory. Built by the tests against the real headers, never shipped, and no evidence of
// RDMA. Everything happens inside the call that posts; one lock guards it all. What it answers is
// what soft-RoCE answers.
//
// Faults are asked for by the functions loop_*, see the end.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#undef ibv_query_port
#undef ibv_reg_mr

#define MAX_OBJECTS 4096
#define MAX_PIECES 32
#define MAX_INLINE 512
#define DEVICE_MTU 4096
#define RWR_NUMBER_SHIFT 8

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#define LOCKED(type, expression) ({ pthread_mutex_lock(&lock); type result_ = (expression); \
  pthread_mutex_unlock(&lock); result_; })

// ---- faults

static char fail_name[64];
static int fail_errno, fail_times;
static char slow_name[64];
static volatile int slow_ms, slow_began;
static int holding;
static long unacknowledged, not_ready;
static int no_kernel, no_device, open_errno, port_down, max_completions = 1 << 20, max_reads_out = 16;

static int fault(const char *name) {
  if (slow_ms && strcmp(name, slow_name) == 0) {
    int ms = slow_ms;
    slow_ms = 0;
    slow_began = 1;
    usleep(ms * 1000);
  }
  if (fail_times > 0 && strcmp(name, fail_name) == 0) {
    fail_times--;
    errno = fail_errno;
    return fail_errno;
  }
  return 0;
}
#define FAULT_STATUS() do { int f_ = fault(__func__); if (f_) return f_; } while (0)
#define FAULT_POINTER() do { if (fault(__func__)) return NULL; } while (0)
#define FAULT_MINUS() do { if (fault(__func__)) return -1; } while (0)

// ---- objects

struct context {
  struct verbs_context verbs;
  int async_write;
  int children;
  struct context *next;
};
static struct context *contexts;  // that are open

struct pd { struct ibv_pd base; int children; };

struct key {  // of a region or a window
  struct ibv_pd *pd;
  uint64_t start, length;  // as peers and requests count
  char *memory;            // of the first byte
  uint32_t key;
  unsigned access;
  int windows;
  struct key *region;      // of a window
  union { struct ibv_mr mr; struct ibv_mw mw; };
  int is_window;
};
static struct key *keys[MAX_OBJECTS];

struct entry { struct ibv_wc wc; uint64_t time; };

struct cq {
  struct ibv_cq_ex base;
  struct entry *ring;
  int capacity, head, count, dead, armed, users;
  unsigned unacked;
  struct entry current;
};

struct channel { struct ibv_comp_channel base; int write_fd; };

struct receive { uint64_t id; int pieces; struct ibv_sge sge[MAX_PIECES]; };

struct queue { struct receive *ring; int capacity, head, count, pieces; };

struct srq { struct ibv_srq base; struct queue queue; uint32_t limit; int users; };

struct send {
  struct ibv_send_wr wr;
  int signaled;
  struct ibv_sge sge[MAX_PIECES];
  char data[MAX_INLINE];
  int inlined;
};

struct qp {
  struct ibv_qp_ex base;  // the first member is the ibv_qp
  struct ibv_qp_attr attr;
  struct ibv_qp_cap cap;
  int signal_all, extended;
  struct queue receives;
  struct send *sends;
  int send_head, send_count;
  struct send batch[256];
  int batch_count, batching, batch_error;
  int torn;            // has taken a request of its shared queue, and has not been asked for it
  struct receive taken;
};
static struct qp *qps[MAX_OBJECTS];
static uint32_t next_number = 17;

struct held { struct cq *cq; struct ibv_wc wc; int solicited; };
static struct held *held;
static int held_count, held_capacity;

static struct ibv_device device = {
  .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "loop0", .dev_name = "uverbs0",
};

// ---- asynchronous events

static void raise_event(struct ibv_context *context, enum ibv_event_type type, void *element, int port) {
  struct ibv_async_event event = {.event_type = type};
  if (element) event.element.cq = element; else event.element.port_num = port;
  struct context *own = (struct context *)verbs_get_ctx(context);
  if (write(own->async_write, &event, sizeof event) != sizeof event) abort();
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
  FAULT_MINUS();
  if (read(context->async_fd, event, sizeof *event) != sizeof *event) return -1;
  LOCKED(long, ++unacknowledged);
  return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event) { LOCKED(long, --unacknowledged); }

// Drops what names an element that is destroyed.
static void forget_events(int read_fd, int write_fd, size_t size, void *element) {
  char kept[64][64];
  int count = 0;
  while (count < 64 && read(read_fd, kept[count], size) == (ssize_t)size)
    if (*(void **)kept[count] != element) count++;
  for (int i = 0; i < count; i++) if (write(write_fd, kept[i], size) < 0) abort();
}

// ---- devices and contexts

struct ibv_device **ibv_get_device_list(int *count) {
  FAULT_POINTER();
  if (no_kernel) { errno = ENOSYS; return NULL; }
  struct ibv_device **list = calloc(2, sizeof *list);
  if (!no_device) list[0] = &device;
  if (count) *count = !no_device;
  return list;
}
void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }
int ibv_get_device_index(struct ibv_device *d) { return 0; }
__be64 ibv_get_device_guid(struct ibv_device *d) { return htobe64(0x0011223344556677ULL); }

static int poll_cq(struct ibv_cq *, int, struct ibv_wc *);
static int req_notify_cq(struct ibv_cq *, int);
static int post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
static int post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
static int post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
static struct ibv_mw *alloc_mw(struct ibv_pd *, enum ibv_mw_type);
static int bind_mw(struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *);
static int dealloc_mw(struct ibv_mw *);
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *, struct ibv_cq_init_attr_ex *);
static struct ibv_qp *create_qp_ex(struct ibv_context *, struct ibv_qp_init_attr_ex *);
static int query_port(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);
static int query_device_ex(struct ibv_context *, const struct ibv_query_device_ex_input *,
                           struct ibv_device_attr_ex *, size_t);

static struct ibv_context *open_context(void) {
  struct context *c = calloc(1, sizeof *c);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC)) abort();
  fcntl(fds[1], F_SETPIPE_SZ, 1 << 16);
  c->async_write = fds[1];
  struct ibv_context *b = &c->verbs.context;
  b->device = &device;
  b->async_fd = fds[0];
  b->num_comp_vectors = 2;
  b->abi_compat = __VERBS_ABI_IS_EXTENDED;
  b->ops.poll_cq = poll_cq;
  b->ops.req_notify_cq = req_notify_cq;
  b->ops.post_send = post_send;
  b->ops.post_recv = post_recv;
  b->ops.post_srq_recv = post_srq_recv;
  b->ops.alloc_mw = alloc_mw;
  b->ops.bind_mw = bind_mw;
  b->ops.dealloc_mw = dealloc_mw;
  c->verbs.sz = sizeof c->verbs;
  c->verbs.create_cq_ex = create_cq_ex;
  c->verbs.create_qp_ex = create_qp_ex;
  c->verbs.query_port = query_port;
  c->verbs.query_device_ex = query_device_ex;
  pthread_mutex_lock(&lock);
  c->next = contexts;
  contexts = c;
  pthread_mutex_unlock(&lock);
  return b;
}

struct ibv_context *ibv_open_device(struct ibv_device *d) {
  FAULT_POINTER();
  if (open_errno) { errno = open_errno; return NULL; }
  return open_context();
}

int ibv_close_device(struct ibv_context *context) {
  FAULT_STATUS();
  struct context *c = (struct context *)verbs_get_ctx(context);
  if (c->children) return EBUSY;
  pthread_mutex_lock(&lock);
  struct context **at = &contexts;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  pthread_mutex_unlock(&lock);
  close(context->async_fd);
  close(c->async_write);
  free(c);
  return 0;
}
static void child(struct ibv_context *context, int change) {
  ((struct context *)verbs_get_ctx(context))->children += change;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *a) {
  FAULT_STATUS();
  *a = (struct ibv_device_attr){
    .fw_ver = "1.0.loop", .node_guid = ibv_get_device_guid(&device), .max_mr_size = 1ULL << 40,
    .max_qp = MAX_OBJECTS, .max_qp_wr = 16384, .max_sge = MAX_PIECES, .max_cq = MAX_OBJECTS,
    .max_cqe = max_completions, .max_mr = MAX_OBJECTS, .max_qp_rd_atom = 16, .max_qp_init_rd_atom = max_reads_out,
    .atomic_cap = IBV_ATOMIC_HCA, .max_mw = MAX_OBJECTS, .max_srq = MAX_OBJECTS, .max_srq_wr = 16384,
    .max_srq_sge = MAX_PIECES, .max_ah = MAX_OBJECTS, .phys_port_cnt = 1,
    .device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B,
  };
  return 0;
}
static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *a, size_t size) {
  memset(a, 0, size);
  if (size >= offsetof(struct ibv_device_attr_ex, device_cap_flags_ex)) a->hca_core_clock = 1000000;
  return ibv_query_device(context, &a->orig_attr);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *a, size_t size) {
  int f = fault("ibv_query_port");
  if (f) return f;
  if (port != 1) return EINVAL;
  memset(a, 0, size);
  a->state = port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  a->max_mtu = a->active_mtu = IBV_MTU_4096;
  a->gid_tbl_len = 4;
  a->max_msg_sz = 1U << 30;
  a->pkey_tbl_len = 1;
  a->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *a) {
  return query_port(context, port, (struct ibv_port_attr *)a, 48);
}

static void own_gid(int index, union ibv_gid *gid) {
  memset(gid, 0, sizeof *gid);
  if (index == 0) { gid->raw[0] = 0xfe; gid->raw[1] = 0x80; gid->raw[15] = 1; }
  else { gid->raw[10] = gid->raw[11] = 0xff; gid->raw[12] = 127; gid->raw[15] = 1; }
}
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t size) {
  int f = fault("ibv_query_gid_ex");
  if (f) return f;
  if (port != 1 || index > 3) return EINVAL;
  if (index > 1) return ENODATA;
  own_gid(index, &entry->gid);
  entry->gid_index = index;
  entry->port_num = 1;
  entry->gid_type = IBV_GID_TYPE_ROCE_V2;
  entry->ndev_ifindex = 1;
  return 0;
}
int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
  own_gid(index, gid);
  return 0;
}
int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey) {
  FAULT_MINUS();
  if (port != 1 || index != 0) { errno = EINVAL; return -1; }
  *pkey = htobe16(0xffff);
  return 0;
}

// ---- protection domains, regions, windows

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
  FAULT_POINTER();
  struct pd *pd = calloc(1, sizeof *pd);
  pd->base.context = context;
  child(context, 1);
  return &pd->base;
}
int ibv_dealloc_pd(struct ibv_pd *pd) {
  FAULT_STATUS();
  if (((struct pd *)pd)->children) return EBUSY;
  child(pd->context, -1);
  free(pd);
  return 0;
}
static void owned(struct ibv_pd *pd, int change) { ((struct pd *)pd)->children += change; }

static struct key *new_key(void) {
  for (int i = 1; i < MAX_OBJECTS; i++)
    if (!keys[i]) {
      keys[i] = calloc(1, sizeof **keys);
      keys[i]->key = i << RWR_NUMBER_SHIFT | 0x5a;
      return keys[i];
    }
  errno = ENOMEM;
  return NULL;
}
static struct key *find_key(uint32_t key) {
  struct key *k = key >> RWR_NUMBER_SHIFT < MAX_OBJECTS ? keys[key >> RWR_NUMBER_SHIFT] : NULL;
  return k && k->key == key ? k : NULL;
}
static void drop_key(struct key *k) {
  keys[k->key >> RWR_NUMBER_SHIFT] = NULL;
  owned(k->pd, -1);
  free(k);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access) {
  FAULT_POINTER();
  if (access & IBV_ACCESS_ON_DEMAND) { errno = EOPNOTSUPP; return NULL; }
  pthread_mutex_lock(&lock);
  struct key *k = new_key();
  if (k) {
    k->pd = pd;
    k->start = iova;
    k->memory = address;
    k->length = length;
    k->access = access;
    k->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length,
                            .lkey = k->key, .rkey = k->key};
    owned(pd, 1);
  }
  pthread_mutex_unlock(&lock);
  return k ? &k->mr : NULL;
}
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  FAULT_POINTER();
  return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, access);
}
int ibv_dereg_mr(struct ibv_mr *mr) {
  FAULT_STATUS();
  pthread_mutex_lock(&lock);
  struct key *k = find_key(mr->lkey);
  int busy = k->windows;
  if (!busy) drop_key(k);
  pthread_mutex_unlock(&lock);
  return busy ? EBUSY : 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
  if (fault("ibv_alloc_mw")) return NULL;
  pthread_mutex_lock(&lock);
  struct key *k = new_key();
  k->pd = pd;
  k->is_window = 1;
  k->mw = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = k->key, .type = type};
  owned(pd, 1);
  pthread_mutex_unlock(&lock);
  return &k->mw;
}
static struct key *key_of(struct ibv_mw *mw) { return (struct key *)((char *)mw - offsetof(struct key, mw)); }
static void unbind(struct key *k) {
  if (k->region) k->region->windows--;
  k->region = NULL;
  k->length = 0;
  k->access = 0;
}
static int dealloc_mw(struct ibv_mw *mw) {
  pthread_mutex_lock(&lock);
  unbind(key_of(mw));
  drop_key(key_of(mw));
  pthread_mutex_unlock(&lock);
  return 0;
}
static int bind_window(struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info) {
  struct key *k = key_of(mw), *region = find_key(info->mr->lkey);
  if (!region || !(region->access & IBV_ACCESS_MW_BIND) || info->addr < region->start
      || info->addr + info->length > region->start + region->length)
    return IBV_WC_MW_BIND_ERR;
  unbind(k);
  k->key = rkey;
  mw->rkey = rkey;
  k->region = region;
  region->windows++;
  k->start = info->addr;
  k->memory = region->memory + (info->addr - region->start);
  k->length = info->length;
  k->access = info->mw_access_flags;
  return IBV_WC_SUCCESS;
}

// ---- completion queues and channels

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  FAULT_POINTER();
  struct channel *c = calloc(1, sizeof *c);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC)) abort();
  c->base.context = context;
  c->base.fd = fds[0];
  c->write_fd = fds[1];
  child(context, 1);
  return &c->base;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  FAULT_STATUS();
  if (channel->refcnt) return EBUSY;
  child(channel->context, -1);
  close(channel->fd);
  close(((struct channel *)channel)->write_fd);
  free(channel);
  return 0;
}

static struct cq *new_cq(struct ibv_context *context, int entries, void *user, struct ibv_comp_channel *channel) {
  struct cq *cq = calloc(1, sizeof *cq);
  cq->base.context = context;
  cq->base.channel = channel;
  cq->base.cq_context = user;
  cq->base.cqe = entries;
  cq->capacity = entries;
  cq->ring = calloc(entries, sizeof *cq->ring);
  if (channel) channel->refcnt++;
  child(context, 1);
  return cq;
}
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *user,
                             struct ibv_comp_channel *channel, int vector) {
  FAULT_POINTER();
  if (entries < 1 || entries > max_completions) { errno = EINVAL; return NULL; }
  return (struct ibv_cq *)new_cq(context, entries, user, channel);
}
int ibv_destroy_cq(struct ibv_cq *base) {
  FAULT_STATUS();
  struct cq *cq = (struct cq *)base;
  if (cq->users || cq->unacked) return EBUSY;  // libibverbs would wait for the acknowledgement for ever
  pthread_mutex_lock(&lock);
  for (int i = 0; i < held_count; i++) if (held[i].cq == cq) held[i].cq = NULL;
  pthread_mutex_unlock(&lock);
  if (base->channel) {
    base->channel->refcnt--;
    int flags = fcntl(base->channel->fd, F_GETFL);
    fcntl(base->channel->fd, F_SETFL, flags | O_NONBLOCK);
    forget_events(base->channel->fd, ((struct channel *)base->channel)->write_fd, sizeof(void *), cq);
    fcntl(base->channel->fd, F_SETFL, flags);
  }
  child(base->context, -1);
  free(cq->ring);
  free(cq);
  return 0;
}
int ibv_resize_cq(struct ibv_cq *base, int entries) {
  FAULT_STATUS();
  struct cq *cq = (struct cq *)base;
  pthread_mutex_lock(&lock);
  int fits = entries >= cq->count;
  if (fits) {
    struct entry *ring = calloc(entries, sizeof *ring);
    for (int i = 0; i < cq->count; i++) ring[i] = cq->ring[(cq->head + i) % cq->capacity];
    free(cq->ring);
    cq->ring = ring;
    cq->head = 0;
    cq->capacity = cq->base.cqe = entries;
  }
  pthread_mutex_unlock(&lock);
  return fits ? 0 : EINVAL;
}
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user) {
  FAULT_MINUS();
  void *event;
  if (read(channel->fd, &event, sizeof event) != sizeof event) return -1;
  *cq = event;
  *user = (*cq)->cq_context;
  LOCKED(unsigned, ++((struct cq *)event)->unacked);
  return 0;
}
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) {
  LOCKED(unsigned, ((struct cq *)cq)->unacked -= count);
}
static int req_notify_cq(struct ibv_cq *cq, int solicited) {
  int f = fault("ibv_req_notify_cq");
  if (f) return f;
  LOCKED(int, ((struct cq *)cq)->armed = solicited ? 2 : 1);
  return 0;
}

static void complete_now(struct cq *cq, struct ibv_wc *wc, int solicited) {
  if (cq->dead) return;
  if (cq->count == cq->capacity) {
    cq->dead = 1;
    raise_event(cq->base.context, IBV_EVENT_CQ_ERR, cq, 0);
    return;
  }
  struct entry *e = &cq->ring[(cq->head + cq->count++) % cq->capacity];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  e->wc = *wc;
  e->time = now.tv_sec * 1000000000ULL + now.tv_nsec;
  if (cq->armed == 1 || (cq->armed == 2 && (solicited || wc->status))) {
    cq->armed = 0;
    void *event = cq;
    if (write(((struct channel *)cq->base.channel)->write_fd, &event, sizeof event) < 0) abort();
  }
}
static void complete(struct ibv_cq *cq, struct ibv_wc *wc, int solicited) {
  if (!holding) { complete_now((struct cq *)cq, wc, solicited); return; }
  if (held_count == held_capacity) {
    held_capacity = held_capacity ? 2 * held_capacity : MAX_OBJECTS;
    held = realloc(held, held_capacity * sizeof *held);
    if (!held) abort();
  }
  held[held_count++] = (struct held){(struct cq *)cq, *wc, solicited};
}

static int poll_cq(struct ibv_cq *base, int entries, struct ibv_wc *wc) {
  struct cq *cq = (struct cq *)base;
  pthread_mutex_lock(&lock);
  int n = 0;
  if (fault("ibv_poll_cq")) n = -fail_errno;
  else
    for (; n < entries && cq->count; n++, cq->count--, cq->head = (cq->head + 1) % cq->capacity)
      wc[n] = cq->ring[cq->head].wc;
  pthread_mutex_unlock(&lock);
  return n;
}

static int next_poll(struct ibv_cq_ex *base) {
  struct cq *cq = (struct cq *)base;
  if (!cq->count) return ENOENT;
  cq->current = cq->ring[cq->head];
  cq->count--;
  cq->head = (cq->head + 1) % cq->capacity;
  base->wr_id = cq->current.wc.wr_id;
  base->status = cq->current.wc.status;
  return 0;
}
static int start_poll(struct ibv_cq_ex *base, struct ibv_poll_cq_attr *attr) {
  pthread_mutex_lock(&lock);
  int status = fault("ibv_start_poll");
  if (!status) status = next_poll(base);
  if (status) pthread_mutex_unlock(&lock);
  return status;
}
static void end_poll(struct ibv_cq_ex *base) { pthread_mutex_unlock(&lock); }
#define READ(type, name, field) static type name(struct ibv_cq_ex *b) { return ((struct cq *)b)->current.field; }
READ(enum ibv_wc_opcode, read_opcode, wc.opcode)
READ(uint32_t, read_vendor_err, wc.vendor_err)
READ(uint32_t, read_byte_len, wc.byte_len)
READ(__be32, read_imm_data, wc.imm_data)
READ(uint32_t, read_qp_num, wc.qp_num)
READ(uint32_t, read_src_qp, wc.src_qp)
READ(unsigned, read_wc_flags, wc.wc_flags)
READ(uint64_t, read_completion_ts, time)

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *a) {
  if (fault("ibv_create_cq_ex")) return NULL;
  struct cq *cq = new_cq(context, a->cqe, a->cq_context, a->channel);
  cq->base.start_poll = start_poll;
  cq->base.next_poll = next_poll;
  cq->base.end_poll = end_poll;
  cq->base.read_opcode = read_opcode;
  cq->base.read_vendor_err = read_vendor_err;
  cq->base.read_byte_len = read_byte_len;
  cq->base.read_imm_data = read_imm_data;
  cq->base.read_qp_num = read_qp_num;
  cq->base.read_src_qp = read_src_qp;
  cq->base.read_wc_flags = read_wc_flags;
  if (a->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) cq->base.read_completion_ts = read_completion_ts;
  return &cq->base;
}

// ---- receive queues

static int add_receive(struct queue *q, struct ibv_recv_wr *wr) {
  if (wr->num_sge > q->pieces) return EINVAL;
  if (q->count == q->capacity) return ENOMEM;
  struct receive *r = &q->ring[(q->head + q->count++) % q->capacity];
  r->id = wr->wr_id;
  r->pieces = wr->num_sge;
  memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof *r->sge);
  return 0;
}
static struct queue new_queue(int capacity, int pieces) {
  return (struct queue){calloc(capacity ? capacity : 1, sizeof(struct receive)), capacity, 0, 0, pieces};
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a) {
  FAULT_POINTER();
  if (a->attr.max_wr > 16384 || a->attr.max_sge > MAX_PIECES) { errno = EINVAL; return NULL; }
  struct srq *s = calloc(1, sizeof *s);
  s->base.context = pd->context;
  s->base.pd = pd;
  s->queue = new_queue(a->attr.max_wr, a->attr.max_sge);
  owned(pd, 1);
  return &s->base;
}
int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *a, int mask) {
  FAULT_STATUS();
  if (mask & IBV_SRQ_LIMIT) LOCKED(int, ((struct srq *)srq)->limit = a->srq_limit);
  return 0;
}
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *a) {
  FAULT_STATUS();
  struct srq *s = (struct srq *)srq;
  *a = (struct ibv_srq_attr){.max_wr = s->queue.capacity, .max_sge = s->queue.pieces, .srq_limit = s->limit};
  return 0;
}
int ibv_destroy_srq(struct ibv_srq *srq) {
  FAULT_STATUS();
  struct srq *s = (struct srq *)srq;
  if (s->users) return EBUSY;
  owned(srq->pd, -1);
  free(s->queue.ring);
  free(s);
  return 0;
}

// ---- queue pairs

static struct qp *of(struct ibv_qp *qp) { return (struct qp *)qp; }
static struct qp *find_qp(uint32_t number) {
  for (int i = 0; i < MAX_OBJECTS; i++)
    if (qps[i] && qps[i]->base.qp_base.qp_num == number) return qps[i];
  return NULL;
}

static struct qp *new_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a) {
  if (a->cap.max_send_wr > 16384 || a->cap.max_recv_wr > 16384 || a->cap.max_send_sge > MAX_PIECES
      || a->cap.max_recv_sge > MAX_PIECES || a->cap.max_inline_data > MAX_INLINE
      || (a->qp_type != IBV_QPT_RC && a->qp_type != IBV_QPT_UC && a->qp_type != IBV_QPT_UD)) {
    errno = EINVAL;
    return NULL;
  }
  struct qp *qp = calloc(1, sizeof *qp);
  struct ibv_qp *b = &qp->base.qp_base;
  b->context = pd->context;
  b->pd = pd;
  b->send_cq = a->send_cq;
  b->recv_cq = a->recv_cq;
  b->srq = a->srq;
  b->qp_type = a->qp_type;
  b->qp_num = next_number++;
  qp->signal_all = a->sq_sig_all;
  qp->cap = a->cap;
  qp->receives = new_queue(a->cap.max_recv_wr, a->cap.max_recv_sge);
  qp->sends = calloc(a->cap.max_send_wr, sizeof *qp->sends);
  for (int i = 0; i < MAX_OBJECTS; i++) if (!qps[i]) { qps[i] = qp; break; }
  ((struct cq *)a->send_cq)->users++;
  ((struct cq *)a->recv_cq)->users++;
  if (a->srq) ((struct srq *)a->srq)->users++;
  owned(pd, 1);
  return qp;
}
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a) {
  FAULT_POINTER();
  struct qp *qp = LOCKED(struct qp *, new_qp(pd, a));
  return qp ? &qp->base.qp_base : NULL;
}
int ibv_destroy_qp(struct ibv_qp *b) {
  FAULT_STATUS();
  pthread_mutex_lock(&lock);
  struct qp *qp = of(b);
  for (int i = 0; i < MAX_OBJECTS; i++) if (qps[i] == qp) qps[i] = NULL;
  ((struct cq *)b->send_cq)->users--;
  ((struct cq *)b->recv_cq)->users--;
  if (b->srq) ((struct srq *)b->srq)->users--;
  owned(b->pd, -1);
  free(qp->receives.ring);
  free(qp->sends);
  free(qp);
  pthread_mutex_unlock(&lock);
  return 0;
}

// A card gives back what a queue pair had taken of its shared queue a moment after it is in error, and says that it was
// the last one. The kind of a failed completion is undefined: here it is that of a send.
static void *give_back(void *number) {
  usleep(2000);
  pthread_mutex_lock(&lock);
  struct qp *qp = find_qp((uintptr_t)number);
  if (qp) {
    struct ibv_qp *b = &qp->base.qp_base;
    complete(b->recv_cq, &(struct ibv_wc){.wr_id = qp->taken.id, .status = IBV_WC_WR_FLUSH_ERR,
             .opcode = IBV_WC_SEND, .qp_num = b->qp_num}, 0);
    raise_event(b->context, IBV_EVENT_QP_LAST_WQE_REACHED, b, 0);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void flush(struct qp *qp) {
  struct ibv_qp *b = &qp->base.qp_base;
  if (qp->torn) {
    qp->torn = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, give_back, (void *)(uintptr_t)b->qp_num)) abort();
    pthread_detach(thread);
  }
  for (; qp->send_count; qp->send_count--, qp->send_head = (qp->send_head + 1) % qp->cap.max_send_wr)
    complete(b->send_cq, &(struct ibv_wc){.wr_id = qp->sends[qp->send_head].wr.wr_id,
             .status = IBV_WC_WR_FLUSH_ERR, .qp_num = b->qp_num}, 0);
  struct queue *q = &qp->receives;
  for (; q->count; q->count--, q->head = (q->head + 1) % q->capacity)
    complete(b->recv_cq, &(struct ibv_wc){.wr_id = q->ring[q->head].id, .status = IBV_WC_WR_FLUSH_ERR,
             .opcode = IBV_WC_RECV, .qp_num = b->qp_num}, 0);
}
static void to_error(struct qp *qp) {
  qp->base.qp_base.state = IBV_QPS_ERR;
  flush(qp);
}

static int allowed(enum ibv_qp_state from, enum ibv_qp_state to) {
  switch (to) {
    case IBV_QPS_RESET: case IBV_QPS_ERR: return 1;
    case IBV_QPS_INIT: return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
    case IBV_QPS_RTR: return from == IBV_QPS_INIT;
    case IBV_QPS_RTS: return from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQD;
    case IBV_QPS_SQD: return from == IBV_QPS_RTS;
    default: return 0;
  }
}
static void progress(struct qp *qp);
static void progress_all(void) {
  for (int i = 0; i < MAX_OBJECTS; i++) if (qps[i]) progress(qps[i]);
}

static int modify(struct qp *qp, struct ibv_qp_attr *a, int mask) {
  struct ibv_qp *b = &qp->base.qp_base;
  if ((mask & IBV_QP_STATE) && !allowed(b->state, a->qp_state)) return EINVAL;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > max_reads_out) return EINVAL;
  if (mask & IBV_QP_PORT) { if (a->port_num != 1) return EINVAL; qp->attr.port_num = a->port_num; }
  if (mask & IBV_QP_AV) { if (a->ah_attr.grh.sgid_index > 1) return EINVAL; qp->attr.ah_attr = a->ah_attr; }
  if (mask & IBV_QP_ACCESS_FLAGS) qp->attr.qp_access_flags = a->qp_access_flags;
  if (mask & IBV_QP_QKEY) qp->attr.qkey = a->qkey;
  if (mask & IBV_QP_PATH_MTU) qp->attr.path_mtu = a->path_mtu;
  if (mask & IBV_QP_DEST_QPN) qp->attr.dest_qp_num = a->dest_qp_num;
  if (mask & IBV_QP_RQ_PSN) qp->attr.rq_psn = a->rq_psn;
  if (mask & IBV_QP_SQ_PSN) qp->attr.sq_psn = a->sq_psn;
  if (mask & IBV_QP_TIMEOUT) qp->attr.timeout = a->timeout;
  if (mask & IBV_QP_RETRY_CNT) qp->attr.retry_cnt = a->retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) qp->attr.rnr_retry = a->rnr_retry;
  if (mask & IBV_QP_STATE) {
    b->state = a->qp_state;
    if (b->state == IBV_QPS_ERR) flush(qp);
    if (b->state == IBV_QPS_RESET) qp->send_count = qp->receives.count = 0;
    if (b->state == IBV_QPS_SQD) raise_event(b->context, IBV_EVENT_SQ_DRAINED, b, 0);
    progress_all();
  }
  return 0;
}
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask) {
  FAULT_STATUS();
  return LOCKED(int, modify(of(qp), a, mask));
}
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *initial) {
  FAULT_STATUS();
  *a = of(qp)->attr;
  a->qp_state = a->cur_qp_state = qp->state;
  a->cap = initial->cap = of(qp)->cap;
  return 0;
}

// ---- what a send request does

// Where a piece is, or NULL.
static char *piece(struct ibv_pd *pd, struct ibv_sge *s, int writing) {
  struct key *k = find_key(s->lkey);
  if (!k || k->is_window || k->pd != pd || (writing && !(k->access & IBV_ACCESS_LOCAL_WRITE))
      || s->addr < k->start || s->addr + s->length > k->start + k->length)
    return NULL;
  return k->memory + (s->addr - k->start);
}
static char *remote(struct qp *peer, uint32_t rkey, uint64_t address, uint64_t length, unsigned access) {
  struct key *k = find_key(rkey);
  if (!k || k->pd != peer->base.qp_base.pd || !(k->access & access) || !(peer->attr.qp_access_flags & access)
      || address < k->start || address + length > k->start + k->length)
    return NULL;
  return k->memory + (address - k->start);
}
static uint64_t total(struct ibv_sge *s, int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; i++) sum += s[i].length;
  return sum;
}
// Gathers what is to be sent; NULL if a piece is not ours.
static char *gather(struct qp *qp, struct send *s, uint64_t length) {
  char *data = malloc(length + 1), *to = data;
  if (s->inlined) return memcpy(data, s->data, length);
  for (int i = 0; i < s->wr.num_sge; to += s->sge[i++].length) {
    char *from = piece(qp->base.qp_base.pd, &s->sge[i], 0);
    if (!from) { free(data); return NULL; }
    memcpy(to, from, s->sge[i].length);
  }
  return data;
}
// Scatters; 0, or a status.
static int scatter(struct ibv_pd *pd, struct ibv_sge *s, int count, const char *data, uint64_t length) {
  if (total(s, count) < length) return IBV_WC_LOC_LEN_ERR;
  for (int i = 0; i < count && length; i++) {
    uint64_t part = s[i].length < length ? s[i].length : length;
    char *to = piece(pd, &s[i], 1);
    if (!to) return IBV_WC_LOC_PROT_ERR;
    memcpy(to, data, part);
    data += part;
    length -= part;
  }
  return 0;
}

static struct queue *receives_of(struct qp *qp) {
  struct ibv_srq *srq = qp->base.qp_base.srq;
  return srq ? &((struct srq *)srq)->queue : &qp->receives;
}

#define WAIT -1    // the receiver is not ready
#define LOST -2    // gone without a trace

// Delivers to a receive request of the peer: a status of the sender, WAIT or LOST.
static int deliver(struct qp *qp, struct qp *peer, struct send *s, const char *data, uint64_t length, int route) {
  struct ibv_qp *pb = &peer->base.qp_base;
  struct queue *q = receives_of(peer);
  if (!q->count) { not_ready++; return WAIT; }
  struct receive r = q->ring[q->head];
  q->head = (q->head + 1) % q->capacity;
  q->count--;
  if (pb->srq) {
    struct srq *srq = (struct srq *)pb->srq;
    if (srq->limit && q->count < (int)srq->limit) {
      srq->limit = 0;
      raise_event(pb->context, IBV_EVENT_SRQ_LIMIT_REACHED, srq, 0);
    }
  }
  int write_imm = s->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  struct ibv_wc wc = {.wr_id = r.id, .opcode = write_imm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
                      .byte_len = length + route, .qp_num = pb->qp_num, .src_qp = qp->base.qp_base.qp_num};
  if (write_imm || s->wr.opcode == IBV_WR_SEND_WITH_IMM) {
    wc.wc_flags |= IBV_WC_WITH_IMM;
    wc.imm_data = s->wr.imm_data;
  }
  if (s->wr.opcode == IBV_WR_SEND_WITH_INV) {
    struct key *k = find_key(s->wr.invalidate_rkey);
    if (k && k->is_window) unbind(k);
    wc.wc_flags |= IBV_WC_WITH_INV;
    wc.invalidated_rkey = s->wr.invalidate_rkey;
  }
  if (route) wc.wc_flags |= IBV_WC_GRH;
  if (!write_imm) {
    char *all = calloc(1, length + route + 1);
    memcpy(all + route, data, length);
    wc.status = scatter(pb->pd, r.sge, r.pieces, all, length + route);
    free(all);
  }
  complete(pb->recv_cq, &wc, s->wr.send_flags & IBV_SEND_SOLICITED);
  if (wc.status && !route) {
    to_error(peer);
    return wc.status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
  }
  return IBV_WC_SUCCESS;
}

// Does one request: a status, WAIT or LOST.
static int execute(struct qp *qp, struct send *s, struct ibv_wc *wc) {
  struct ibv_qp *b = &qp->base.qp_base;
  struct ibv_send_wr *wr = &s->wr;
  uint64_t length = s->inlined ? s->inlined - 1 : total(s->sge, wr->num_sge);
  int atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  if (wr->opcode == IBV_WR_BIND_MW) {
    wc->opcode = IBV_WC_BIND_MW;
    return bind_window(wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
  }
  if (wr->opcode == IBV_WR_LOCAL_INV) {
    wc->opcode = IBV_WC_LOCAL_INV;
    struct key *k = find_key(wr->invalidate_rkey);
    if (!k || !k->is_window) return IBV_WC_LOC_QP_OP_ERR;
    unbind(k);
    return IBV_WC_SUCCESS;
  }
  int ud = b->qp_type == IBV_QPT_UD, uc = b->qp_type == IBV_QPT_UC;
  struct qp *peer = find_qp(ud ? wr->wr.ud.remote_qpn : qp->attr.dest_qp_num);
  int there = !port_down && peer && peer->base.qp_base.state >= IBV_QPS_RTR && peer->base.qp_base.state != IBV_QPS_ERR
      && peer->base.qp_base.qp_type == b->qp_type && (ud || peer->attr.dest_qp_num == b->qp_num);
  if (ud && length > DEVICE_MTU) return IBV_WC_LOC_LEN_ERR;
  if (wr->opcode == IBV_WR_RDMA_READ || atomic) {
    if (b->qp_type != IBV_QPT_RC) return IBV_WC_LOC_QP_OP_ERR;
    wc->opcode = !atomic ? IBV_WC_RDMA_READ
        : wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD;
    wc->byte_len = length;
    if (!there) return IBV_WC_RETRY_EXC_ERR;
    uint64_t address = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
    if (atomic && length != 8) return IBV_WC_LOC_LEN_ERR;
    if (atomic && address % 8) { to_error(peer); return IBV_WC_REM_INV_REQ_ERR; }
    char *from = remote(peer, atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey, address, length,
                        atomic ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_READ);
    if (!from && length) { to_error(peer); return IBV_WC_REM_ACCESS_ERR; }
    uint64_t old;
    if (atomic) {
      memcpy(&old, from, 8);
      uint64_t new = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? old + wr->wr.atomic.compare_add
          : old == wr->wr.atomic.compare_add ? wr->wr.atomic.swap : old;
      memcpy(from, &new, 8);
      from = (char *)&old;
    }
    return scatter(b->pd, s->sge, wr->num_sge, from, length);
  }
  int writing = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  wc->opcode = writing ? IBV_WC_RDMA_WRITE : IBV_WC_SEND;
  if (ud && writing) return IBV_WC_LOC_QP_OP_ERR;
  char *data = gather(qp, s, length);
  if (!data) return IBV_WC_LOC_PROT_ERR;
  int status;
  if (!there) status = ud || uc ? LOST : IBV_WC_RETRY_EXC_ERR;
  else if (ud && peer->attr.qkey != wr->wr.ud.remote_qkey) status = LOST;
  else if (writing) {
    char *to = remote(peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, length, IBV_ACCESS_REMOTE_WRITE);
    if (!to && length) {
      to_error(peer);
      status = uc ? LOST : IBV_WC_REM_ACCESS_ERR;
    } else if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && !receives_of(peer)->count) { not_ready++; status = WAIT; }
    else {
      if (length) memcpy(to, data, length);
      status = wr->opcode == IBV_WR_RDMA_WRITE ? IBV_WC_SUCCESS : deliver(qp, peer, s, data, length, 0);
    }
  } else status = deliver(qp, peer, s, data, length, ud ? 40 : 0);
  free(data);
  if (status == WAIT && (ud || uc)) status = LOST;
  if (status == WAIT && qp->attr.rnr_retry != 7) status = IBV_WC_RNR_RETRY_EXC_ERR;
  return status;
}

static void progress(struct qp *qp) {
  struct ibv_qp *b = &qp->base.qp_base;
  while (qp->send_count && (b->state == IBV_QPS_RTS || b->state == IBV_QPS_SQD)) {
    struct send *s = &qp->sends[qp->send_head];
    struct ibv_wc wc = {.wr_id = s->wr.wr_id, .qp_num = b->qp_num};
    int status = execute(qp, s, &wc);
    if (status == WAIT) return;
    wc.status = status == LOST ? IBV_WC_SUCCESS : status;
    int signaled = s->signaled;
    qp->send_head = (qp->send_head + 1) % qp->cap.max_send_wr;
    if (qp->send_count) qp->send_count--;
    if (wc.status || signaled) complete(b->send_cq, &wc, 0);
    if (wc.status) to_error(qp);
  }
}

static int add_send(struct qp *qp, struct send *s) {
  if (qp->send_count == (int)qp->cap.max_send_wr) return ENOMEM;
  qp->sends[(qp->send_head + qp->send_count++) % qp->cap.max_send_wr] = *s;
  return 0;
}
static int take_send(struct qp *qp, struct ibv_send_wr *wr, struct send *s) {
  enum ibv_qp_state state = qp->base.qp_base.state;
  if (state < IBV_QPS_RTS || wr->num_sge > (int)qp->cap.max_send_sge) return EINVAL;
  s->wr = *wr;
  s->signaled = qp->signal_all || wr->send_flags & IBV_SEND_SIGNALED;
  s->inlined = 0;
  memcpy(s->sge, wr->sg_list, wr->num_sge * sizeof *s->sge);
  if (wr->send_flags & IBV_SEND_INLINE) {
    uint64_t at = 0;
    if (total(s->sge, wr->num_sge) > qp->cap.max_inline_data) return EINVAL;
    for (int i = 0; i < wr->num_sge; at += s->sge[i++].length)
      memcpy(s->data + at, (void *)s->sge[i].addr, s->sge[i].length);
    s->inlined = at + 1;
  }
  return 0;
}
static int post_send(struct ibv_qp *b, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  pthread_mutex_lock(&lock);
  int status = 0;
  for (; wr && !status; wr = status ? wr : wr->next) {
    static struct send s;
    status = fault("ibv_post_send");
    if (!status) status = take_send(of(b), wr, &s);
    if (!status) status = add_send(of(b), &s);
    if (status) *bad = wr;
  }
  if (b->state == IBV_QPS_ERR) flush(of(b));
  progress(of(b));
  pthread_mutex_unlock(&lock);
  return status;
}
static int post_receives(struct queue *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, const char *name) {
  int status = 0;
  for (; wr && !status; wr = status ? wr : wr->next) {
    status = fault(name);
    if (!status) status = add_receive(q, wr);
    if (status) *bad = wr;
  }
  return status;
}
static int post_recv(struct ibv_qp *b, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  pthread_mutex_lock(&lock);
  int status = post_receives(&of(b)->receives, wr, bad, "ibv_post_recv");
  if (b->state == IBV_QPS_ERR) flush(of(b));
  progress_all();
  pthread_mutex_unlock(&lock);
  return status;
}
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  pthread_mutex_lock(&lock);
  int status = post_receives(&((struct srq *)srq)->queue, wr, bad, "ibv_post_srq_recv");
  progress_all();
  pthread_mutex_unlock(&lock);
  return status;
}
static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) {
  struct ibv_send_wr *bad, wr = {.wr_id = bind->wr_id, .opcode = IBV_WR_BIND_MW,
                                 .send_flags = bind->send_flags};
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = bind->bind_info;
  return post_send(qp, &wr, &bad);
}

// ---- extended posting

static struct qp *ex(struct ibv_qp_ex *qp) { return (struct qp *)qp; }
static void wr_start(struct ibv_qp_ex *b) {
  pthread_mutex_lock(&lock);
  ex(b)->batch_count = ex(b)->batch_error = 0;
}
static struct send *begin(struct ibv_qp_ex *b, enum ibv_wr_opcode opcode) {
  struct qp *qp = ex(b);
  if (qp->batch_count == 256) { qp->batch_error = ENOMEM; qp->batch_count--; }
  struct send *s = &qp->batch[qp->batch_count++];
  memset(s, 0, sizeof *s);
  s->wr.wr_id = b->wr_id;
  s->wr.send_flags = b->wr_flags;
  s->wr.opcode = opcode;
  s->signaled = qp->signal_all || b->wr_flags & IBV_SEND_SIGNALED;
  return s;
}
static void wr_send(struct ibv_qp_ex *b) { begin(b, IBV_WR_SEND); }
static void wr_send_imm(struct ibv_qp_ex *b, __be32 imm) { begin(b, IBV_WR_SEND_WITH_IMM)->wr.imm_data = imm; }
static void rdma(struct ibv_qp_ex *b, enum ibv_wr_opcode op, uint32_t rkey, uint64_t address, __be32 imm) {
  struct send *s = begin(b, op);
  s->wr.wr.rdma.rkey = rkey;
  s->wr.wr.rdma.remote_addr = address;
  s->wr.imm_data = imm;
}
static void wr_rdma_write(struct ibv_qp_ex *b, uint32_t k, uint64_t a) { rdma(b, IBV_WR_RDMA_WRITE, k, a, 0); }
static void wr_rdma_write_imm(struct ibv_qp_ex *b, uint32_t k, uint64_t a, __be32 i) {
  rdma(b, IBV_WR_RDMA_WRITE_WITH_IMM, k, a, i);
}
static void wr_rdma_read(struct ibv_qp_ex *b, uint32_t k, uint64_t a) { rdma(b, IBV_WR_RDMA_READ, k, a, 0); }
static void atomic(struct ibv_qp_ex *b, enum ibv_wr_opcode op, uint32_t k, uint64_t a, uint64_t x, uint64_t y) {
  struct send *s = begin(b, op);
  s->wr.wr.atomic.rkey = k;
  s->wr.wr.atomic.remote_addr = a;
  s->wr.wr.atomic.compare_add = x;
  s->wr.wr.atomic.swap = y;
}
static void wr_fetch_add(struct ibv_qp_ex *b, uint32_t k, uint64_t a, uint64_t x) {
  atomic(b, IBV_WR_ATOMIC_FETCH_AND_ADD, k, a, x, 0);
}
static void wr_cmp_swp(struct ibv_qp_ex *b, uint32_t k, uint64_t a, uint64_t x, uint64_t y) {
  atomic(b, IBV_WR_ATOMIC_CMP_AND_SWP, k, a, x, y);
}
static struct send *last(struct ibv_qp_ex *b) { return &ex(b)->batch[ex(b)->batch_count - 1]; }
static void wr_set_sge(struct ibv_qp_ex *b, uint32_t lkey, uint64_t address, uint32_t length) {
  last(b)->sge[0] = (struct ibv_sge){address, length, lkey};
  last(b)->wr.num_sge = 1;
}
static void wr_set_inline(struct ibv_qp_ex *b, void *address, size_t length) {
  if (length > ex(b)->cap.max_inline_data) { ex(b)->batch_error = EINVAL; return; }
  memcpy(last(b)->data, address, length);
  last(b)->inlined = length + 1;
}
static void wr_set_ud(struct ibv_qp_ex *b, struct ibv_ah *ah, uint32_t number, uint32_t key) {
  last(b)->wr.wr.ud.ah = ah;
  last(b)->wr.wr.ud.remote_qpn = number;
  last(b)->wr.wr.ud.remote_qkey = key;
}
static int wr_complete(struct ibv_qp_ex *b) {
  struct qp *qp = ex(b);
  int status = fault("ibv_wr_complete");
  if (!status) status = qp->batch_error;
  if (!status && qp->base.qp_base.state < IBV_QPS_RTS) status = EINVAL;
  if (!status && qp->send_count + qp->batch_count > (int)qp->cap.max_send_wr) status = ENOMEM;
  for (int i = 0; !status && i < qp->batch_count; i++) add_send(qp, &qp->batch[i]);
  if (qp->base.qp_base.state == IBV_QPS_ERR) flush(qp);
  progress(qp);
  pthread_mutex_unlock(&lock);
  return status;
}
static void wr_abort(struct ibv_qp_ex *b) { pthread_mutex_unlock(&lock); }

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *a) {
  if (fault("ibv_create_qp_ex")) return NULL;
  struct qp *qp = LOCKED(struct qp *, new_qp(a->pd, (struct ibv_qp_init_attr *)a));
  if (!qp) return NULL;
  qp->extended = 1;
  struct ibv_qp_ex *b = &qp->base;
  b->wr_start = wr_start;
  b->wr_complete = wr_complete;
  b->wr_abort = wr_abort;
  b->wr_send = wr_send;
  b->wr_send_imm = wr_send_imm;
  b->wr_rdma_write = wr_rdma_write;
  b->wr_rdma_write_imm = wr_rdma_write_imm;
  b->wr_rdma_read = wr_rdma_read;
  b->wr_atomic_fetch_add = wr_fetch_add;
  b->wr_atomic_cmp_swp = wr_cmp_swp;
  b->wr_set_sge = wr_set_sge;
  b->wr_set_inline_data = wr_set_inline;
  b->wr_set_ud_addr = wr_set_ud;
  return &b->qp_base;
}
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { return of(qp)->extended ? &of(qp)->base : NULL; }

// ---- address handles, multicast, texts

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a) {
  FAULT_POINTER();
  if (a->port_num != 1 || a->grh.sgid_index > 1) { errno = EINVAL; return NULL; }
  struct ibv_ah *ah = calloc(1, sizeof *ah);
  ah->context = pd->context;
  ah->pd = pd;
  owned(pd, 1);
  return ah;
}
int ibv_destroy_ah(struct ibv_ah *ah) { FAULT_STATUS(); owned(ah->pd, -1); free(ah); return 0; }
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
                        struct ibv_ah_attr *a) {
  FAULT_MINUS();
  memset(a, 0, sizeof *a);
  a->port_num = port;
  a->is_global = 1;
  a->grh.sgid_index = 1;
  own_gid(1, &a->grh.dgid);
  return 0;
}
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { FAULT_STATUS(); return 0; }
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid) { FAULT_STATUS(); return 0; }
int ibv_fork_init(void) { FAULT_STATUS(); return 0; }
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
const char *ibv_wc_status_str(enum ibv_wc_status s) {
  return s == IBV_WC_SUCCESS ? "success" : s == IBV_WC_WR_FLUSH_ERR ? "Work Request Flushed Error" : "error";
}

// ---- RDMA CM

struct cm_channel { struct rdma_event_channel base; int write_fd; };
struct cm_id { struct rdma_cm_id base; struct cm_id *peer; int listening, connected, asked, leaving, unacked; };
struct cm_event { struct rdma_cm_event base; char data[256]; };
static struct cm_id *listeners[65536];
static struct ibv_context *cm_context;
static int next_port = 20000;
static long identifiers;  // that are not destroyed

static struct ibv_context *the_context(void) {
  if (!cm_context) cm_context = open_context();
  return cm_context;
}
// A lock for the length of a function: what is connected is changed by several threads.
static pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
static void cm_unlock(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }
#define CM_ALONE \
  __attribute__((cleanup(cm_unlock), unused)) pthread_mutex_t *held = &cm_lock; \
  pthread_mutex_lock(held)
struct rdma_event_channel *rdma_create_event_channel(void) {
  FAULT_POINTER();
  struct cm_channel *c = calloc(1, sizeof *c);
  int fds[2];
  if (pipe2(fds, O_CLOEXEC)) abort();
  c->base.fd = fds[0];
  c->write_fd = fds[1];
  return &c->base;
}
void rdma_destroy_event_channel(struct rdma_event_channel *c) {
  close(c->fd);
  close(((struct cm_channel *)c)->write_fd);
  free(c);
}
static void cm_raise(struct cm_id *id, struct cm_id *listener, enum rdma_cm_event_type type, int status,
                     const struct rdma_conn_param *param) {
  struct cm_event *e = calloc(1, sizeof *e);
  e->base.id = &id->base;
  e->base.listen_id = listener ? &listener->base : NULL;
  e->base.event = type;
  e->base.status = status;
  if (param) {
    e->base.param.conn = *param;
    if (param->private_data_len) {
      memcpy(e->data, param->private_data, param->private_data_len);
      e->base.param.conn.private_data = e->data;
    }
    uint8_t depth = e->base.param.conn.initiator_depth;
    e->base.param.conn.initiator_depth = param->responder_resources;
    e->base.param.conn.responder_resources = depth;
    struct cm_id *from = id->peer;
    if (from && from->base.qp) e->base.param.conn.qp_num = from->base.qp->qp_num;
  }
  struct cm_id *to = listener ? listener : id;
  if (write(((struct cm_channel *)to->base.channel)->write_fd, &e, sizeof e) < 0) abort();
}
int rdma_create_id(struct rdma_event_channel *c, struct rdma_cm_id **id, void *user, enum rdma_port_space ps) {
  FAULT_MINUS();
  CM_ALONE;
  struct cm_id *made = calloc(1, sizeof *made);
  made->base.channel = c;
  made->base.context = user;
  made->base.ps = ps;
  identifiers++;
  *id = &made->base;
  return 0;
}
static struct cm_id *cm(struct rdma_cm_id *id) { return (struct cm_id *)id; }
int rdma_destroy_id(struct rdma_cm_id *id) {
  FAULT_MINUS();
  CM_ALONE;
  struct cm_id *own = cm(id);
  if (own->unacked) { errno = EBUSY; return -1; }  // librdmacm would wait for ever
  pthread_mutex_lock(&lock);
  if (own->listening) listeners[ntohs(id->route.addr.src_sin.sin_port)] = NULL;
  if (own->peer) {
    // The kernel asks the peer to disconnect, or answers it.
    if (own->connected && own->peer->connected && !own->leaving)
      cm_raise(own->peer, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    own->peer->peer = NULL;
  }
  int flags = fcntl(id->channel->fd, F_GETFL);
  fcntl(id->channel->fd, F_SETFL, flags | O_NONBLOCK);
  struct cm_event *kept[64], *e;
  int count = 0;
  while (count < 64 && read(id->channel->fd, &e, sizeof e) == sizeof e)
    if (e->base.id != id && e->base.listen_id != id) kept[count++] = e; else free(e);
  for (int i = 0; i < count; i++) if (write(((struct cm_channel *)id->channel)->write_fd, &kept[i], 8) < 0) abort();
  fcntl(id->channel->fd, F_SETFL, flags);
  free(own);
  identifiers--;
  pthread_mutex_unlock(&lock);
  return 0;
}
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *a) {
  FAULT_MINUS();
  CM_ALONE;
  struct sockaddr_in *in = (struct sockaddr_in *)a;
  if (in->sin_port && listeners[ntohs(in->sin_port)]) { errno = EADDRINUSE; return -1; }
  id->route.addr.src_sin = *in;
  if (!in->sin_port) id->route.addr.src_sin.sin_port = htons(next_port++);
  id->verbs = the_context();
  id->port_num = 1;
  return 0;
}
int rdma_listen(struct rdma_cm_id *id, int backlog) {
  FAULT_MINUS();
  CM_ALONE;
  listeners[ntohs(id->route.addr.src_sin.sin_port)] = cm(id);
  cm(id)->listening = 1;
  return 0;
}
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms) {
  FAULT_MINUS();
  CM_ALONE;
  id->route.addr.dst_sin = *(struct sockaddr_in *)to;
  id->route.addr.src_sin = *(struct sockaddr_in *)to;
  id->route.addr.src_sin.sin_port = htons(next_port++);
  id->verbs = the_context();
  id->port_num = 1;
  cm_raise(cm(id), NULL, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
  return 0;
}
int rdma_resolve_route(struct rdma_cm_id *id, int ms) {
  FAULT_MINUS();
  cm_raise(cm(id), NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
  return 0;
}
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *a) {
  FAULT_MINUS();
  CM_ALONE;
  struct qp *qp = LOCKED(struct qp *, new_qp(pd, a));
  if (!qp) return -1;
  qp->base.qp_base.state = IBV_QPS_INIT;
  id->qp = &qp->base.qp_base;
  id->pd = pd;
  return 0;
}
void rdma_destroy_qp(struct rdma_cm_id *id) { ibv_destroy_qp(id->qp); id->qp = NULL; }
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  FAULT_MINUS();
  CM_ALONE;
  if (param->initiator_depth > max_reads_out) { errno = EINVAL; return -1; }
  struct cm_id *listener = listeners[ntohs(id->route.addr.dst_sin.sin_port)];
  if (!listener) { cm_raise(cm(id), NULL, RDMA_CM_EVENT_REJECTED, 8, NULL); return 0; }
  struct cm_id *made = calloc(1, sizeof *made);
  made->base.channel = listener->base.channel;
  made->base.verbs = the_context();
  made->base.port_num = 1;
  made->base.ps = id->ps;
  made->base.route.addr.src_sin = listener->base.route.addr.src_sin;
  made->base.route.addr.dst_sin = id->route.addr.src_sin;
  made->peer = cm(id);
  cm(id)->peer = made;
  identifiers++;
  cm_raise(made, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, param);
  return 0;
}
static void join(struct cm_id *a, struct cm_id *b, int rnr) {
  struct qp *qp = of(a->base.qp);
  qp->attr.dest_qp_num = b->base.qp->qp_num;
  qp->attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  qp->attr.rnr_retry = rnr;
  qp->base.qp_base.state = IBV_QPS_RTS;
  a->connected = 1;
}
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  FAULT_MINUS();
  CM_ALONE;
  struct cm_id *own = cm(id);
  if (!own->peer || !id->qp || !own->peer->base.qp || param->initiator_depth > max_reads_out) {
    errno = EINVAL;
    return -1;
  }
  pthread_mutex_lock(&lock);
  join(own, own->peer, 7);
  join(own->peer, own, 7);
  pthread_mutex_unlock(&lock);
  cm_raise(own, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
  cm_raise(own->peer, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, param);
  return 0;
}
int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) {
  FAULT_MINUS();
  CM_ALONE;
  struct rdma_conn_param param = {.private_data = data, .private_data_len = length};
  if (cm(id)->peer) cm_raise(cm(id)->peer, NULL, RDMA_CM_EVENT_REJECTED, 28, &param);
  return 0;
}
// As the kernel does: the first call asks the peer, whose own call is the answer.
int rdma_disconnect(struct rdma_cm_id *id) {
  FAULT_MINUS();
  CM_ALONE;
  struct cm_id *own = cm(id), *peer = own->peer;
  if (!own->connected || own->leaving) { errno = EINVAL; return -1; }
  if (own->base.qp) {
    pthread_mutex_lock(&lock);
    to_error(of(own->base.qp));
    pthread_mutex_unlock(&lock);
  }
  if (own->asked || !peer) {
    own->connected = 0;
    cm_raise(peer ? peer : own, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    if (peer) peer->connected = 0;
  } else {
    own->leaving = peer->asked = 1;
    cm_raise(peer, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
  }
  return 0;
}
int rdma_get_cm_event(struct rdma_event_channel *c, struct rdma_cm_event **event) {
  FAULT_MINUS();
  struct cm_event *e;
  if (read(c->fd, &e, sizeof e) != sizeof e) return -1;
  cm(e->base.id)->unacked++;
  LOCKED(long, ++unacknowledged);
  *event = &e->base;
  return 0;
}
int rdma_ack_cm_event(struct rdma_cm_event *event) {
  FAULT_MINUS();
  cm(event->id)->unacked--;
  LOCKED(long, --unacknowledged);
  free(event);
  return 0;
}
struct ibv_context **rdma_get_devices(int *count) {
  FAULT_POINTER();
  struct ibv_context **list = calloc(2, sizeof *list);
  list[0] = the_context();
  *count = 1;
  return list;
}
void rdma_free_devices(struct ibv_context **list) { free(list); }
int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value, size_t length) {
  FAULT_MINUS();
  return 0;
}

// ---- what tests ask for

// Lets the function of a name fail so often.
void loop_fail(const char *name, int number, int times) {
  pthread_mutex_lock(&lock);
  snprintf(fail_name, sizeof fail_name, "%s", name);
  fail_errno = number;
  fail_times = times;
  pthread_mutex_unlock(&lock);
}
// Lets the next call of the function of a name take so long; not one that holds the lock, which all others wait for.
void loop_slow(const char *name, int ms) {
  slow_ms = 0;
  snprintf(slow_name, sizeof slow_name, "%s", name);
  slow_began = 0;
  slow_ms = ms;
}
// Whether that call has begun.
int loop_slow_began(void) { return slow_began; }
// Keeps completions back; gives how many there are.
int loop_hold(int on) { return LOCKED(int, (holding = on, held_count)); }
// Gives them out: in order, or the queue pair that was last first. Those of one queue pair stay in order.
void loop_release(int reverse) {
  pthread_mutex_lock(&lock);
  holding = 0;
  for (int left = held_count; left > 0; left--) {
    int at = reverse ? -1 : held_count - left;
    for (int i = 0; reverse && i < held_count; i++)
      if (held[i].cq && (at < 0 || held[i].wc.qp_num > held[at].wc.qp_num)) at = i;
    if (at < 0 || !held[at].cq) continue;  // of a queue that is destroyed
    complete_now(held[at].cq, &held[at].wc, held[at].solicited);
    held[at].cq = NULL;
  }
  held_count = 0;
  pthread_mutex_unlock(&lock);
}
// Raises an asynchronous event; element 0: of a port.
void loop_raise(struct ibv_context *context, int type, void *element, int port) {
  raise_event(context, type, element, port);
}
// Takes the port down, or up again, and tells all contexts so. While it is down nothing arrives: what
// needs an acknowledgement fails as if it had been sent again and again.
void loop_port(int up) {
  pthread_mutex_lock(&lock);
  port_down = !up;
  for (struct context *c = contexts; c; c = c->next)
    raise_event(&c->verbs.context, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, NULL, 1);
  pthread_mutex_unlock(&lock);
}
// The same of a queue pair.
void loop_raise_of(uint32_t number, int type) {
  pthread_mutex_lock(&lock);
  struct qp *qp = find_qp(number);
  if (qp) raise_event(qp->base.qp_base.context, type, &qp->base.qp_base, 0);
  pthread_mutex_unlock(&lock);
}
// Stops a message to a queue pair in its middle: its request of the shared queue stays taken until the queue pair is in
// error, and is lost if it is destroyed soon after. Whether there was a request.
int loop_tear(uint32_t number) {
  pthread_mutex_lock(&lock);
  struct qp *qp = find_qp(number);
  struct ibv_srq *srq = qp ? qp->base.qp_base.srq : NULL;
  struct queue *q = srq ? &((struct srq *)srq)->queue : NULL;
  int done = q && q->count;
  if (done) {
    qp->taken = q->ring[q->head];
    q->head = (q->head + 1) % q->capacity;
    q->count--;
    qp->torn = 1;
  }
  pthread_mutex_unlock(&lock);
  return done;
}
// How many entries a completion queue has at most, for those that are opened later.
void loop_max_completions(int count) { max_completions = count; }
// How many reads a queue pair has under way at most.
void loop_max_reads_out(int count) { max_reads_out = count; }
// Adds completions that nobody has asked for.
void loop_stuff(struct ibv_cq *cq, int count) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) complete_now((struct cq *)cq, &(struct ibv_wc){.wr_id = i}, 0);
  pthread_mutex_unlock(&lock);
}
// How often a request found no receive request at the peer.
long loop_not_ready(void) { return LOCKED(long, not_ready); }
long loop_unacknowledged(void) { return LOCKED(long, unacknowledged); }
long loop_identifiers(void) { CM_ALONE; return identifiers; }
void loop_missing(int kernel, int devices, int opening) {
  no_kernel = kernel;
  no_device = devices;
  open_errno = opening;
}

// ---- a device that does nothing, to measure calls with

static int noop_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  of(qp)->batch_error = (int)wr->wr_id;
  return 0;
}
static struct qp *noop_qp;
static int noop_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc) {
  wc->wr_id = noop_qp->batch_error;
  wc->status = IBV_WC_SUCCESS;
  wc->opcode = IBV_WC_SEND;
  wc->qp_num = noop_qp->base.qp_base.qp_num;
  return 1;
}
// Before queues are opened.
void loop_noop(struct ibv_context *context) {
  context->ops.post_send = noop_post;
  context->ops.poll_cq = noop_poll;
}
void loop_noop_qp(uint32_t number) { noop_qp = find_qp(number); }
// The loop that Java is compared with: nanoseconds of processor time for so many posts and polls.
int64_t loop_bench(uint32_t number, int64_t count) {
  struct ibv_qp *qp = &find_qp(number)->base.qp_base;
  struct ibv_cq *cq = qp->send_cq;
  struct ibv_sge sge = {0};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_wc wc;
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (int64_t i = 0; i < count; i++) {
    struct ibv_send_wr *bad;
    wr.wr_id = i;
    if (ibv_post_send(qp, &wr, &bad)) abort();
    if (ibv_poll_cq(cq, 1, &wc) != 1 || wc.wr_id != (uint64_t)(int)i) abort();
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
}
