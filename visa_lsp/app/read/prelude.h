/* What the C of `visa-lsp read` is written in: types, the work item, and operations that C does not have.

   Each lane executes the function of a kernel; locals belong to one lane, `shared` arrays to the lanes of a thread. Integers
   wrap: compile with -fwrapv -fno-strict-aliasing, with -fexcess-precision=16 for half, and with -ffp-contract=off.
   The functions without a body belong to whoever runs the lanes. */
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef ushort bfloat;

#define VECTORS(T) \
    typedef struct { T x, y; } T##2; \
    typedef struct { T x, y, z; } T##3; \
    typedef struct { T x, y, z, w; } T##4; \
    typedef struct { T s0, s1, s2, s3, s4, s5, s6, s7; } T##8; \
    typedef struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; } T##16;
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint) VECTORS(long) VECTORS(ulong)
VECTORS(half) VECTORS(float) VECTORS(double)
typedef struct image *image1d_t, *image2d_t, *image3d_t, *image1d_buffer_t, *image1d_array_t, *image2d_array_t;
typedef struct sampler *sampler_t;
typedef uchar opaque_t;

#define kernel
#define function
#define global
#define constant
#define local

/* ---- the work item */

#define shared static _Thread_local
extern _Thread_local int lane;                     /* the number of the lane in its thread */
extern _Thread_local const uchar *payload;         /* the registers that the launch has filled */
extern _Thread_local uchar *slm;                   /* shared local memory */
extern _Thread_local uchar *scratch;               /* memory of the thread */
shared ulong arg_registers[512], retval_registers[192], sp_registers[32], fp_registers[32]; /* of calls of functions */
int lane_count(void);                              /* the lanes of a thread, active or not: 8, 16 or 32 */
uint group_id(int axis);
uint local_id(int axis);
uint launch_value(const char *name, int axis);
ulong launch_address(const char *name);
uint thread_value(const char *name);               /* a register that the machine fills, such as %hw_id */
uint thread_lanes(void);                           /* the lanes of the thread with a work item, a bit each */
ulong symbol(const char *name);                    /* the address of data or a function of the program */
uchar *bti(uint number);                           /* a surface by its place in the binding table */
uchar *surface_at(ulong handle);                   /* a surface by its handle */
#define scratch_state (*(const uint *)(payload + 20)) /* 16 times the handle of scratch */
#define sub_group_id() (*(const uchar *)(payload + 8))
#define ss(handle) ({ ulong h_ = (handle); h_ == scratch_state >> 4 ? scratch : surface_at(h_); })
#define bss(handle) surface_at(handle)
#define surf(handle) surface_at(handle)
/* A texel of an image, read or written at whole coordinates; the messages of the sampler have their names in vISA. */
#define TEXELS(T) \
    T##4 read_texel_##T(const void *image, ...); \
    void write_texel_##T(void *image, ...);
TEXELS(float) TEXELS(int) TEXELS(uint)
#define SAMPLES(name) \
    float4 name##_float(const void *image, ...); \
    int4 name##_int(const void *image, ...); \
    uint4 name##_uint(const void *image, ...);
/* @samples */
#define read_imagef sample_lz_float
#define read_imagei sample_lz_int
#define read_imageui sample_lz_uint
#define write_imagef write_texel_float
#define write_imagei write_texel_int
#define write_imageui write_texel_uint
/* A rectangle of elements of an image, for all lanes together: x and the width in bytes; a row takes a power of two bytes of registers.
   Outside are zeros, or (clamped) the bytes at the edge. */
void read_block_2d(void *to, const void *image, int x, int y, int width, int height, int size);
void read_block_2d_clamped(void *to, const void *image, int x, int y, int width, int height, int size);
void write_block_2d(void *image, int x, int y, int width, int height, int size, const void *from);
/* What a launch tells of an image, a sampler or a buffer. */
#define PROPERTIES(name) \
    uint image_##name(const void *image); \
    uint flat_image_##name(const void *image);
