/*
 * A scripted NVML: answers as an H200 under driver 580 does, and otherwise what a file says. For tests and benchmarks.
 *
 *   gcc -O2 -Wall -Werror -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 fake_nvml.c
 *
 * With -DOLD_DRIVER the newer symbols are missing. The script is $FAKE_NVML_SCRIPT, else `fake_nvml.script` beside the
 * library; it is looked at on each call and read again when it has changed (replace it by renaming a new file over it).
 * One `key = value` a line, `#` begins a comment. A key of a GPU begins with `gpu.` for all of them or `gpuN.` for one.
 *
 *   gpus = 8                     how many GPUs (default 1, at most 64)
 *   driver = 535.54.03           nvml = 13.580.159.04      cuda = 13000
 *   init = 9                     nvmlInit answers this code
 *   init.hang = 30000            nvmlInit takes so many ms
 *   gpu3.return = 15             every call on the GPU answers this code (the handle included)
 *   gpu3.hang = 30000            every call on the GPU takes so many ms; it ends early when the script says so
 *   gpu.call.NAME = 3            the function NAME answers this code
 *   gpu.util, mem_util, temp, margin, sm, mem, power, reasons, used, total, uuid, name, serial, vbios, bus, persistence
 *   gpu.field.ID = 5             a value of the field's own type; `ull 5`, `uint 5`, `sint -5`, `slong 5`, `ulong 5`,
 *                                `ushort 5`, `double 5.5`, `type9 5`, or `error 3`
 *   gpu.field.ID.SCOPE = ...     the same for one link, lane or scope
 *   gpu.energy, power_limit, replays, remap.pending, remap.failed
 *   fields.invalid = 230         an id of which this driver knows nothing: the whole call answers INVALID_ARGUMENT
 *   gpu.pids = 12 34             compute processes;  gpu.mps = 56
 *   process.size = 32            entries as early R535 drivers wrote them
 *   gpu.mig = 1                  MIG is on: utilisation is not supported;  gpu.mig.count = 2 instances
 *
 * `fake_nvml.log` beside the library tells of init, shutdown and unload, and of VIOLATION: two calls into one GPU at
 * once, a handle used after shutdown, a shutdown while a call is out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7 };
enum { DOUBLE, UINT, ULONG, ULL, SLL, SINT, USHORT };
enum { MAX_GPUS = 64, MAX_LINES = 1024, LINKS = 18, VALUE = 512, MAX_PIDS = 96 };

/* The structs of nvml.h 13.3.29, LP64. */
typedef struct { unsigned fieldId, scopeId; long long timestamp, latencyUsec; int valueType, nvmlReturn;
                 union { double d; int si; unsigned ui; unsigned long ul; unsigned long long ull; long long sll;
                         unsigned short us; } value; } FieldValue;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } MemoryV2;
typedef struct { char busIdLegacy[16]; unsigned domain, bus, device, pciDeviceId, pciSubSystemId; char busId[32]; } PciInfo;
typedef struct { unsigned version; int sensorType, temperature; } Temperature;
typedef struct { unsigned version; int marginTemperature; } MarginTemperature;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; } ProcessV1;
typedef struct { unsigned pid; unsigned long long usedGpuMemory; unsigned gpuInstanceId, computeInstanceId; } Process;
typedef struct { Process process; unsigned long long usedGpuCcProtectedMemory; } ProcessR535;

long fake_nvml_layout(const char *what) {
#define SIZE(name, type) if (!strcmp(what, name)) return sizeof(type)
#define AT(name, type, member) if (!strcmp(what, name)) return offsetof(type, member)
    SIZE("FieldValue", FieldValue);
    AT("FieldValue.fieldId", FieldValue, fieldId);
    AT("FieldValue.scopeId", FieldValue, scopeId);
    AT("FieldValue.latencyUsec", FieldValue, latencyUsec);
    AT("FieldValue.valueType", FieldValue, valueType);
    AT("FieldValue.nvmlReturn", FieldValue, nvmlReturn);
    AT("FieldValue.value", FieldValue, value);
    SIZE("Utilization", Utilization);
    SIZE("Memory", Memory);
    AT("Memory.total", Memory, total);
    AT("Memory.used", Memory, used);
    SIZE("MemoryV2", MemoryV2);
    AT("MemoryV2.total", MemoryV2, total);
    AT("MemoryV2.used", MemoryV2, used);
    SIZE("PciInfo", PciInfo);
    AT("PciInfo.domain", PciInfo, domain);
    AT("PciInfo.bus", PciInfo, bus);
    AT("PciInfo.device", PciInfo, device);
    SIZE("Temperature", Temperature);
    AT("Temperature.temperature", Temperature, temperature);
    SIZE("MarginTemperature", MarginTemperature);
    AT("MarginTemperature.marginTemperature", MarginTemperature, marginTemperature);
    SIZE("ProcessV1", ProcessV1);
    SIZE("Process", Process);
    AT("Process.pid", Process, pid);
    AT("Process.gpuInstanceId", Process, gpuInstanceId);
    SIZE("ProcessR535", ProcessR535);
    return -1;
}

