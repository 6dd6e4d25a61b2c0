typedef struct {
    char c;
    int i;
    short s;
    long l;
    float f;
}  A;
typedef union {
    uint u;
    uchar b[4];
    ushort h[2];
    float f;
}  U;
typedef struct __attribute__((packed)) {
    uchar t;
    uint v;
    ushort w;
}  Pk;

//! sa 2x16 u8:1024 i64:32
kernel void sa(global A *a, global long *o) {
    int i = get_global_id(0);
    A x = a[i];
    o[i] = x.c + x.i * 3L + x.s - (x.l >> 3);
    a[i].s = x.c;
    a[i].i = x.s;
}

//! sun 2x16 u32:32 u32:32
kernel void sun(global const uint *a, global uint *o) {
    int i = get_global_id(0);
    U u;
    u.u = a[i];
    U v;
    v.b[0] = u.b[3];
    v.b[1] = u.b[2];
    v.h[1] = u.h[0];
    o[i] = v.u;
}

//! spk 2x16 u8:256 u32:32
kernel void spk(global Pk *a, global uint *o) {
    int i = get_global_id(0);
    Pk p = a[i];
    o[i] = p.v + p.t * p.w;
    p.v ^= 0x5a5a5a5a;
    a[i] = p;
}
typedef struct {
    int4 q;
    float m[3][3];
}  B;

//! sm 1x16 f32:336:-3:3 f32:48:-1:1 f32:48:-1:1
kernel void sm(global const B *a, global const float *x, global float *o) {
    int i = get_global_id(0);
    for (int r = 0; r < 3; r++) {
        float s = 0;
        for (int c = 0; c < 3; c++) s = fma(a[i].m[r][c], x[i*3+c], s);
        o[i*3+r] = s;
    }
}
typedef struct {
    int a, b;
    float f;
    long z;
}  V;