PROPERTIES(width) PROPERTIES(height) PROPERTIES(depth) PROPERTIES(pitch) PROPERTIES(array_size) PROPERTIES(channel_order)
PROPERTIES(channel_data_type) PROPERTIES(srgb_channel_order) PROPERTIES(num_samples) PROPERTIES(num_mip_levels)
ulong flat_image_baseoffset(const void *image);
ulong buffer_size(const void *buffer);
uint sampler_snap_wa(sampler_t), sampler_address(sampler_t), sampler_normalized(sampler_t);
#define image_at(handle) ((void *)(ulong)(handle)) /* an image by its handle or its place in the binding table */
#define sampler_at(handle) ((void *)(ulong)(handle))
#define handle_of(image) ((ulong)(image))
uchar *surface_of(const char *name);               /* a surface variable that the launch fills */
#define surface(name) surface_of(#name)
#define enqueued_local_size(axis) launch_value("enqueued_local_size", axis)
#define local_size(axis) launch_value("local_size", axis)
#define global_size(axis) launch_value("global_size", axis)
#define group_count(axis) launch_value("group_count", axis)
#define global_id_offset(axis) launch_value("global_id_offset", axis)
#define work_dimensions launch_value("work_dimensions", 0)
#define private_base_stateless launch_address("private_base_stateless")
#define const_base launch_address("const_base")
#define global_base launch_address("global_base")
#define inline_sampler(index) launch_address("inline_sampler" #index)
#define constant_sampler(index) sampler_at(inline_sampler(index)) /* a sampler that the program declares */
#define printf_buffer launch_address("printf_buffer")
#define global_id(axis) (enqueued_local_size(axis) * group_id(axis) + local_id(axis) + global_id_offset(axis))
#define slm_offset(pointer) ((uint)((uchar *)(pointer) - slm))

/* ---- lanes that work together */

void sync_lanes_at(int line);                      /* active lanes wait for each other */
bool lanes_meet_at(int line);                      /* the same; true for the first of them */
bool lanes_part_at(int line);                      /* the same; false */
void barrier_at(int line);                         /* all threads of the group wait for each other */
uint lanes_where(bool condition, int line);        /* the lanes for which a condition holds */
#define sync_lanes() sync_lanes_at(__LINE__)
#define barrier() barrier_at(__LINE__)
#define fence() ((void)0)
#define work_group_barrier() barrier()             /* a fence, then a barrier */
#define sub_group_barrier() sync_lanes()
#define yield() ((void)0)                          /* changes no values, as the next two */
#define breakpoint() ((void)0)
#define sampler_cache_flush() ((void)0)
#define each_lane(first, last) \
    for (int lane = lanes_meet_at(__LINE__) ? (first) : (last) + 1; lane <= (last) || lanes_part_at(__LINE__); lane++)
#define once for (int once_ = lanes_meet_at(__LINE__); once_ || lanes_part_at(__LINE__); once_ = 0)
/* The value of an expression that the first active lane computes for all. */
#define one_for_all(expression) ({ \
    static _Thread_local __typeof__(expression) one_; \
    once one_ = (expression); \
    __typeof__(one_) copy_ = one_; \
    sync_lanes(); \
    copy_; })
#define any(condition) (lanes_where(condition, __LINE__) != 0)
#define all(condition) (lanes_where(!(condition), __LINE__) == 0)
#define ballot(condition) lanes_where(condition, __LINE__)

/* Values of all active lanes, combined: of 32 lanes lane n with n + 16, then n with n + 8, and so on; the others count as the neutral value. */
#define SUB_GROUP(v, neutral, ...) ({ \
    typedef __typeof__(v) T_; \
    static _Thread_local T_ all_[32]; \
    each_lane(0, 31) all_[lane] = (neutral); \
    all_[lane] = (v); \
    __VA_ARGS__ \
    T_ copy_ = all_[0]; \
    sync_lanes(); \
    copy_; })