/* ---- the script ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char key[96]; char value[VALUE]; } script[MAX_LINES];
static int lines;
static struct stat seen;
static char here[4096], script_path[4096];
static atomic_int refs, generation, in_call[MAX_GPUS];

typedef struct { int gpu, mig, generation; } Handle;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void say(const char *format, ...) {
    char path[sizeof here + 16];
    snprintf(path, sizeof path, "%s/fake_nvml.log", here);
    FILE *f = fopen(path, "a");
    if (!f) return;
    va_list args;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fputc('\n', f);
    fclose(f);
}

__attribute__((constructor)) static void loaded(void) {
    Dl_info self;
    dladdr((void *)loaded, &self);
    snprintf(here, sizeof here, "%s", self.dli_fname);
    char *slash = strrchr(here, '/');
    if (slash) *slash = 0; else strcpy(here, ".");
    const char *env = getenv("FAKE_NVML_SCRIPT");
    if (env) snprintf(script_path, sizeof script_path, "%s", env);
    else snprintf(script_path, sizeof script_path, "%.4000s/fake_nvml.script", here);
}

__attribute__((destructor)) static void unloaded(void) { say("unloaded refs=%d", refs); }

static char *trim(char *s) {
    while (*s == ' ' || *s == '\t') s++;
    char *end = s + strlen(s);
    while (end > s && strchr(" \t\r\n", end[-1])) *--end = 0;
    return s;
}

static void refresh(void) { /* under lock */
    struct stat st;
    if (stat(script_path, &st)) { lines = 0; memset(&seen, 0, sizeof seen); return; }
    if (st.st_ino == seen.st_ino && st.st_size == seen.st_size && st.st_mtim.tv_sec == seen.st_mtim.tv_sec
        && st.st_mtim.tv_nsec == seen.st_mtim.tv_nsec) return;
    FILE *f = fopen(script_path, "r");
    if (!f) return;
    seen = st;
    lines = 0;
    char line[1024];
    while (lines < MAX_LINES && fgets(line, sizeof line, f)) {
        char *hash = strchr(line, '#');
        if (hash) *hash = 0;
        char *eq = strchr(line, '=');
        if (!eq) continue;
        *eq = 0;
        snprintf(script[lines].key, sizeof script[lines].key, "%.95s", trim(line));
        snprintf(script[lines].value, sizeof script[lines].value, "%.511s", trim(eq + 1));
        lines++;
    }
    fclose(f);
}

/* The last line of a key counts. */
static int find(const char *key, char *out, size_t size) {
    int found = 0;
    pthread_mutex_lock(&lock);
    refresh();
    for (int i = lines - 1; i >= 0 && !found; i--)
        if (!strcmp(script[i].key, key)) { snprintf(out, size, "%s", script[i].value); found = 1; }
    pthread_mutex_unlock(&lock);
    return found;
}

static int find_of(int gpu, const char *name, char *out, size_t size) {
    char key[160];
    snprintf(key, sizeof key, "gpu%d.%s", gpu, name);
    if (find(key, out, size)) return 1;
    snprintf(key, sizeof key, "gpu.%s", name);
    return find(key, out, size);
}

static long long number(const char *key, long long fallback) {
    char v[VALUE];
    return find(key, v, sizeof v) ? (long long)strtoull(v, NULL, 0) : fallback;
}

static long long number_of(int gpu, const char *name, long long fallback) {
    char v[VALUE];
    return find_of(gpu, name, v, sizeof v) ? strtoll(v, NULL, 0) : fallback;
}

