/* SPDX-License-Identifier: Apache-2.0
 * A plugin for QEMU's code generator: counts the instructions that the emulated core executes in
 * the regions that harness.h marks, exactly, and writes each region's count as a line of a file.
 *
 *   qemu-system-arm ... -plugin insncount.so,out=FILE
 *
 * QEMU hands over each block of instructions once, when it translates it. The block is cut at its
 * marks; the first instruction of each piece gets an inline addition of the piece's length, which
 * costs one host instruction or two per execution, and each mark gets a callback. A piece is always
 * executed to its end, unless it faults.
 *
 * Debian does not package qemu-plugin.h, hence the declarations (API version 1, QEMU 7.2,
 * docs/devel/tcg-plugins.rst). */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
/* Its first member; there are others behind it. */
typedef struct {
  const char* target_name; /* "arm", "riscv32" */
} qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kNoRegisters = 0 }; /* QEMU_PLUGIN_CB_NO_REGS */
enum { kInlineAdd = 0 };   /* QEMU_PLUGIN_INLINE_ADD_U64 */

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                                  void (*callback)(qemu_plugin_id_t,
                                                                   struct qemu_plugin_tb*));
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* insn,
                                                   void (*callback)(unsigned, void*), int flags,
                                                   void* data);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* insn, int operation,
                                                       void* counter, uint64_t amount);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
extern struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb,
                                                        size_t index);
extern const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* insn);

EXPORTED int qemu_plugin_version = 1;

/* The marks: start, stop, next (harness.h). */
static const uint16_t kArmMarks[3] = {0x46d2, 0x46db, 0x46c9};
static const uint16_t kRiscvMarks[3] = {0x0005, 0x0009, 0x000d};

static const uint16_t* marks = kArmMarks;
static uint64_t executed;
static uint64_t executed_at_start;
static FILE* counts;

static void on_start(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  executed_at_start = executed;
}

static void on_stop(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  fprintf(counts, "%" PRIu64 "\n", executed - executed_at_start);
  fflush(counts); /* the run may end by being killed */
}

static void on_next(unsigned cpu, void* data) {
  on_stop(cpu, data);
  on_start(cpu, data);
}

/* The callback of a mark; NULL for any other instruction. The instruction's size does not tell: to
 * see whether the next one crosses the end of a page, QEMU reads on, and what it reads is added to
 * the last instruction's bytes. No 32-bit instruction begins like a mark. */
static void (*callback_of(const struct qemu_plugin_insn* insn))(unsigned, void*) {
  uint16_t code;
  if (qemu_plugin_insn_size(insn) < 2) return NULL;
  memcpy(&code, qemu_plugin_insn_data(insn), 2);
  if (code == marks[0]) return on_start;
  if (code == marks[1]) return on_stop;
  if (code == marks[2]) return on_next;
  return NULL;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  const size_t num_insns = qemu_plugin_tb_n_insns(tb);
  size_t begin = 0;
  (void)id;
  while (begin < num_insns) {
    size_t end = begin;
    void (*callback)(unsigned, void*) = NULL;
    while (end < num_insns) {
      callback = callback_of(qemu_plugin_tb_get_insn(tb, end));
      if (callback != NULL) break;
      ++end;
    }
    if (end > begin) {
      qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(tb, begin), kInlineAdd,
                                                 &executed, end - begin);
    }
    if (callback != NULL) {
      qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, end), callback,
                                             kNoRegisters, NULL);
    }
    begin = end + 1;
  }
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                 char** argv) {
  int i;
  if (strncmp(info->target_name, "riscv", 5) == 0) marks = kRiscvMarks;
  for (i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) counts = fopen(argv[i] + 4, "w");
  }
  if (counts == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