#define COMBINE(v, neutral, form) SUB_GROUP(v, neutral, for (int n_ = lane_count() / 2; n_; n_ /= 2) \
    each_lane(0, n_ - 1) { T_ a_ = all_[lane], b_ = all_[lane + n_]; all_[lane] = (form); })
#define sub_group_reduce_add(v) COMBINE(v, 0, a_ + b_)
#define sub_group_reduce_and(v) COMBINE(v, -1, a_ & b_)
#define sub_group_reduce_or(v) COMBINE(v, 0, a_ | b_)
#define sub_group_reduce_xor(v) COMBINE(v, 0, a_ ^ b_)
#define HIGHEST(v) _Generic(v, float: INFINITY, int: INT32_MAX, uint: UINT32_MAX)
#define LOWEST(v) _Generic(v, float: -INFINITY, int: INT32_MIN, uint: 0)
#define LESSER a_ < b_ || b_ != b_ ? a_ : b_
#define GREATER a_ > b_ || b_ != b_ ? a_ : b_
#define sub_group_reduce_min(v) COMBINE(v, HIGHEST(v), LESSER)
#define sub_group_reduce_max(v) COMBINE(v, LOWEST(v), GREATER)
/* The same for each lane and those below it, or moved by one lane; lanes of halves of 2, 4, 8 and 16 are combined with the last lane below. */
#define SCAN(v, neutral, moved, form) ({ \
    typedef __typeof__(v) S_; \
    static _Thread_local S_ sums_[32]; \
    (void)SUB_GROUP(v, neutral, once { \
        for (int k = 0; k < 32; k++) sums_[k] = k < moved ? (neutral) : all_[k - moved]; \
        for (int n_ = 1; n_ < 32; n_ *= 2) \
            for (int k = 0; k < 32; k++) if (k & n_) { S_ a_ = sums_[(k & -n_) - 1], b_ = sums_[k]; sums_[k] = (form); } }); \
    S_ own_ = sums_[lane]; \
    sync_lanes(); \
    own_; })
#define sub_group_scan_exclusive_add(v) SCAN(v, 0, 1, a_ + b_)
#define sub_group_scan_inclusive_add(v) SCAN(v, 0, 0, a_ + b_)
#define sub_group_scan_exclusive_min(v) SCAN(v, HIGHEST(v), 1, LESSER)
#define sub_group_scan_inclusive_min(v) SCAN(v, HIGHEST(v), 0, LESSER)
#define sub_group_scan_exclusive_max(v) SCAN(v, LOWEST(v), 1, GREATER)
#define sub_group_scan_inclusive_max(v) SCAN(v, LOWEST(v), 0, GREATER)

/* ---- conversions */