static unsigned long long unsigned_of(int gpu, const char *name, unsigned long long fallback) {
    char v[VALUE];
    return find_of(gpu, name, v, sizeof v) ? strtoull(v, NULL, 0) : fallback;
}

static int text_of(int gpu, const char *name, const char *fallback, char *out, unsigned size) {
    char v[VALUE];
    if (!find_of(gpu, name, v, sizeof v)) snprintf(v, sizeof v, "%s", fallback);
    if (strlen(v) >= size) return TOO_SMALL;
    strcpy(out, v);
    return OK;
}

/* ---- what each call on a device goes through ---- */

static void pause_ms(int gpu, const char *key) {
    double start = now_s();
    for (;;) {
        long long ms = gpu < 0 ? number(key, 0) : number_of(gpu, key, 0);
        if ((now_s() - start) * 1000 >= ms) return;
        struct timespec t = {0, 5000000};
        nanosleep(&t, NULL);
    }
}

static int enter_gpu(int gpu, const char *function) {
    if (atomic_fetch_add(&in_call[gpu], 1) > 0) say("VIOLATION a second call into GPU %d: %s", gpu, function);
    pause_ms(gpu, "hang");
    char key[120];
    snprintf(key, sizeof key, "call.%s", function);
    long long code = number_of(gpu, "return", 0);
    return code ? (int)code : (int)number_of(gpu, key, 0);
}

static int enter(Handle *h, const char *function) {
    if (!h || refs == 0 || h->generation != generation) {
        say("VIOLATION a dead handle in %s", function);
        return -1;
    }
    return enter_gpu(h->gpu, function);
}

