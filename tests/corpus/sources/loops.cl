//! nest 2x32 i32:64:0:50 i32:64
kernel void nest(global const int *a, global int *o) {
    int i = get_global_id(0);
    int n = a[i], s = 0;
    for (int x = 0; x < n; x++) {
        if ((x & 3) == 2) continue;
        for (int y = x; y < n; y += 3) {
            if (y * x > 200) break;
            if ((s ^ y) % 11 == 0) {
                s += 7;
                continue;
            }
            s += y ^ x;
        }
        if (s > 5000) {
            o[i] = -s;
            return;
        }
    }
    o[i] = s;
}

//! collatz 2x32 u32:64:1:100000 u32:64
kernel void collatz(global const uint *a, global uint *o) {
    int i = get_global_id(0);
    uint v = a[i], c = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        if (++c > 500) break;
    }
    o[i] = c;
}

//! dow 2x16 i32:32:-100:100 i32:32
kernel void dow(global const int *a, global int *o) {
    int i = get_global_id(0);
    int v = a[i], r = 0;
    do {
        r = r * 3 + (v & 7);
        if (r < 0) goto out;
        v >>= 1;
    }  while (v != 0 && v != -1);
    out:
    o[i] = r;
}

//! gcdk 2x16 u32:32:1:10000 u32:32:1:10000 u32:32
kernel void gcdk(global const uint *a, global const uint *b, global uint *o) {
    int i = get_global_id(0);
    uint x = a[i], y = b[i];
    while (y) {
        uint t = x % y;
        x = y;
        y = t;
    }
    o[i] = x;
}

//! sw 2x32 i32:64:-2:14 i32:64
kernel void sw(global const int *a, global int *o) {
    int i = get_global_id(0), r;
    switch (a[i]) {
        case 0:
        r = 5;
        break;
        case 1:
        case 2:
        r = i * 3;
        break;
        case 3:
        r = -i;
        case 4:
        r = r = i ^ 77;
        break;
        case 7:
        for (r = 0; r < i; r += 4);
        break;
        case 8:
        o[i] = 99;
        return;
        case 10:
        r = i / 3;
        break;
        case 11:
        r = i % 5;
        break;
        case 12:
        r = 12;
        break;
        default:
        r = a[i] * a[i];
    }
    o[i] = r;
}

//! interp 1x32 u8:512 i32:32
kernel void interp(global const uchar *code, global int *o) {
    int i = get_global_id(0), acc = i, pc = 0;
    for (int k = 0; k < 40; k++) {
        uchar op = code[(i * 16 + pc) & 511];
        switch (op & 7) {
            case 0:
            acc += op;
            break;
            case 1:
            acc ^= op << 3;
            break;
            case 2:
            if (acc & 1) pc += 2;
            break;
            case 3:
            acc = -acc;
            break;
            case 4:
            acc *= 3;
            break;
            case 5:
            pc = (pc + acc) & 15;
            break;
            case 6:
            acc >>= 1;
            break;
            case 7:
            if (op > 250) goto done;
        }
        pc++;
    }
    done:
    o[i] = acc;
}