#define AS(T, v) ({ __typeof__(v) v_ = (v); T r_; memset(&r_, 0, sizeof r_); memcpy(&r_, &v_, sizeof r_ < sizeof v_ ? sizeof r_ : sizeof v_); r_; })
#define as_char(v) AS(char, v)
#define as_uchar(v) AS(uchar, v)
#define as_short(v) AS(short, v)
#define as_ushort(v) AS(ushort, v)
#define as_int(v) AS(int, v)
#define as_uint(v) AS(uint, v)
#define as_long(v) AS(long, v)
#define as_ulong(v) AS(ulong, v)
#define as_half(v) AS(half, v)
#define as_bfloat(v) AS(bfloat, v)
#define as_float(v) AS(float, v)
#define as_double(v) AS(double, v)
#define as_char2(v) AS(char2, v)
#define as_char3(v) AS(char3, v)
#define as_char4(v) AS(char4, v)
#define as_char8(v) AS(char8, v)
#define as_uchar2(v) AS(uchar2, v)
#define as_uchar3(v) AS(uchar3, v)
#define as_uchar4(v) AS(uchar4, v)
#define as_uchar8(v) AS(uchar8, v)
#define as_short2(v) AS(short2, v)
#define as_short3(v) AS(short3, v)
#define as_short4(v) AS(short4, v)
#define as_short8(v) AS(short8, v)
#define as_ushort2(v) AS(ushort2, v)
#define as_ushort3(v) AS(ushort3, v)
#define as_ushort4(v) AS(ushort4, v)
#define as_ushort8(v) AS(ushort8, v)
#define as_int2(v) AS(int2, v)
#define as_int3(v) AS(int3, v)
#define as_int4(v) AS(int4, v)
#define as_int8(v) AS(int8, v)
#define as_uint2(v) AS(uint2, v)
#define as_uint3(v) AS(uint3, v)
#define as_uint4(v) AS(uint4, v)
#define as_uint8(v) AS(uint8, v)
#define as_half2(v) AS(half2, v)
#define as_half3(v) AS(half3, v)
#define as_half4(v) AS(half4, v)
#define as_half8(v) AS(half8, v)
#define as_float2(v) AS(float2, v)
#define as_float3(v) AS(float3, v)
#define as_float4(v) AS(float4, v)
#define as_float8(v) AS(float8, v)

static inline double real_(double v) { return v; }

/* Real numbers are rounded toward zero; values outside of the type become the nearest of it, NaN becomes 0. */
#define CONVERSIONS(T, low, high) \
    static inline T from_real_##T(double v) { return v != v ? 0 : v <= (double)(low) ? (T)(low) : v >= (double)(high) ? (T)(high) : (T)v; } \
    static inline T from_int_##T(__int128 v) { return v < (__int128)(low) ? (T)(low) : v > (__int128)(high) ? (T)(high) : (T)v; }