#define LEAVE(h) atomic_fetch_sub(&in_call[(h)->gpu], 1)
#define DEVICE(name, ...)                                                              \
    static int name##_(Handle *h, ##__VA_ARGS__);                                      \
    int name(Handle *h, ##__VA_ARGS__)
#define THROUGH(name, ...)                                                             \
    { int code = enter(h, #name);                                                      \
      if (code < 0) return UNINITIALIZED;                                              \
      if (!code) code = name##_(h, ##__VA_ARGS__);                                     \
      LEAVE(h);                                                                        \
      return code; }

/* ---- the library ---- */

int nvmlInit_v2(void) {
    pause_ms(-1, "init.hang");
    int code = (int)number("init", 0);
    if (code) return code;
    if (atomic_fetch_add(&refs, 1) == 0) atomic_fetch_add(&generation, 1);
    say("init refs=%d", refs);
    return OK;
}

int nvmlShutdown(void) {
    if (refs == 0) return UNINITIALIZED;
    for (int i = 0; i < MAX_GPUS; i++)
        if (in_call[i]) say("VIOLATION a shutdown while a call into GPU %d is out", i);
    atomic_fetch_sub(&refs, 1);
    say("shutdown refs=%d", refs);
    return OK;
}

static int system_text(const char *key, const char *fallback, char *out, unsigned size) {
    char v[VALUE];
    if (!find(key, v, sizeof v)) snprintf(v, sizeof v, "%s", fallback);
    if (strlen(v) >= size) return TOO_SMALL;
    strcpy(out, v);
    return OK;
}

int nvmlSystemGetDriverVersion(char *out, unsigned n) { return system_text("driver", "580.159.04", out, n); }
int nvmlSystemGetNVMLVersion(char *out, unsigned n) { return system_text("nvml", "13.580.159.04", out, n); }
int nvmlSystemGetCudaDriverVersion_v2(int *out) { *out = (int)number("cuda", 13000); return OK; }
int nvmlDeviceGetCount_v2(unsigned *out) { *out = (unsigned)number("gpus", 1); return OK; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle **out) {
    if (refs == 0) return UNINITIALIZED;
    if (index >= number("gpus", 1) || index >= MAX_GPUS) return INVALID;
    int code = enter_gpu((int)index, "nvmlDeviceGetHandleByIndex_v2");
    atomic_fetch_sub(&in_call[index], 1);
    if (code) return code;
    Handle *h = calloc(1, sizeof *h); /* never freed, so that a dead handle can be told */
    *h = (Handle){(int)index, -1, generation};
    *out = h;
    return OK;
}

/* ---- plain values ---- */

DEVICE(nvmlDeviceGetUUID, char *out, unsigned n) THROUGH(nvmlDeviceGetUUID, out, n)
static int nvmlDeviceGetUUID_(Handle *h, char *out, unsigned n) {
    char fallback[64];
    if (h->mig >= 0) {
        snprintf(fallback, sizeof fallback, "MIG-%08x-0000-4000-8000-%012x", h->gpu + 1, h->mig + 1);
        if (strlen(fallback) >= n) return TOO_SMALL;
        strcpy(out, fallback);
        return OK;
    }
    snprintf(fallback, sizeof fallback, "GPU-%08x-0000-4000-8000-%012x", h->gpu + 1, h->gpu + 1);
    return text_of(h->gpu, "uuid", fallback, out, n);
}

DEVICE(nvmlDeviceGetName, char *out, unsigned n) THROUGH(nvmlDeviceGetName, out, n)
static int nvmlDeviceGetName_(Handle *h, char *out, unsigned n) { return text_of(h->gpu, "name", "NVIDIA H200", out, n); }

DEVICE(nvmlDeviceGetSerial, char *out, unsigned n) THROUGH(nvmlDeviceGetSerial, out, n)
static int nvmlDeviceGetSerial_(Handle *h, char *out, unsigned n) {
    return text_of(h->gpu, "serial", "1650000000001", out, n);
}

DEVICE(nvmlDeviceGetVbiosVersion, char *out, unsigned n) THROUGH(nvmlDeviceGetVbiosVersion, out, n)
static int nvmlDeviceGetVbiosVersion_(Handle *h, char *out, unsigned n) {
    return text_of(h->gpu, "vbios", "96.00.A5.00.01", out, n);
}

DEVICE(nvmlDeviceGetPciInfo_v3, PciInfo *out) THROUGH(nvmlDeviceGetPciInfo_v3, out)
static int nvmlDeviceGetPciInfo_v3_(Handle *h, PciInfo *out) {
    memset(out, 0, sizeof *out);
    out->bus = (unsigned)number_of(h->gpu, "bus", 0x1a + h->gpu);
    snprintf(out->busIdLegacy, sizeof out->busIdLegacy, "0000:%02X:00.0", out->bus & 0xff);
    snprintf(out->busId, sizeof out->busId, "00000000:%02X:00.0", out->bus & 0xff);
    return OK;
}

DEVICE(nvmlDeviceGetUtilizationRates, Utilization *out) THROUGH(nvmlDeviceGetUtilizationRates, out)
static int nvmlDeviceGetUtilizationRates_(Handle *h, Utilization *out) {
    if (number_of(h->gpu, "mig", 0)) return NOT_SUPPORTED;
    out->gpu = (unsigned)number_of(h->gpu, "util", 97);
    out->memory = (unsigned)number_of(h->gpu, "mem_util", 41);
    return OK;
}

static unsigned long long total(Handle *h) { return unsigned_of(h->gpu, "total", 150754820096ULL); }
static unsigned long long used(Handle *h) {
    return h->mig >= 0 ? (h->mig + 1ULL) << 30 : unsigned_of(h->gpu, "used", 88ULL << 30);
}

DEVICE(nvmlDeviceGetMemoryInfo, Memory *out) THROUGH(nvmlDeviceGetMemoryInfo, out)
static int nvmlDeviceGetMemoryInfo_(Handle *h, Memory *out) {
    *out = (Memory){total(h), total(h) - used(h), used(h) + (600ULL << 20)};
    return OK;
}

#ifndef OLD_DRIVER
DEVICE(nvmlDeviceGetMemoryInfo_v2, MemoryV2 *out) THROUGH(nvmlDeviceGetMemoryInfo_v2, out)
static int nvmlDeviceGetMemoryInfo_v2_(Handle *h, MemoryV2 *out) {
    if (out->version != (sizeof *out | 2u << 24)) return 25;
    out->total = total(h); out->reserved = 600ULL << 20; out->free = total(h) - used(h); out->used = used(h);
    return OK;
}

DEVICE(nvmlDeviceGetTemperatureV, Temperature *out) THROUGH(nvmlDeviceGetTemperatureV, out)
static int nvmlDeviceGetTemperatureV_(Handle *h, Temperature *out) {
    if (out->version != (sizeof *out | 1u << 24)) return 25;
    if (out->sensorType != 0) return INVALID;
    out->temperature = (int)number_of(h->gpu, "temp", 54);
    return OK;
}

DEVICE(nvmlDeviceGetMarginTemperature, MarginTemperature *out) THROUGH(nvmlDeviceGetMarginTemperature, out)
static int nvmlDeviceGetMarginTemperature_(Handle *h, MarginTemperature *out) {
    if (out->version != (sizeof *out | 1u << 24)) return 25;
    out->marginTemperature = (int)number_of(h->gpu, "margin", 33);
    return OK;
}

DEVICE(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long *out)
    THROUGH(nvmlDeviceGetCurrentClocksEventReasons, out)
static int nvmlDeviceGetCurrentClocksEventReasons_(Handle *h, unsigned long long *out) {
    *out = unsigned_of(h->gpu, "reasons", 4);
    return OK;
}
#endif

DEVICE(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long *out)
    THROUGH(nvmlDeviceGetCurrentClocksThrottleReasons, out)
static int nvmlDeviceGetCurrentClocksThrottleReasons_(Handle *h, unsigned long long *out) {
    *out = unsigned_of(h->gpu, "reasons", 4);
    return OK;
}

DEVICE(nvmlDeviceGetTemperature, int sensor, unsigned *out) THROUGH(nvmlDeviceGetTemperature, sensor, out)
static int nvmlDeviceGetTemperature_(Handle *h, int sensor, unsigned *out) {
    if (sensor != 0) return INVALID;
    *out = (unsigned)number_of(h->gpu, "temp", 54);
    return OK;
}

DEVICE(nvmlDeviceGetClockInfo, int clock, unsigned *out) THROUGH(nvmlDeviceGetClockInfo, clock, out)
static int nvmlDeviceGetClockInfo_(Handle *h, int clock, unsigned *out) {
    if (clock != 1 && clock != 2) return INVALID;
    *out = (unsigned)(clock == 1 ? number_of(h->gpu, "sm", 1980) : number_of(h->gpu, "mem", 3201));
    return OK;
}

DEVICE(nvmlDeviceGetMaxClockInfo, int clock, unsigned *out) THROUGH(nvmlDeviceGetMaxClockInfo, clock, out)
static int nvmlDeviceGetMaxClockInfo_(Handle *h, int clock, unsigned *out) {
    (void)h;
    *out = clock == 1 ? 1980 : 3201;
    return OK;
}

#define UINT_CALL(name, key, fallback)                                                 \
    DEVICE(name, unsigned *out) THROUGH(name, out)                                     \
    static int name##_(Handle *h, unsigned *out) { *out = (unsigned)number_of(h->gpu, key, fallback); return OK; }
UINT_CALL(nvmlDeviceGetPowerUsage, "power", 640000)
UINT_CALL(nvmlDeviceGetEnforcedPowerLimit, "power_limit", 700000)
UINT_CALL(nvmlDeviceGetPcieReplayCounter, "replays", 0)
UINT_CALL(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_gen", 5)
UINT_CALL(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width", 16)
UINT_CALL(nvmlDeviceGetPersistenceMode, "persistence", 1)

DEVICE(nvmlDeviceGetRemappedRows, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed)
    THROUGH(nvmlDeviceGetRemappedRows, correctable, uncorrectable, pending, failed)
static int nvmlDeviceGetRemappedRows_(
    Handle *h, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed) {
    *correctable = *uncorrectable = 5;
    *pending = (unsigned)number_of(h->gpu, "remap.pending", 0);
    *failed = (unsigned)number_of(h->gpu, "remap.failed", 0);
    return OK;
}

DEVICE(nvmlDeviceGetTotalEnergyConsumption, unsigned long long *out) THROUGH(nvmlDeviceGetTotalEnergyConsumption, out)
static int nvmlDeviceGetTotalEnergyConsumption_(Handle *h, unsigned long long *out) {
    *out = unsigned_of(h->gpu, "energy", 1000000);
    return OK;
}

DEVICE(nvmlDeviceGetPcieThroughput, int counter, unsigned *out) THROUGH(nvmlDeviceGetPcieThroughput, counter, out)
static int nvmlDeviceGetPcieThroughput_(Handle *h, int counter, unsigned *out) {
    (void)h;
    *out = counter ? 2400000 : 2300000;
    return OK;
}

/* ---- fields ---- */

static int within(unsigned id, unsigned from, unsigned to) { return id >= from && id <= to; }

/* What an H200 answered: everything else is NOT_SUPPORTED, and from 274 on INVALID_ARGUMENT. */
static int answered(unsigned id) {
    return within(id, 1, 6) || within(id, 74, 83) || id == 91 || id == 94 || id == 95 || within(id, 138, 147)
        || within(id, 161, 169) || within(id, 173, 200) || within(id, 223, 230) || within(id, 269, 271);
}

static int type_of(unsigned id) {
    if (within(id, 3, 6) || within(id, 74, 81) || id == 83 || within(id, 138, 141) || within(id, 161, 163) || id == 191
        || within(id, 201, 204) || within(id, 269, 271)) return ULL;
    if (within(id, 193, 196)) return SINT;
    return UINT;
}

static unsigned long long moving(unsigned id) {
    double t = now_s();
    switch (id) {
        case 83: case 191: return (unsigned long long)(t * 640000);      /* mJ at 640 W */
        case 138: case 139: return (unsigned long long)(t * 400000);     /* KiB at 410 MB/s */
        case 140: case 141: return (unsigned long long)(t * 460000);
        case 197: case 198: return (unsigned)(unsigned long long)(t * 2.5e9); /* bytes, 32 bits: wraps */
        case 82: return 61;
        case 91: case 147: return LINKS;
        case 164: return 26562;
        case 165: return 1;
        case 166: return 7;
        case 185: case 186: return 640000;
        case 187: return 200000;
        case 188: case 189: case 190: case 192: return 700000;
        case 193: return (unsigned long long)-8;
        case 194: return (unsigned long long)-2;
        case 1: case 2: return 1;
        default: return 0;
    }
}

static void fill(FieldValue *f, int type, const char *text) {
    unsigned long long whole = text ? strtoull(text, NULL, 0) : moving(f->fieldId);
    f->valueType = type;
    f->value.ull = 0;
    switch (type) {
        case DOUBLE: f->value.d = text ? strtod(text, NULL) : (double)whole; break;
        case UINT: f->value.ui = (unsigned)whole; break;
        case SINT: f->value.si = (int)(text ? strtoll(text, NULL, 0) : (long long)whole); break;
        case SLL: f->value.sll = text ? strtoll(text, NULL, 0) : (long long)whole; break;
        case USHORT: f->value.us = (unsigned short)whole; break;
        default: f->value.ull = whole;
    }
    f->nvmlReturn = OK;
}

static void scripted(FieldValue *f, char *v) {
    static const char *types[] = {"double", "uint", "ulong", "ull", "slong", "sint", "ushort"};
    char *space = strchr(v, ' ');
    if (!space) { fill(f, type_of(f->fieldId), v); return; }
    *space = 0;
    char *value = trim(space + 1);
    if (!strcmp(v, "error")) { f->nvmlReturn = atoi(value); return; }
    for (int i = 0; i < 7; i++) if (!strcmp(v, types[i])) { fill(f, i, value); return; }
    fill(f, atoi(v + 4), value); /* typeN */
}

DEVICE(nvmlDeviceGetFieldValues, int n, FieldValue *values) THROUGH(nvmlDeviceGetFieldValues, n, values)
static int nvmlDeviceGetFieldValues_(Handle *h, int n, FieldValue *values) {
    int any = 0;
    unsigned invalid = (unsigned)number("fields.invalid", 0);
    for (int i = 0; i < n; i++) if (invalid && values[i].fieldId == invalid) return INVALID;
    for (int i = 0; i < n; i++) {
        FieldValue *f = &values[i];
        char key[64], v[160];
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        f->timestamp = t.tv_sec * 1000000LL + t.tv_nsec / 1000;
        f->latencyUsec = 12;
        int links = (int)number_of(h->gpu, "links", LINKS);
        int per_link = within(f->fieldId, 138, 141) || f->fieldId == 146 || within(f->fieldId, 161, 167);
        int all_links = within(f->fieldId, 138, 141) && f->scopeId == 0xFFFFFFFFu;
        snprintf(key, sizeof key, "field.%u.%u", f->fieldId, f->scopeId);
        int found = find_of(h->gpu, key, v, sizeof v);
        if (!found) {
            snprintf(key, sizeof key, "field.%u", f->fieldId);
            found = find_of(h->gpu, key, v, sizeof v);
        }
        if (found) scripted(f, v);
        else if (per_link && !all_links && f->scopeId >= (unsigned)links) f->nvmlReturn = NOT_SUPPORTED;
        else if (answered(f->fieldId)) fill(f, type_of(f->fieldId), NULL);
        else f->nvmlReturn = f->fieldId >= 274 ? INVALID : NOT_SUPPORTED;
        any |= f->nvmlReturn == OK;
    }
    return any || n == 0 ? OK : NOT_SUPPORTED;
}

/* ---- processes ---- */

static int processes(Handle *h, const char *key, unsigned *count, void *out, size_t size) {
    char v[VALUE] = "";
    find_of(h->gpu, key, v, sizeof v);
    unsigned pids[MAX_PIDS], n = 0;
    for (char *p = strtok(v, " "); p && n < MAX_PIDS; p = strtok(NULL, " ")) pids[n++] = (unsigned)strtoul(p, NULL, 0);
    unsigned room = *count;
    *count = n;
    if (n > room) return TOO_SMALL;
    for (unsigned i = 0; i < n; i++) {
        unsigned gi = number_of(h->gpu, "mig", 0) ? i + 1 : 0xFFFFFFFFu;
        ProcessR535 p = {{pids[i], 1ULL << 30, gi, gi}, 0};
        memcpy((char *)out + i * size, &p, size);
    }
    return OK;
}

DEVICE(nvmlDeviceGetComputeRunningProcesses, unsigned *n, void *out)
    THROUGH(nvmlDeviceGetComputeRunningProcesses, n, out)
static int nvmlDeviceGetComputeRunningProcesses_(Handle *h, unsigned *n, void *out) {
    return processes(h, "pids", n, out, sizeof(ProcessV1));
}

#ifndef OLD_DRIVER
DEVICE(nvmlDeviceGetComputeRunningProcesses_v3, unsigned *n, void *out)
    THROUGH(nvmlDeviceGetComputeRunningProcesses_v3, n, out)
static int nvmlDeviceGetComputeRunningProcesses_v3_(Handle *h, unsigned *n, void *out) {
    return processes(h, "pids", n, out, (size_t)number("process.size", sizeof(Process)));
}

DEVICE(nvmlDeviceGetMPSComputeRunningProcesses_v3, unsigned *n, void *out)
    THROUGH(nvmlDeviceGetMPSComputeRunningProcesses_v3, n, out)
static int nvmlDeviceGetMPSComputeRunningProcesses_v3_(Handle *h, unsigned *n, void *out) {
    return processes(h, "mps", n, out, (size_t)number("process.size", sizeof(Process)));
}

/* ---- MIG ---- */

DEVICE(nvmlDeviceGetMigMode, unsigned *current, unsigned *pending) THROUGH(nvmlDeviceGetMigMode, current, pending)
static int nvmlDeviceGetMigMode_(Handle *h, unsigned *current, unsigned *pending) {
    *current = *pending = (unsigned)number_of(h->gpu, "mig", 0);
    return OK;
}

DEVICE(nvmlDeviceGetMaxMigDeviceCount, unsigned *out) THROUGH(nvmlDeviceGetMaxMigDeviceCount, out)
static int nvmlDeviceGetMaxMigDeviceCount_(Handle *h, unsigned *out) { (void)h; *out = 7; return OK; }

/* Instances stand at every second index, for the list has gaps in life too. */
DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, unsigned index, Handle **out)
    THROUGH(nvmlDeviceGetMigDeviceHandleByIndex, index, out)
static int nvmlDeviceGetMigDeviceHandleByIndex_(Handle *h, unsigned index, Handle **out) {
    if (index % 2 || index / 2 >= number_of(h->gpu, "mig.count", 0)) return NOT_FOUND;
    Handle *mig = calloc(1, sizeof *mig);
    *mig = (Handle){h->gpu, (int)index / 2, h->generation};
    *out = mig;
    return OK;
}

DEVICE(nvmlDeviceGetGpuInstanceId, unsigned *out) THROUGH(nvmlDeviceGetGpuInstanceId, out)
static int nvmlDeviceGetGpuInstanceId_(Handle *h, unsigned *out) {
    if (h->mig < 0) return INVALID;
    *out = (unsigned)h->mig + 1;
    return OK;
}

DEVICE(nvmlDeviceGetComputeInstanceId, unsigned *out) THROUGH(nvmlDeviceGetComputeInstanceId, out)
static int nvmlDeviceGetComputeInstanceId_(Handle *h, unsigned *out) {
    if (h->mig < 0) return INVALID;
    *out = 0;
    return OK;
}
#endif
