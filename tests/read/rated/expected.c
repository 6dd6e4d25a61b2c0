kernel void hist(global uchar *px, global uint *h, uint n) {  // 32 lanes
    local int *slm_int = (local int *)slm;  // 256 elements
    int lid = local_id(0);
    for (uint k = lid; k < 256; k += local_size(0)) {
        slm_int[k] = 0;
    }
    work_group_barrier();
    for (uint i = global_id(0); i < n; i += global_size(0)) {
        atomic_inc(&slm_int[px[i]]);
    }
    work_group_barrier();
    for (uint k = lid; k < 256; k += local_size(0)) {
        atomic_add(&h[k], slm_int[k]);
    }
}
kernel void copy(global int *a, global int *o) {  // 32 lanes
    for (int k = 0; k < 5; k++) {
        o[k] = a[k];
    }
}
kernel void gcd(global uint *a, global uint *b, global uint *o, uint n) {  // 32 lanes
    uint gid = global_id(0);
    if (gid < n) {
        long index = gid;
        uint a_index = a[index];
        uint b_index = b[index];
        if ((int)b_index != 0) {
            uint t = a_index;
            do {
                int difference = t % b_index - ((t % b_index < b_index) ? 0 : b_index);
                a_index = b_index;
                t = b_index;
                b_index = difference;
            } while (b_index != 0);
        }
        o[index] = a_index;
    }
}
kernel void gemm(global float *a, global float *b, global float *c, int n) {  // 32 lanes
    local float *slm_float = (local float *)slm;  // 128 elements
    int lx = local_id(0);
    int x = global_id(0);
    int ly = local_id(1);
    int y = global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        slm_float[ly * 8 + lx] = a[y * n + k + lx];
        slm_float[ly * 8 + 64 + lx] = b[(k + ly) * n + x];
        work_group_barrier();
        for (int j = 0; j < 8; j++) {
            sum = fma(slm_float[lx + j * 8 + 64], slm_float[ly * 8 + j], sum);
        }
        work_group_barrier();
    }
    c[y * n + x] = sum;
}
kernel void lcg(global ulong *s, global uint *o, int n) {  // 32 lanes
    uint gid = global_id(0);
    int2 s_gid = ((int2 *)s)[gid];
    uint t = s_gid.x;
    uint t2 = s_gid.y;
    for (int k = 0; k < n; k++) {
        uint product = t * 0x4c957f2d;
        uint t3 = ((ulong)((long)t * 0x4c957f2d) >> 32) + t * 0x5851f42d + 0x4c957f2d * t2;
        t = product - 0x8987eb1;
        t2 = carry(product, (uint)-0x8987eb1) + (t3 + 0x14057b7e);
    }
    ((int2 *)s)[gid] = (int2){t, t2};
    o[gid] = t2 >> 1;
}
kernel void primes(global int *o, int n) {  // 16 lanes
    int gid = global_id(0);
    if (gid < n) {
        int count = 0;
        for (uint k = 2; (int)k < gid; k++) {
            if ((k & 1) != 0 || k <= 2) {
                bool holds = true;
                for (uint j = 2; j * j <= k; j++) {
                    if (remainder(k, j) == 0) {
                        holds = false;
                        break;
                    }
                }
                count += holds;
                if (count >= 101) break;
            }
        }
        o[gid] = count;
    }
}
kernel void priv(global int *a, global int *o) {  // 32 lanes
    int gid = global_id(0);
    int a_value = a[gid * 16];
    int a_value2 = a[gid * 16 + 1];
    int a_value3 = a[gid * 16 + 2];
    int a_value4 = a[gid * 16 + 3];
    int a_value5 = a[gid * 16 + 4];
    int a_value6 = a[gid * 16 + 5];
    int a_value7 = a[gid * 16 + 6];
    int a_value8 = a[gid * 16 + 7];
    int a_value9 = a[gid * 16 + 8];
    int a_value10 = a[gid * 16 + 9];
    int a_value11 = a[gid * 16 + 10];
    int a_value12 = a[gid * 16 + 11];
    int a_value13 = a[gid * 16 + 12];
    int a_value14 = a[gid * 16 + 13];
    int a_value15 = a[gid * 16 + 14];
    int a_value16 = a[gid * 16 + 15];
    int larger = max(a_value, a_value2);
    int smaller = min(a_value2, a_value);
    int larger2 = max(larger, a_value3);
    int smaller2 = min(a_value3, larger);
    int larger3 = max(larger2, a_value4);
    int smaller3 = min(a_value4, larger2);
    int larger4 = max(larger3, a_value5);
    int smaller4 = min(a_value5, larger3);
    int larger5 = max(larger4, a_value6);
    int smaller5 = min(a_value6, larger4);
    int larger6 = max(larger5, a_value7);
    int smaller6 = min(a_value7, larger5);
    int larger7 = max(larger6, a_value8);
    int smaller7 = min(a_value8, larger6);
    int larger8 = max(larger7, a_value9);
    int smaller8 = min(a_value9, larger7);
    int larger9 = max(larger8, a_value10);
    int smaller9 = min(a_value10, larger8);
    int larger10 = max(larger9, a_value11);
    int smaller10 = min(a_value11, larger9);
    int larger11 = max(larger10, a_value12);
    int smaller11 = min(a_value12, larger10);
    int larger12 = max(larger11, a_value13);
    int smaller12 = min(a_value13, larger11);
    int larger13 = max(larger12, a_value14);
    int smaller13 = min(a_value14, larger12);
    int larger14 = max(larger13, a_value15);
    int smaller14 = min(a_value15, larger13);
    int smaller15 = min(a_value16, larger14);
    int larger15 = max(smaller, smaller2);
    int smaller16 = min(smaller2, smaller);
    int larger16 = max(larger15, smaller3);
    int smaller17 = min(smaller3, larger15);
    int larger17 = max(larger16, smaller4);
    int smaller18 = min(smaller4, larger16);
    int larger18 = max(larger17, smaller5);
    int smaller19 = min(smaller5, larger17);
    int larger19 = max(larger18, smaller6);
    int smaller20 = min(smaller6, larger18);
    int larger20 = max(larger19, smaller7);
    int smaller21 = min(smaller7, larger19);
    int larger21 = max(larger20, smaller8);
    int smaller22 = min(smaller8, larger20);
    int larger22 = max(larger21, smaller9);
    int smaller23 = min(smaller9, larger21);
    int larger23 = max(larger22, smaller10);
    int smaller24 = min(smaller10, larger22);
    int larger24 = max(larger23, smaller11);
    int smaller25 = min(smaller11, larger23);
    int larger25 = max(larger24, smaller12);
    int smaller26 = min(smaller12, larger24);
    int larger26 = max(larger25, smaller13);
    int smaller27 = min(smaller13, larger25);
    int larger27 = max(larger26, smaller14);
    int smaller28 = min(smaller14, larger26);
    int smaller29 = min(smaller15, larger27);
    int larger28 = max(smaller16, smaller17);
    int smaller30 = min(smaller17, smaller16);
    int larger29 = max(larger28, smaller18);
    int smaller31 = min(smaller18, larger28);
    int larger30 = max(larger29, smaller19);
    int smaller32 = min(smaller19, larger29);
    int larger31 = max(larger30, smaller20);
    int smaller33 = min(smaller20, larger30);
    int larger32 = max(larger31, smaller21);
    int smaller34 = min(smaller21, larger31);
    int larger33 = max(larger32, smaller22);
    int smaller35 = min(smaller22, larger32);
    int larger34 = max(larger33, smaller23);
    int smaller36 = min(smaller23, larger33);
    int larger35 = max(larger34, smaller24);
    int smaller37 = min(smaller24, larger34);
    int larger36 = max(larger35, smaller25);
    int smaller38 = min(smaller25, larger35);
    int larger37 = max(larger36, smaller26);
    int smaller39 = min(smaller26, larger36);
    int larger38 = max(larger37, smaller27);
    int smaller40 = min(smaller27, larger37);
    int larger39 = max(larger38, smaller28);
    int smaller41 = min(smaller28, larger38);
    int smaller42 = min(smaller29, larger39);
    int larger40 = max(smaller30, smaller31);
    int smaller43 = min(smaller31, smaller30);
    int larger41 = max(larger40, smaller32);
    int smaller44 = min(smaller32, larger40);
    int larger42 = max(larger41, smaller33);
    int smaller45 = min(smaller33, larger41);
    int larger43 = max(larger42, smaller34);
    int smaller46 = min(smaller34, larger42);
    int larger44 = max(larger43, smaller35);
    int smaller47 = min(smaller35, larger43);
    int larger45 = max(larger44, smaller36);
    int smaller48 = min(smaller36, larger44);
    int larger46 = max(larger45, smaller37);
    int smaller49 = min(smaller37, larger45);
    int larger47 = max(larger46, smaller38);
    int smaller50 = min(smaller38, larger46);
    int larger48 = max(larger47, smaller39);
    int smaller51 = min(smaller39, larger47);
    int larger49 = max(larger48, smaller40);
    int smaller52 = min(smaller40, larger48);
    int larger50 = max(larger49, smaller41);
    int smaller53 = min(smaller41, larger49);
    int smaller54 = min(smaller42, larger50);
    int larger51 = max(smaller43, smaller44);
    int smaller55 = min(smaller44, smaller43);
    int larger52 = max(larger51, smaller45);
    int smaller56 = min(smaller45, larger51);
    int larger53 = max(larger52, smaller46);
    int smaller57 = min(smaller46, larger52);
    int larger54 = max(larger53, smaller47);
    int smaller58 = min(smaller47, larger53);
    int larger55 = max(larger54, smaller48);
    int smaller59 = min(smaller48, larger54);
    int larger56 = max(larger55, smaller49);
    int smaller60 = min(smaller49, larger55);
    int larger57 = max(larger56, smaller50);
    int smaller61 = min(smaller50, larger56);
    int larger58 = max(larger57, smaller51);
    int smaller62 = min(smaller51, larger57);
    int larger59 = max(larger58, smaller52);
    int smaller63 = min(smaller52, larger58);
    int larger60 = max(larger59, smaller53);
    int smaller64 = min(smaller53, larger59);
    int smaller65 = min(smaller54, larger60);
    int larger61 = max(smaller55, smaller56);
    int smaller66 = min(smaller56, smaller55);
    int larger62 = max(larger61, smaller57);
    int smaller67 = min(smaller57, larger61);
    int larger63 = max(larger62, smaller58);
    int smaller68 = min(smaller58, larger62);
    int larger64 = max(larger63, smaller59);
    int smaller69 = min(smaller59, larger63);
    int larger65 = max(larger64, smaller60);
    int smaller70 = min(smaller60, larger64);
    int larger66 = max(larger65, smaller61);
    int smaller71 = min(smaller61, larger65);
    int larger67 = max(larger66, smaller62);
    int smaller72 = min(smaller62, larger66);
    int larger68 = max(larger67, smaller63);
    int smaller73 = min(smaller63, larger67);
    int larger69 = max(larger68, smaller64);
    int smaller74 = min(smaller64, larger68);
    int smaller75 = min(smaller65, larger69);
    int larger70 = max(smaller66, smaller67);
    int smaller76 = min(smaller67, smaller66);
    int larger71 = max(larger70, smaller68);
    int smaller77 = min(smaller68, larger70);
    int larger72 = max(larger71, smaller69);
    int smaller78 = min(smaller69, larger71);
    int larger73 = max(larger72, smaller70);
    int smaller79 = min(smaller70, larger72);
    int larger74 = max(larger73, smaller71);
    int smaller80 = min(smaller71, larger73);
    int larger75 = max(larger74, smaller72);
    int smaller81 = min(smaller72, larger74);
    int larger76 = max(larger75, smaller73);
    int smaller82 = min(smaller73, larger75);
    int larger77 = max(larger76, smaller74);
    int smaller83 = min(smaller74, larger76);
    int smaller84 = min(smaller75, larger77);
    int larger78 = max(smaller76, smaller77);
    int smaller85 = min(smaller77, smaller76);
    int larger79 = max(larger78, smaller78);
    int smaller86 = min(smaller78, larger78);
    int larger80 = max(larger79, smaller79);
    int smaller87 = min(smaller79, larger79);
    int larger81 = max(larger80, smaller80);
    int smaller88 = min(smaller80, larger80);
    int larger82 = max(larger81, smaller81);
    int smaller89 = min(smaller81, larger81);
    int larger83 = max(larger82, smaller82);
    int smaller90 = min(smaller82, larger82);
    int larger84 = max(larger83, smaller83);
    int smaller91 = min(smaller83, larger83);
    int smaller92 = min(smaller84, larger84);
    int larger85 = max(smaller85, smaller86);
    int smaller93 = min(smaller86, smaller85);
    int larger86 = max(larger85, smaller87);
    int smaller94 = min(smaller87, larger85);
    int larger87 = max(larger86, smaller88);
    int smaller95 = min(smaller88, larger86);
    int larger88 = max(larger87, smaller89);
    int smaller96 = min(smaller89, larger87);
    int larger89 = max(larger88, smaller90);
    int smaller97 = min(smaller90, larger88);
    int larger90 = max(larger89, smaller91);
    int smaller98 = min(smaller91, larger89);
    int smaller99 = min(smaller92, larger90);
    int larger91 = max(smaller93, smaller94);
    int smaller100 = min(smaller94, smaller93);
    int larger92 = max(larger91, smaller95);
    int smaller101 = min(smaller95, larger91);
    int larger93 = max(larger92, smaller96);
    int smaller102 = min(smaller96, larger92);
    int larger94 = max(larger93, smaller97);
    int smaller103 = min(smaller97, larger93);
    int larger95 = max(larger94, smaller98);
    int smaller104 = min(smaller98, larger94);
    int smaller105 = min(smaller99, larger95);
    int larger96 = max(smaller100, smaller101);
    int smaller106 = min(smaller101, smaller100);
    int larger97 = max(larger96, smaller102);
    int smaller107 = min(smaller102, larger96);
    int larger98 = max(larger97, smaller103);
    int smaller108 = min(smaller103, larger97);
    int larger99 = max(larger98, smaller104);
    int smaller109 = min(smaller104, larger98);
    int smaller110 = min(smaller105, larger99);
    int larger100 = max(smaller106, smaller107);
    int smaller111 = min(smaller107, smaller106);
    int larger101 = max(larger100, smaller108);
    int smaller112 = min(smaller108, larger100);
    int larger102 = max(larger101, smaller109);
    int smaller113 = min(smaller109, larger101);
    int smaller114 = min(smaller110, larger102);
    int larger103 = max(smaller111, smaller112);
    int smaller115 = min(smaller112, smaller111);
    int larger104 = max(larger103, smaller113);
    int smaller116 = min(smaller113, larger103);
    int smaller117 = min(smaller114, larger104);
    int larger105 = max(smaller115, smaller116);
    int smaller118 = min(smaller116, smaller115);
    int smaller119 = min(smaller117, larger105);
    o[gid * 16] = min(smaller119, smaller118);
    o[gid * 16 + 1] = max(smaller118, smaller119);
    o[gid * 16 + 2] = max(larger105, smaller117);
    o[gid * 16 + 3] = max(larger104, smaller114);
    o[gid * 16 + 4] = max(larger102, smaller110);
    o[gid * 16 + 5] = max(larger99, smaller105);
    o[gid * 16 + 6] = max(larger95, smaller99);
    o[gid * 16 + 7] = max(larger90, smaller92);
    o[gid * 16 + 8] = max(larger84, smaller84);
    o[gid * 16 + 9] = max(larger77, smaller75);
    o[gid * 16 + 10] = max(larger69, smaller65);
    o[gid * 16 + 11] = max(larger60, smaller54);
    o[gid * 16 + 12] = max(larger50, smaller42);
    o[gid * 16 + 13] = max(larger39, smaller29);
    o[gid * 16 + 14] = max(larger27, smaller15);
    o[gid * 16 + 15] = max(larger14, a_value16);
}
kernel void find(global char *text, uint n, constant char *pat, uint m, global uint *hits, global uint *count) {  // 16 lanes
    uint gid = global_id(0);
    if (gid + m <= n) {
        uint k;
        for (k = 0; k < m; k++) {
            if (text[gid + k] != pat[k]) break;
        }
        if (k == m) {
            uint slot = atomic_inc(count);
            hits[slot] = gid;
        }
    }
}
kernel void softmax(global float *in, global float *out, int n) {  // 32 lanes
    int gid = global_id(0);
    float largest = in[gid * n];
    for (int k = 1; k < n; k++) {
        largest = fmax(largest, in[gid * n + k]);
    }
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        sum += exp(in[gid * n + k] - largest);
    }
    for (int k = 0; k < n; k++) {
        out[gid * n + k] = scaled_divide(exp(in[gid * n + k] - largest), sum);
    }
}
struct P { float at0; float at4; float at8; int at12; };
kernel void move(global struct P *p, float dt, int n) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        struct P p_gid = p[gid];
        p[gid].at0 = fma(dt, p_gid.at4, p_gid.at0);
        p[gid].at8 = fabs(p_gid.at8);
        p[gid].at12 = p_gid.at12 + 1;
    }
}