CONVERSIONS(char, INT8_MIN, INT8_MAX) CONVERSIONS(uchar, 0, UINT8_MAX)
CONVERSIONS(short, INT16_MIN, INT16_MAX) CONVERSIONS(ushort, 0, UINT16_MAX)
CONVERSIONS(int, INT32_MIN, INT32_MAX) CONVERSIONS(uint, 0, UINT32_MAX)
CONVERSIONS(long, INT64_MIN, INT64_MAX) CONVERSIONS(ulong, 0, UINT64_MAX)
#define CONVERT(T, v) _Generic((v), float: from_real_##T, double: from_real_##T, half: from_real_##T, default: from_int_##T)(v)
#define convert_char(v) CONVERT(char, v)
#define convert_uchar(v) CONVERT(uchar, v)
#define convert_short(v) CONVERT(short, v)
#define convert_ushort(v) CONVERT(ushort, v)
#define convert_int(v) CONVERT(int, v)
#define convert_uint(v) CONVERT(uint, v)
#define convert_long(v) CONVERT(long, v)
#define convert_ulong(v) CONVERT(ulong, v)
#define convert_char_sat(v) CONVERT(char, v)
#define convert_uchar_sat(v) CONVERT(uchar, v)
#define convert_short_sat(v) CONVERT(short, v)
#define convert_ushort_sat(v) CONVERT(ushort, v)
#define convert_int_sat(v) CONVERT(int, v)
#define convert_uint_sat(v) CONVERT(uint, v)
#define convert_long_sat(v) CONVERT(long, v)
#define convert_ulong_sat(v) CONVERT(ulong, v)
#define clamp01(v) ({ __typeof__(v) v_ = (v); v_ < 0 ? 0 : v_ > 1 ? 1 : v_; })
static inline float bf_to_float(bfloat v) { return as_float((uint)v << 16); }
static inline bfloat float_to_bf(float v) {
    uint bits = as_uint(v);
    return v != v ? 0x7fc0 : (v - v != 0) ? bits >> 16 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* ---- integers */

#undef min
#undef max
#define min(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#undef abs
#define abs(v) ({ __typeof__(v) v_ = (v); v_ < 0 ? -v_ : v_; })
static inline uint carry(uint a, uint b) { return (ulong)a + b >> 32; }
static inline uint borrow(uint a, uint b) { return a < b; }
#define quotient(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); b_ == 0 ? (__typeof__(a_))-1 : b_ == (__typeof__(b_))-1 && (__typeof__(b_))-1 < 0 ? -a_ : a_ / b_; })
#define remainder(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); b_ == 0 ? (__typeof__(a_))-1 : b_ == (__typeof__(b_))-1 && (__typeof__(b_))-1 < 0 ? 0 : a_ % b_; })
static inline int divide_up(int a, int b) { return (a >= 1 - b ? a + (b - 1) : a + 2 * (b - 1)) >> __builtin_ctz(b); } /* (a + b - 1) / b */
#define mul_hi(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); (__typeof__(a_))(((__typeof__(a_))-1 < 0 ? (__int128)a_ * b_ : (__int128)((unsigned __int128)a_ * b_ >> 1) << 1) >> 8 * sizeof a_); })
#define mul_hi_16(a, b) ((int)((a) * (b)) >> 16)
#define rhadd(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); (__typeof__(a_))(((__int128)a_ + b_ + 1) >> 1); })
static inline int clz(uint v) { return v ? __builtin_clz(v) : 32; }
static inline int clz_64(ulong v) { return v ? __builtin_clzl(v) : 64; }
static inline int popcount(uint v) { return __builtin_popcount(v); }
static inline int popcount_16(int v) { return __builtin_popcount((ushort)v); }
static inline int popcount_64(ulong v) { return __builtin_popcountl(v); }
static inline uint bit_reverse(uint v) {
    uint r = 0;
    for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i);
    return r;
}
static inline uint rotate_left(uint v, uint n) { return n & 31 ? v << (n & 31) | v >> (32 - (n & 31)) : v; }
static inline uint rotate_right(uint v, uint n) { return rotate_left(v, -n); }
static inline ulong rotate_left_64(ulong v, ulong n) { return n & 63 ? v << (n & 63) | v >> (64 - (n & 63)) : v; }
static inline ulong rotate_right_64(ulong v, ulong n) { return rotate_left_64(v, -n); }
static inline ushort rotate_left_16(ushort v, uint n) { return v << (n & 15) | v >> (16 - (n & 15)); }
static inline ushort rotate_right_16(ushort v, uint n) { return rotate_left_16(v, -n); }
static inline uint find_low(uint v) { return v ? (uint)__builtin_ctz(v) : ~0u; }
static inline uint find_low_64(ulong v) { return v ? (uint)__builtin_ctzl(v) : ~0u; }
static inline uint find_low_16(int v) { return find_low((ushort)v); }
static inline uint find_high_of(ulong v, int bits) { return v ? (uint)(bits - 64 + __builtin_clzl(v)) : ~0u; }
#define find_high(v) ({ __typeof__(v) v_ = (v); find_high_of((uint)(v_ < 0 ? ~v_ : v_), 32); })
#define find_high_64(v) ({ __typeof__(v) v_ = (v); find_high_of((ulong)(v_ < 0 ? ~v_ : v_), 64); })
#define find_high_16(v) ({ int v_ = (v); find_high_of((ushort)(v_ < 0 ? ~v_ : v_), 16); })
static inline int bit_field_int(uint width, uint offset, int v) {
    width &= 31, offset &= 31;
    if (width + offset >= 32) return v >> offset;
    return width ? (int)((uint)v << (32 - width - offset)) >> (32 - width) : 0;
}
static inline uint bit_field_uint(uint width, uint offset, uint v) {
    return v >> (offset & 31) & ((1u << (width & 31)) - 1);
}
#define bit_field(width, offset, v) _Generic((v), uint: bit_field_uint, default: bit_field_int)(width, offset, v)
static inline uint insert_bits(uint width, uint offset, uint v, uint base) {
    uint field = ((1u << (width & 31)) - 1) << (offset & 31);
    return (v << (offset & 31) & field) | (base & ~field);
}
/* The sum of the products of four bytes; the types of the dwords give the signs of their bytes. */
static inline int byte_(uint v, int i, bool is_signed) { return is_signed ? (signed char)(v >> 8 * i) : (int)(uchar)(v >> 8 * i); }
static inline int dot4_(uint c, uint a, uint b, bool sa, bool sb) {
    for (int i = 0; i < 4; i++) c += byte_(a, i, sa) * byte_(b, i, sb);
    return c;
}
#define dp4a(c, a, b) dot4_(c, a, b, (__typeof__(a))-1 < 0, (__typeof__(b))-1 < 0)

/* ---- real numbers */

#define REAL1(name, expression) \
    static inline double name##_double(double x) { typedef double T; return (expression); } \
    static inline float name##_float(float x) { typedef float T; return (T)(expression); } \
    static inline half name##_half(half x) { typedef half T; return (T)(expression); }
#define PICK(name, x) _Generic((x), half: name##_half, float: name##_float, default: name##_double)
REAL1(floor_, floor((double)x)) REAL1(ceil_, ceil((double)x)) REAL1(rint_, rint((double)x)) REAL1(trunc_, trunc((double)x))
REAL1(fract_, (T)(x - (T)floor((double)x))) REAL1(recip_, (T)1 / x) REAL1(fabs_, fabs((double)x))
REAL1(sqrt_, sqrt((double)x)) REAL1(rsqrt_, 1.0 / sqrt((double)x)) REAL1(exp2_, exp2((double)x)) REAL1(log2_, log2((double)x))
REAL1(sin_, sin((double)x)) REAL1(cos_, cos((double)x)) REAL1(asin_, asin((double)x)) REAL1(acos_, acos((double)x))
REAL1(atan_, atan((double)x)) REAL1(tanh_, tanh((double)x)) REAL1(sigm_, 1.0 / (1.0 + exp(-(double)x)))
REAL1(saturate_, x >= 0 ? x > 1 ? (T)1 : x : (T)0)
#define floor(x) PICK(floor_, x)(x)
#define ceil(x) PICK(ceil_, x)(x)
#define rint(x) PICK(rint_, x)(x)
#define trunc(x) PICK(trunc_, x)(x)
#define fract(x) PICK(fract_, x)(x)
#define recip(x) PICK(recip_, x)(x)
#define fabs(x) PICK(fabs_, x)(x)
#define sqrt(x) PICK(sqrt_, x)(x)
#define rsqrt(x) PICK(rsqrt_, x)(x)
#define exp2(x) PICK(exp2_, x)(x)
#define log2(x) PICK(log2_, x)(x)
#define sin(x) PICK(sin_, x)(x)
#define cos(x) PICK(cos_, x)(x)
#define asin(x) PICK(asin_, x)(x)
#define acos(x) PICK(acos_, x)(x)
#define atan(x) PICK(atan_, x)(x)
#define tanh(x) PICK(tanh_, x)(x)
#define sigm(x) PICK(sigm_, x)(x)
#define saturate(x) PICK(saturate_, x)(x)
static inline double pow_double(double a, double b) { return pow(fabs(a), b); }
static inline float pow_float(float a, float b) { return (float)pow_double(a, b); }
static inline half pow_half(half a, half b) { return (half)pow_double(a, b); }
#define pow(a, b) PICK(pow, (a) + (b))(a, b)
/* A NaN loses against a number; of zeros with different signs the second is taken. */
#define fmin(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ < b_ || b_ != b_ ? a_ : b_; })
#define fmax(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ > b_ || b_ != b_ ? a_ : b_; })
#define fmod(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); (__typeof__(a_))(fmod)((double)a_, (double)b_); })
#define divide(a, b) ((a) / (b))
/* A denormal number becomes the zero of its sign. */
static inline float flush_denormal(float a) { return as_float(as_uint(a) & 0x7f800000 ? as_uint(a) : as_uint(a) & 0x80000000); }
/* The quotient of a divisor that is scaled, so that its reciprocal is no denormal number. */
static inline float scaled_divide(float a, float b) {
    uint exponent = as_uint(b) & 0x7f800000;
    float scale = exponent >= 0x64000000 ? 0x1p-32f : exponent == 0 ? 0x1p32f : 1.0f;
    return recip(b * scale) * a * scale;
}
/* a / b as OpenCL C compiles it for floats, which need not be rounded right. */
static inline float approx_divide(float a, float b) {
    uint bits = as_uint(b);
    return a == b && (bits & 0x7f800000) != 0 && (bits & 0x7fffff) != 0 ? 1.0f : scaled_divide(a, b);
}
#define average(a, b) (((a) + (b)) / 2)
/* a * b + c, rounded once */
static inline double fma_double(double a, double b, double c) { return (fma)(a, b, c); }
static inline float fma_float(float a, float b, float c) { return (fmaf)(a, b, c); }
static inline half fma_half(half a, half b, half c) {
    double p = (double)a * b, s = p + c, back = s - p, error = (p - (s - back)) + (c - back);
    if (error != 0 && s - s == 0 && !(as_long(s) & 1)) s = as_double(as_long(s) + ((error > 0) == (s > 0) ? 1 : -1));
    return (half)s;
}
#define fma(a, b, c) PICK(fma, (a) + (b) + (c))(a, b, c)
/* The exponential in the steps of Intel's compiler. */
#define exp(x) exp_float(x)
static inline float exp_in_range(float x) {
    float n = trunc(x * 1.442695f);
    return exp2(n) * exp2(fma(n, -1.4286068e-06f, fma(n, -0.69314575f, x)) * 1.442695f);
}
static inline float exp_float(float x) { return x > 105.0f ? INFINITY : x < -105.0f ? 0.0f : exp_in_range(x); }
#define lrp(a, b, c) ({ double a_ = (a), b_ = (b), c_ = (c); (__typeof__((a) + (b) + (c)))(a_ * b_ + (1.0 - a_) * c_); })

/* The rounding mode is in bits 4 and 5. */
static _Thread_local uint cr0;
static inline void set_cr0(uint value) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[(cr0 = value) >> 4 & 3]);
}

/* ---- atomics: each returns the old value */

#define ATOMIC(p, change) ({ __typeof__(p) p_ = (p); sync_lanes(); __typeof__(*p_) old_ = *p_; change; old_; })
#define atomic_add(p, v) ATOMIC(p, *p_ = old_ + (v))
#define atomic_sub(p, v) ATOMIC(p, *p_ = old_ - (v))
#define atomic_inc(p) ATOMIC(p, *p_ = old_ + 1)
#define atomic_dec(p) ATOMIC(p, *p_ = old_ - 1)
#define atomic_min(p, v) ATOMIC(p, *p_ = (__typeof__(old_))(v) < old_ ? (__typeof__(old_))(v) : old_)
#define atomic_max(p, v) ATOMIC(p, *p_ = (__typeof__(old_))(v) > old_ ? (__typeof__(old_))(v) : old_)
#define atomic_and(p, v) ATOMIC(p, *p_ = old_ & (v))
#define atomic_or(p, v) ATOMIC(p, *p_ = old_ | (v))
#define atomic_xor(p, v) ATOMIC(p, *p_ = old_ ^ (v))
#define atomic_xchg(p, v) ATOMIC(p, *p_ = (v))
#define atomic_load(p) ATOMIC(p, (void)0)
#define atomic_cmpxchg(p, expected, v) ATOMIC(p, if (old_ == (__typeof__(old_))(expected)) *p_ = (v))

/* ---- */
