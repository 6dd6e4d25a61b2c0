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
kernel void bins(global uchar *in, global int *out, int n) {  // 32 lanes
    int gid = global_id(0);
    int values[8];
    if (n <= 0) {
        for (int k = 0; k < 8; k++) {
            values[k] = 0;
        }
    } else {
        for (int k = 0; k < 8; k++) {
            values[k] = 0;
        }
        for (int k = 0; k < n; k++) {
            uchar index = in[gid * n + k] & 7;
            values[index] = values[(char)index] + 1;
        }
    }
    bool flag = values[1] > values[0];
    int index2 = (values[2] > values[flag]) ? 2 : flag;
    int index3 = (values[3] > values[index2]) ? 3 : index2;
    int index4 = (values[4] > values[index3]) ? 4 : index3;
    int index5 = (values[5] > values[index4]) ? 5 : index4;
    int index6 = (values[6] > values[index5]) ? 6 : index5;
    out[gid] = (values[7] > values[index6]) ? 7 : index6;
}
kernel void border(global float4 *in, global float *o, int w) {  // 32 lanes
    int x = global_id(0);
    int y = global_id(1);
    float sum = (x > 0 && x <= w) ? ((float *)in)[y * w * 4 + x * 4 - 4] + 0.0f : 0.0f;
    if (x < w && x >= 0) {
        sum += ((float *)in)[y * w * 4 + x * 4];
    }
    int x_plus_1 = x + 1;
    if (x_plus_1 < w && x > -2) {
        sum += ((float *)in)[y * w * 4 + x_plus_1 * 4];
    }
    o[y * w + x] = sum;
}
struct bvh_node { float at0; float at4; float at8; uchar pad12[4]; float at16; float at20; float at24; uchar pad28[4]; uint at32; int at36; uint at40; ushort at44; uchar pad46[1]; uchar at47; };
struct tri_t { ushort at0; ushort at2; ushort at4; ushort at6; float at8; };
kernel void bvh_refit(global struct bvh_node *nodes, global struct tri_t *tris, global float *verts, global int *visits, int first_leaf, int n_leaves, global float *sah) {  // 32 lanes
    if ((int)global_id(0) < n_leaves) {
        int index = global_id(0) + first_leaf;
        ulong at32 = (int)nodes[index].at32;
        ushort at0 = tris[at32].at0;
        ushort at2 = tris[at32].at2;
        ushort at4 = tris[at32].at4;
        short at6 = tris[at32].at6;
        float at8 = tris[at32].at8;
        float verts_value = verts[at0 * 3];
        float verts_value2 = verts[at0 * 3 + 1];
        float verts_value3 = verts[at0 * 3 + 2];
        float verts_value4 = verts[at2 * 3];
        float verts_value5 = verts[at2 * 3 + 1];
        float verts_value6 = verts[at2 * 3 + 2];
        float verts_value7 = verts[at4 * 3];
        float verts_value8 = verts[at4 * 3 + 1];
        float verts_value9 = verts[at4 * 3 + 2];
        nodes[index].at0 = fmin(fmin(verts_value, verts_value4), verts_value7);
        nodes[index].at4 = fmin(fmin(verts_value2, verts_value5), verts_value8);
        nodes[index].at8 = fmin(fmin(verts_value3, verts_value6), verts_value9);
        nodes[index].at16 = fmax(fmax(verts_value, verts_value4), verts_value7);
        nodes[index].at20 = fmax(fmax(verts_value2, verts_value5), verts_value8);
        nodes[index].at24 = fmax(fmax(verts_value3, verts_value6), verts_value9);
        sah[index] = (at6 == -1) ? 0.0f : at8;
        uint at40 = nodes[index].at40;
        while ((int)at40 >= 0) {
            fence();
            int slot = atomic_inc(&visits[at40]);
            if (slot == 0) break;
            ulong at32_2 = (int)nodes[at40].at32;
            uchar at47 = nodes[at32_2].at47;
            ulong at36 = nodes[at40].at36;
            uchar at47_2 = nodes[at36].at47;
            float smaller = fmin(nodes[at32_2].at0, nodes[at36].at0);
            float smaller2 = fmin(nodes[at32_2].at4, nodes[at36].at4);
            float smaller3 = fmin(nodes[at32_2].at8, nodes[at36].at8);
            float larger = fmax(nodes[at32_2].at16, nodes[at36].at16);
            float larger2 = fmax(nodes[at32_2].at20, nodes[at36].at20);
            float larger3 = fmax(nodes[at32_2].at24, nodes[at36].at24);
            float difference = larger - smaller;
            float difference2 = larger2 - smaller2;
            float difference3 = larger3 - smaller3;
            nodes[at40].at0 = smaller;
            nodes[at40].at4 = smaller2;
            nodes[at40].at8 = smaller3;
            nodes[at40].at16 = larger;
            nodes[at40].at20 = larger2;
            nodes[at40].at24 = larger3;
            uint new_at44 = (difference > difference2) ? ((difference > difference3) ? 0 : 2) : ((difference2 > difference3) ? 1 : 2);
            nodes[at40].at44 = new_at44;
            nodes[at40].at47 = max(at47, at47_2) + 1;
            sah[at40] = fma(difference3, difference, fma(difference, difference2, difference2 * difference3)) * 2.0f;
            at40 = nodes[(int)at40].at40;
        }
    }
}
kernel void byte_choice(global short *in0, global short *in1, global uint *in2, global long *out0, global uchar *out1, ushort s0, float s1, int n) {  // 32 lanes
    int gid = global_id(0);
    int in2_gid = in2[gid];
    short2 in0_value = ((short2 *)in0)[(long)gid * 2];
    short2 in0_next = ((short2 *)in0)[(long)gid * 2 + 1];
    short t = in0_value.y + in0_next.x;
    uchar t2 = in0_next.y + in0_value.x;
    uint bits = 1 | (gid & 254);
    double negated = -(double)bits;
    double inverse = (double)recip((float)bits);
    set_cr0(cr0 ^ 48);
    double product = inverse * 2.0;
    double sum = fma(product, fma(negated, inverse, 1.000000000003638), product);
    set_cr0(cr0 ^ 48);
    bool flag = (in2_gid & 255) == convert_uint(sum);
    long s0_minus_3 = (long)s0 - 3;
    ulong t3 = s0_minus_3 + (t & 100);
    bool flag2 = (int)(t3 >> 32) > 0 || ((int)(t3 >> 32) == 0 && (uint)t3 > 0);
    bool in_range = (int)((uint)(s0_minus_3 >> 32) | ~(int)(t3 >> 32)) < 0;
    out0[gid] = in_range ? t3 : (flag2 ? 0x8000000000000000UL : 0x7fffffffffffffffUL);
    uchar chosen = flag ? t2 : (uint)((short)gid * 1000) >> 16;
    out1[gid] = ((chosen < 251) ? chosen : -5) + in2_gid + 1;
}
kernel void r166(global ulong *in0, global char *in1, global long *in2, global ulong *out0, global half *out1, uchar s0, float s1, int n) {  // 16 lanes
    int gid = global_id(0);
    int index = gid ^ 1;
    uchar in1_index = in1[index];
    char sum = in1_index;
    ulong in2_index = in2[index];
    uint n_mod_8 = n & 7;
    if (n_mod_8 != 0) {
        int t = 0;
        char t2 = 0;
        for (;;) {
            sum += t2 * 128;
            uchar mixed = sum ^ in2_index;
            uint t3 = t + 1;
            if (t3 >= n_mod_8 || mixed >= 15) break;
            t2 -= (short)rotate_left_16((short)(t * 1000), 6) & ((mixed < 15) ? -1 : 0);
            t = t3;
        }
    }
    ulong t4 = (long)sum + 15;
    uint chosen = (in2_index == 0UL) ? 1 : in2_index;
    bool flag = (int)(in2_index >> 32) == 0 && chosen < 100;
    if (!flag) {
        chosen = 100;
    }
    int t5 = ((ulong)((long)(uint)t4 * (long)chosen) >> 32) + (uint)t4 * (flag ? (int)(in2_index >> 32) : 0) + chosen * (uint)(t4 >> 32);
    out0[gid] = ((ulong)t5 << 32) | ((uint)t4 * chosen);
    int shifted = (int)(in2_index >> 32) >> 31;
    uint mixed2 = in2_index ^ shifted;
    uint acc = mixed2 - shifted;
    uint t6 = -borrow(mixed2, (uint)shifted) + (((in2_index >> 32) ^ shifted) - shifted);
    int leading_zeros = clz(t6);
    if (leading_zeros != 32) {
        int shifted2;
        if (leading_zeros == 0) {
            shifted2 = acc;
            acc = t6;
        } else {
            shifted2 = acc << (leading_zeros & 31);
            acc = (t6 << (leading_zeros & 31)) | (acc >> (-leading_zeros & 31));
        }
        if (shifted2 != 0) {
            acc |= 1;
        }
    }
    float t7 = as_float(as_int((float)acc * as_float((159 - leading_zeros) << 23)) | (shifted & (int)0x80000000));
    out1[gid] = ((half)sum - (half)0.5f) * (half)t7 + (half)t7;
}
kernel void convolve5x5_local(global float *image, constant float *filter_taps, global float *filtered, int width, int height, float bias) {  // 32 lanes
    local float (*tile)[20] = (local float (*)[20])slm;  // [20][20]
    int lx = local_id(0);
    int ly = local_id(1);
    if ((uint)ly < 20 && (uint)lx < 20) {
        int index = group_id(0) * 16 - 2;
        int difference = group_id(1) * 16 - 2;
        int width_minus_1 = width - 1;
        int height_minus_1 = height - 1;
        int index2 = min(height_minus_1, max(difference + ly, 0)) * width;
        int smaller = min(width_minus_1, max(index + lx, 0));
        tile[ly][lx] = image[index2 + smaller];
        int lx_plus_16 = lx + 16;
        if ((uint)lx < 4) {
            tile[ly][lx_plus_16] = image[index2 + min(width_minus_1, max(index + lx_plus_16, 0))];
        }
        if ((uint)ly <= 3) {
            int ly_plus_16 = ly + 16;
            int index3 = min(height_minus_1, max(difference + ly_plus_16, 0)) * width;
            tile[ly_plus_16][lx] = image[index3 + smaller];
            if ((uint)lx < 4) {
                tile[ly_plus_16][lx_plus_16] = image[index3 + min(width_minus_1, max(index + lx_plus_16, 0))];
            }
        }
    }
    work_group_barrier();
    int x = global_id(0);
    int y = global_id(1);
    if (y < height && x < width) {
        float sum = bias;
        for (int k = 0; k < 5; k++) {
            for (int j = 0; j < 5; j++) {
                sum = fma(tile[ly + k][lx + j], filter_taps[j + k * 5], sum);
            }
        }
        filtered[y * width + x] = fmax(sum, 0.0f);
    }
}
kernel void copy(global int *a, global int *o) {  // 32 lanes
    for (int k = 0; k < 5; k++) {
        o[k] = a[k];
    }
}
static float k_cos(float x);
kernel void k(global float *a, global float *b) {  // 32 lanes
    long gid = global_id(0);
    float b_gid = b[gid];
    float result = k_cos(b_gid);
    a[gid] = result;
}
static float k_cos(float x) {
    float abs_x = fabs(x);
    float t;
    if (abs_x > 10000.0f) {
        float t2;
        float t3;
        int t4;
        if (abs_x < 2.0f) {
            float rounded = trunc(fma(0.63661975f, abs_x, 0.5f));
            float sum = fma(1.5707963f, -rounded, abs_x);
            float t5 = sum + (fma(1.5707963f, -rounded, abs_x - sum) - fma(rounded, 1.5707963f, -(rounded * 1.5707963f)));
            float sum2 = fma(7.5497894e-08f, -rounded, t5);
            float t6 = sum2 + (fma(7.5497894e-08f, -rounded, t5 - sum2) - fma(rounded, 7.5497894e-08f, -(rounded * 7.5497894e-08f)));
            float sum3 = fma(5.3903025e-15f, -rounded, t6);
            t2 = sum3 + fma(5.3903025e-15f, -rounded, t6 - sum3);
            t3 = -fma(rounded, 5.3903025e-15f, -(rounded * 5.3903025e-15f));
            t4 = convert_int(rounded);
        } else {
            int shifted = as_uint(abs_x) >> 23;
            uint bits = 0x800000 | (as_int(x) & 0x7fffff);
            int high_product = mul_hi(bits, 0xfe5163abu);
            int product = bits * 0x3c439041;
            int2 value;
            { uint bit_ = carry((uint)((uint)product), (uint)((uint)high_product)); value.x = (uint)((uint)product) + (uint)((uint)high_product); value.y = bit_; }
            int t5 = mul_hi(bits, 0x3c439041) + value.y;
            int product2 = bits * 0xdb629599;
            int2 value2;
            { uint bit_ = carry((uint)((uint)t5), (uint)((uint)product2)); value2.x = (uint)((uint)t5) + (uint)((uint)product2); value2.y = bit_; }
            int t6 = mul_hi(bits, 0xdb629599u) + value2.y;
            int product3 = bits * 0xf534ddc0;
            int2 value3;
            { uint bit_ = carry((uint)((uint)t6), (uint)((uint)product3)); value3.x = (uint)((uint)t6) + (uint)((uint)product3); value3.y = bit_; }
            int t7 = mul_hi(bits, 0xf534ddc0u) + value3.y;
            int product4 = bits * 0xfc2757d1;
            int2 value4;
            { uint bit_ = carry((uint)((uint)t7), (uint)((uint)product4)); value4.x = (uint)((uint)t7) + (uint)((uint)product4); value4.y = bit_; }
            int t8 = mul_hi(bits, 0xfc2757d1u) + value4.y;
            int product5 = bits * 0x4e441529;
            int2 value5;
            { uint bit_ = carry((uint)((uint)t8), (uint)((uint)product5)); value5.x = (uint)((uint)t8) + (uint)((uint)product5); value5.y = bit_; }
            int t9 = mul_hi(bits, 0x4e441529) + value5.y;
            int product6 = bits * 0xa2f9836e;
            int2 value6;
            { uint bit_ = carry((uint)((uint)t9), (uint)((uint)product6)); value6.x = (uint)((uint)t9) + (uint)((uint)product6); value6.y = bit_; }
            uint difference = shifted - 120;
            int chosen = (difference > 31) ? value5.x : value6.x;
            int chosen2 = (difference > 31) ? value4.x : value5.x;
            int chosen3 = (difference > 31) ? value3.x : value4.x;
            int chosen4 = (difference > 31) ? value2.x : value3.x;
            int chosen5 = (difference > 31) ? value.x : value2.x;
            int chosen6 = (difference > 31) ? -32 : 0;
            uint difference2 = chosen6 + shifted - 120;
            int chosen7 = (difference2 > 31) ? chosen2 : chosen;
            int chosen8 = (difference2 > 31) ? chosen3 : chosen2;
            int chosen9 = (difference2 > 31) ? chosen4 : chosen3;
            int chosen10 = (difference2 > 31) ? chosen5 : chosen4;
            int chosen11 = (difference2 > 31) ? -32 : 0;
            bool flag = chosen11 + chosen6 + difference > 31;
            int chosen12 = flag ? chosen8 : chosen7;
            int chosen13 = flag ? chosen9 : chosen8;
            int chosen14 = flag ? chosen10 : chosen9;
            uint t10 = (flag ? -32 : 0) + chosen11 + difference2;
            int chosen15 = (t10 > 31) ? chosen12 : (flag ? chosen7 : ((difference2 > 31) ? chosen : ((difference > 31) ? value6.x : mul_hi(bits, 0xa2f9836eu) + value6.y)));
            uint chosen16 = (t10 > 31) ? chosen13 : chosen12;
            uint chosen17 = (t10 > 31) ? chosen14 : chosen13;
            uint chosen18 = (t10 > 31) ? (flag ? ((difference2 > 31) ? ((difference > 31) ? bits * -0x1ae9c55 : value.x) : chosen5) : chosen10) : chosen14;
            int low_bits = difference & 31;
            int low_bits2 = (24 - shifted) & 31;
            bool flag2 = ((t10 > 31) ? -32 : 0) == -(long)(int)t10;
            uint chosen19 = flag2 ? chosen15 : (chosen15 << low_bits) | (chosen16 >> low_bits2);
            uint chosen20 = flag2 ? chosen16 : (chosen16 << low_bits) | (chosen17 >> low_bits2);
            uint chosen21 = flag2 ? chosen17 : (chosen17 << low_bits) | (chosen18 >> low_bits2);
            int shifted2 = chosen19 >> 29;
            int low_bits3 = shifted2 & 1;
            int shifted3 = shifted2 << 31;
            uint mixed = -low_bits3 ^ ((chosen19 << 2) | (chosen20 >> 30));
            uint mixed2 = -low_bits3 ^ ((chosen20 << 2) | (chosen21 >> 30));
            int leading_zeros = clz(mixed);
            int low_bits4 = (leading_zeros + 1) & 31;
            int low_bits5 = (31 - leading_zeros) & 31;
            uint bits2 = (mixed << low_bits4) | (mixed2 >> low_bits5);
            uint bits3 = (mixed2 << low_bits4) | ((-low_bits3 ^ ((chosen21 << 2) | (chosen18 >> 30))) >> low_bits5);
            float t11 = as_float((int)(shifted3 | ((bits2 >> 9) | (0x3f000000 - (leading_zeros << 23)))));
            uint bits4 = (bits2 << 23) | (bits3 >> 9);
            int leading_zeros2 = clz(bits4);
            uint bits5 = (bits4 << ((leading_zeros2 + 1) & 31)) | (bits3 >> ((31 - leading_zeros2) & 31));
            float t12 = as_float((int)(shifted3 | ((bits5 >> 9) | (0x33800000 - ((leading_zeros + leading_zeros2 + 1) << 23)))));
            float sum = fma(t12, 1.5707963f, fma(t11, 7.5497894e-08f, fma(t11, 1.5707963f, -(t11 * 1.5707963f))));
            t2 = fma(1.5707963f, t11, sum);
            t3 = sum - fma(1.5707963f, -t11, t2);
            t4 = low_bits3 + (chosen19 >> 30);
        }
        float product7 = t2 * t2;
        float t13;
        if ((t4 & 1) != 0) {
            float product = t2 * product7;
            float sum = fma(fma(0.5f, t3, -(product * fma(fma(fma(fma(1.589691e-10f, product7, -2.505076e-08f), product7, 2.725e-06f), product7, -0.00019840087f), product7, 0.008333332f))), product7, -t3);
            t13 = -(t2 - fma(0.16666667f, product, sum));
        } else {
            uint low_bits = as_int(t2) & 0x7fffffff;
            float chosen = (low_bits > 0x3f480000) ? 0.28125f : ((low_bits - 0x3e99999a < 0xae6667) ? as_float((int)(low_bits + 0xff000000)) : 0.0f);
            float sum = fma(product7 * fma(fma(fma(fma(fma(1.1359648e-11f, -product7, 2.0875723e-09f), product7, -2.7301013e-07f), product7, 2.48006e-05f), product7, -0.0013888888f), product7, 0.041666668f), product7, -(t2 * t3));
            t13 = 1.0f - chosen - (fma(0.5f, product7, -chosen) - sum);
        }
        bool flag3 = as_uint(abs_x) > 0x7f7fffff;
        t = flag3 ? as_float(0x7fc00000u) : as_float(as_int(t13) ^ ((t4 << 30) & (int)0x80000000));
    } else {
        float sum = fma(x + 1.5707964f, 0.31830987f, 1.2582912e+07f);
        float difference = sum - 1.2582912e+07f - 0.5f;
        float sum2 = fma(difference, -5.126688e-12f, fma(difference, -1.5099067e-07f, fma(difference, -0.0009675026f, fma(difference, -3.140625f, x))));
        float product = sum2 * sum2;
        float t2 = as_float((as_int(sum) << 31) ^ as_int(sum2));
        t = fma(product * fma(fma(fma(product, 2.6057805e-06f, -0.00019809602f), product, 0.0083330665f), product, -0.1666666f), t2, t2);
    }
    return t;
}
struct real_t { double at0; };
kernel void csrmv_vector(ulong num_rows, global struct real_t *alpha, ulong off_alpha, global int *row_offset, global int *col, global struct real_t *val, global struct real_t *x, global struct real_t *beta, ulong off_beta, global struct real_t *y, global uchar *dirichlet) {  // 32 lanes
    local double *slm_double = (local double *)slm;  // 136 elements
    uint lid = local_id(0);
    ulong row = ((long)global_id(0) << 28) >> 32;
    if ((long)row < (long)num_rows) {
        int lid_mod_16 = lid & 15;
        double at0 = alpha[off_alpha].at0;
        double at0_2 = beta[off_beta].at0;
        bool flag = at0 != 0.0;
        bool flag2 = at0_2 == 0.0;
        long shifted = global_size(0) >> 4;
        do {
            if (dirichlet[row] != 0) {
                if (lid_mod_16 == 0) {
                    y[row].at0 = x[row].at0;
                }
            } else {
                int row_offset_next = row_offset[row + 1];
                double sum = 0.0;
                double result = 0.0;
                for (int k = row_offset[row] + lid_mod_16; k < row_offset_next; k += 16) {
                    uint col_k = col[k];
                    if ((int)col_k < 0) break;
                    if (at0 == 1.0) {
                        double product = val[k].at0 * x[col_k].at0;
                        double t = product + result;
                        double difference = t - product;
                        sum += product - (t - difference) + (result - difference);
                        result = t;
                    } else if (flag) {
                        double product = at0 * val[k].at0 * x[col_k].at0;
                        double t = product + result;
                        double difference = t - product;
                        sum += product - (t - difference) + (result - difference);
                        result = t;
                    }
                }
                slm_double[lid] = result;
                sub_group_barrier();
                double double_value = slm_double[lid + 8];
                double new_slm_double = result + double_value;
                sub_group_barrier();
                slm_double[lid] = new_slm_double;
                sub_group_barrier();
                double double_lid_plus4 = slm_double[lid + 4];
                double result2 = new_slm_double + double_lid_plus4;
                sub_group_barrier();
                slm_double[lid] = result2;
                sub_group_barrier();
                double double_lid_plus2 = slm_double[lid + 2];
                double result3 = result2 + double_lid_plus2;
                sub_group_barrier();
                slm_double[lid] = result3;
                sub_group_barrier();
                double double_lid_plus1 = slm_double[lid + 1];
                double result4 = result3 + double_lid_plus1;
                sub_group_barrier();
                slm_double[lid] = result4;
                if (lid_mod_16 == 0) {
                    double difference = new_slm_double - result;
                    double difference2 = result2 - new_slm_double;
                    double t = result - (new_slm_double - difference) + (double_value - difference) + 0.0 + (new_slm_double - (result2 - difference2) + (double_lid_plus4 - difference2));
                    double difference3 = result3 - result2;
                    double difference4 = result4 - result3;
                    double t2 = t + (result2 - (result3 - difference3) + (double_lid_plus2 - difference3)) + (result3 - (result4 - difference4) + (double_lid_plus1 - difference4));
                    if (flag2) {
                        y[row].at0 = result4 + sum + t2;
                    } else {
                        y[row].at0 = fma(at0_2, y[row].at0, result4 + sum) + t2;
                    }
                }
            }
            row += shifted;
        } while ((long)row < (long)num_rows);
        fence();
    }
}
kernel void dmath(global double *a, global double *b, double s, int n) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        long a_gid = ((long *)a)[gid];
        double b_gid = b[gid];
        ulong t = as_ulong(divide(fma(as_double(a_gid), b_gid, s), b_gid + 2.0));
        int2 t2 = (int2){(uint)t, (int)((uint)(t >> 32) & 0x7fffffff)};
        uint upper = a_gid >> 32;
        uint low_bits = (upper >> 20) & 2047;
        int larger = max(min((int)(1075 - low_bits), 32), 0);
        int masked = ((low_bits < 1023 || larger == 32) ? 0 : -1 << (larger & 31)) & a_gid;
        int masked2 = ((low_bits < 1023) ? 0x80000000 : -1 << max(min((int)(1043 - low_bits), 20), 0)) & upper;
        int2 t3 = (int2){masked, masked2};
        ulong difference = a_gid - (((ulong)masked2 << 32) | (uint)masked);
        bool flag = (long)a_gid >= 0 || (int)((difference >> 32) | difference) == 0;
        double difference2 = sqrt(as_double(t2)) + ((flag ? 0.0 : -1.0) + as_double(t3)) - fmin(as_double(a_gid), b_gid);
        double chosen = (difference2 > 10000000000.0) ? (double)(float)difference2 : difference2;
        a[gid] = chosen + (double)convert_long(chosen) + (double)convert_int(b_gid) + (double)(uint)n;
    }
}
static double k_exp(double x);
kernel void k(global double *a, global double *b) {  // 32 lanes
    long gid = global_id(0);
    double b_gid = b[gid];
    double result = k_exp(b_gid);
    a[gid] = result;
}
static double k_exp(double x) {
    float x_f = (float)x;
    float sum = fma(x_f, 1.442695f, 394239.0f);
    int2 const_base_value = *(int2 *)(const_base + ((as_int(sum) << 3) & 248));
    int mixed = (as_int(sum) << 15) ^ const_base_value.y;
    double difference = (double)(sum - 394239.0f);
    double sum2 = fma(difference, -0.6931471805599453, x);
    double sum3 = fma(difference, -2.3190468138462996e-17, sum2);
    double sum4 = fma(fma(fma(fma(fma(sum2, 0.008333379879877562, 0.04166691103829884), sum2, 0.16666666666342492), sum2, 0.4999999999892509), sum3, 1.0), sum3, 7.004739485526721e-17);
    double t;
    if (fabs(x_f) > 708.39624f) {
        bool flag = (int)as_uint2(x).y >= 0;
        if (((int)as_uint2(x).y & 0x7fffffff) >= 0x40879127) {
            uint low_bits = as_uint2(x).y & 0x7fffffff;
            bool flag2 = low_bits < 0x7ff00000 || (low_bits == 0x7ff00000 && as_uint2(x).x < 1);
            t = (flag2 ? (flag ? as_double(0x7ff0000000000000UL) : 0.0) : x) + 0.0;
        } else {
            int2 t2 = (int2){const_base_value.x, mixed + (flag ? -0x8000000 : 0x8000000)};
            t = (flag ? 3.402823669209385e+38 : 2.938735877055719e-39) * fma(as_double(t2), sum4, as_double(t2));
        }
    } else {
        int2 t2 = (int2){const_base_value.x, mixed};
        t = fma(as_double(t2), sum4, as_double(t2));
    }
    return t;
}
kernel void eval_expr(constant int *code, constant float *consts, global float *in, int stride, int n, global float *out) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        int index = 0;
        int index2 = 0;
        int index3;
        float result;
        float values[8];
        for (;;) {
            int t = index + 1;
            int code_index = code[index];
            int code_next = code[index + 1];
            if (code_index > 11 || code_index < 1) {
                index3 = index2;
                break;
            }
            switch (code_index) {
                case 1: {
                    t = index + 2;
                    values[index2 & 7] = consts[code_next];
                    index3 = index2 + 1;
                } break;
                case 2: {
                    t = index + 2;
                    values[index2 & 7] = in[code_next * stride + gid];
                    index3 = index2 + 1;
                } break;
                case 3: {
                    index3 = index2 - 1;
                    ushort index4 = (index2 + 6) & 7;
                    values[index4] += values[index3 & 7];
                } break;
                case 6: {
                    ushort index4 = (index2 + 6) & 7;
                    index3 = index2 - 1;
                    float values_value = values[index3 & 7];
                    if (values_value == 0.0f) {
                        result = 0.0f;
                    } else {
                        result = approx_divide(values[index4], values_value);
                    }
                    values[index4] = result;
                } break;
                case 7: case 8: {
                    index3 = index2 - 1;
                    ushort index4 = (index2 + 6) & 7;
                    float values_index4 = values[index4];
                    float values_value = values[index3 & 7];
                    if (code_index != 7) {
                        values[index4] = fmax(values_index4, values_value);
                    } else {
                        values[index4] = fmin(values_index4, values_value);
                    }
                } break;
                case 9: {
                    ushort index4 = (index2 + 7) & 7;
                    values[index4] = sqrt(fabs(values[index4]));
                    index3 = index2;
                } break;
                case 10: {
                    index3 = index2 - 2;
                    ushort index4 = (index2 + 5) & 7;
                    values[index4] = values[((values[index4] > 0.0f) ? index3 : index2 + 7) & 7];
                } break;
                case 11: {
                    values[index2 & 7] = values[(index2 + 7) & 7];
                    index3 = index2 + 1;
                } break;
                default: {
                    index3 = index2 - 1;
                    float values_value = values[index3 & 7];
                    ushort index4 = (index2 + 6) & 7;
                    float values_index4 = values[index4];
                    if ((uint)code_index >= 5) {
                        values[index4] = values_index4 * values_value;
                    } else {
                        values[index4] = values_index4 - values_value;
                    }
                } break;
            }
            index = t;
            index2 = index3;
        }
        float new_out;
        if (index3 <= 0) {
            new_out = as_float(0x7fffffffu);
        } else {
            new_out = values[(index3 + 7) & 7];
        }
        out[gid] = new_out;
    }
}
kernel void gcd(global uint *a, global uint *b, global uint *o, uint n) {  // 32 lanes
    uint gid = global_id(0);
    if (gid < n) {
        uint a_gid = a[gid];
        uint b_gid = b[gid];
        uint t = a_gid;
        while (b_gid != 0) {
            int rest = t % b_gid;
            a_gid = b_gid;
            t = b_gid;
            b_gid = rest;
        }
        o[gid] = a_gid;
    }
}
kernel void gemm(global float *a, global float *b, global float *c, int n) {  // 32 lanes
    local float *slm_float = (local float *)slm;  // 128 elements
    int lx = local_id(0);
    int ly = local_id(1);
    float sum = 0.0f;
    int y = global_id(1);
    int x = global_id(0);
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
kernel void goldbach(global int *out, int limit) {  // 32 lanes
    int gid = global_id(0);
    uint gid_times_2 = gid << 1;
    int result = 0;
    if (gid_times_2 <= 0x7ffffffb) {
        int t = gid_times_2 + 4;
        int shifted = t >> 1;
        int t2 = 0;
        uchar chosen;
        bool found;
        bool flag;
        for (int k = 2;; k++) {
            for (uint j = 2; j * j <= (uint)k; j++) {
                if ((uint)k % j == 0) {
                    chosen = 4;
                    goto L15;
                }
            }
            int t3 = gid_times_2 - k + 4;
            if (t3 < 4) {
                found = false;
            } else {
                int shifted2 = t3 >> 31;
                uint mixed = (shifted2 + t - k) ^ shifted2;
                for (uint j = 2; (int)(j * j) <= t3; j++) {
                    flag = mixed % j == 0;
                    if (flag) break;
                }
                found = flag;
            }
            int t4 = t2 + 1;
            bool holds = found;
            chosen = holds ? 4 : ((t4 < limit) ? 0 : 2);
            if (!holds) {
                t2 = t4;
                result = k;
            }
        L15:;
            if ((chosen >= 1 && chosen < 4) || k >= shifted) break;
        }
    }
    out[gid] = result;
}
kernel void gradient_prefix(global image2d_t src, global image2d_t dst, float gain) {  // 32 lanes
    int gid = global_id(0);
    int src_width = image_width(src);
    if (gid < (int)image_height(src) && src_width > 0) {
        float gid_minus_1 = (float)(gid - 1);
        float gid_f = (float)gid;
        float gid_plus_1 = (float)(gid + 1);
        float sum = 0.0f;
        for (int k = 0; k < src_width; k++) {
            float k_plus_1 = (float)(k + 1);
            float4 texel = read_imagef(src, constant_sampler(0), k_plus_1, gid_minus_1);
            float k_minus_1 = (float)(k - 1);
            float4 texel2 = read_imagef(src, constant_sampler(0), k_minus_1, gid_minus_1);
            float4 texel3 = read_imagef(src, constant_sampler(0), k_plus_1, gid_f);
            float4 texel4 = read_imagef(src, constant_sampler(0), k_minus_1, gid_f);
            float4 texel5 = read_imagef(src, constant_sampler(0), k_plus_1, gid_plus_1);
            float difference = fma(texel.x, 0.299f, fma(texel.y, 0.587f, texel.z * 0.114f)) - fma(texel2.x, 0.299f, fma(texel2.y, 0.587f, texel2.z * 0.114f));
            float difference2 = fma(texel3.x, 0.299f, fma(texel3.y, 0.587f, texel3.z * 0.114f)) - fma(texel4.x, 0.299f, fma(texel4.y, 0.587f, texel4.z * 0.114f));
            float4 texel6 = read_imagef(src, constant_sampler(0), k_minus_1, gid_plus_1);
            float k_f = (float)k;
            float4 texel7 = read_imagef(src, constant_sampler(0), k_f, gid_plus_1);
            float4 texel8 = read_imagef(src, constant_sampler(0), k_f, gid_minus_1);
            float difference3 = fma(difference2, 2.0f, difference) + fma(texel5.x, 0.299f, fma(texel5.y, 0.587f, texel5.z * 0.114f)) - fma(texel6.x, 0.299f, fma(texel6.y, 0.587f, texel6.z * 0.114f));
            float difference4 = fma(texel7.x, 0.299f, fma(texel7.y, 0.587f, texel7.z * 0.114f)) - fma(texel8.x, 0.299f, fma(texel8.y, 0.587f, texel8.z * 0.114f));
            float t = saturate(sqrt(fma(difference3, difference3, difference4 * difference4)) * gain);
            sum += t;
            write_imagef(dst, k, gid, (float4){t, sum, difference3, difference4});
        }
    }
}
kernel void knn_brute_force(global float *queries, global float *points, global int *neighbour_index, global float *neighbour_dist, int query_count, int point_count) {  // 16 lanes
    int gid = global_id(0);
    if (gid < query_count) {
        float t;
        int result;
        float t2;
        int new_neighbour_index;
        float t3;
        int result2;
        float t4;
        int result3;
        float t5;
        int result4;
        float t6;
        int result5;
        float t7;
        int result6;
        float t8;
        int result7;
        if (point_count <= 0) {
            t = 3.4028235e+38f;
            result = -1;
            t2 = 3.4028235e+38f;
            new_neighbour_index = -1;
            t3 = 3.4028235e+38f;
            result2 = -1;
            t4 = 3.4028235e+38f;
            result3 = -1;
            t5 = 3.4028235e+38f;
            result4 = -1;
            t6 = 3.4028235e+38f;
            result5 = -1;
            t7 = 3.4028235e+38f;
            result6 = -1;
            t8 = 3.4028235e+38f;
            result7 = -1;
        } else {
            float queries_value = queries[gid * 3];
            float queries_value2 = queries[gid * 3 + 1];
            float queries_value3 = queries[gid * 3 + 2];
            int values[8];
            for (int k = 0; k < 8; k++) {
                values[k] = -1;
            }
            float values2[8];
            for (int k = 0; k < 8; k++) {
                values2[k] = 3.4028235e+38f;
            }
            float t9 = 3.4028235e+38f;
            int i = 0;
            int j;
            for (;;) {
                float difference = points[i * 3] - queries_value;
                float difference2 = points[i * 3 + 1] - queries_value2;
                float difference3 = points[i * 3 + 2] - queries_value3;
                float result8 = fma(difference, difference, fma(difference2, difference2, difference3 * difference3));
                if (result8 < t9) {
                    for (j = 7; j > 0 && values2[j - 1] > result8; j--) {
                        values[j] = values[j - 1];
                        values2[j] = values2[j - 1];
                    }
                    values2[j] = result8;
                    values[j] = i;
                }
                i++;
                if (i >= point_count) break;
                t9 = values2[7];
            }
            result7 = values[0];
            t8 = values2[0];
            result6 = values[1];
            t7 = values2[1];
            result5 = values[2];
            t6 = values2[2];
            result4 = values[3];
            t5 = values2[3];
            result3 = values[4];
            t4 = values2[4];
            result2 = values[5];
            t3 = values2[5];
            new_neighbour_index = values[6];
            t2 = values2[6];
            result = values[7];
            t = values2[7];
        }
        neighbour_index[gid * 8] = result7;
        neighbour_dist[gid * 8] = sqrt(t8);
        neighbour_index[gid * 8 + 1] = result6;
        neighbour_dist[gid * 8 + 1] = sqrt(t7);
        neighbour_index[gid * 8 + 2] = result5;
        neighbour_dist[gid * 8 + 2] = sqrt(t6);
        neighbour_index[gid * 8 + 3] = result4;
        neighbour_dist[gid * 8 + 3] = sqrt(t5);
        neighbour_index[gid * 8 + 4] = result3;
        neighbour_dist[gid * 8 + 4] = sqrt(t4);
        neighbour_index[gid * 8 + 5] = result2;
        neighbour_dist[gid * 8 + 5] = sqrt(t3);
        neighbour_index[gid * 8 + 6] = new_neighbour_index;
        neighbour_dist[gid * 8 + 6] = sqrt(t2);
        neighbour_index[gid * 8 + 7] = result;
        neighbour_dist[gid * 8 + 7] = sqrt(t);
    }
}
kernel void fc_int8(global char4 *input, global char4 *weights, global int *bias, global float *scale, global char *output, int in_quads, int out_channels, int input_zero_point, int output_zero_point, int relu) {  // 32 lanes
    int x = global_id(0);
    if (x < out_channels) {
        int y = global_id(1);
        int sum = bias[x];
        for (int k = 0; k < in_quads; k++) {
            char4 input_value = input[y * in_quads + (long)k];
            char4 weights_value = weights[x * in_quads + (long)k];
            int t = (input_value.x - input_zero_point) * weights_value.x + (input_value.y - input_zero_point) * weights_value.y + (input_value.z - input_zero_point) * weights_value.z;
            sum += t + (input_value.w - input_zero_point) * weights_value.w;
        }
        int t2 = convert_int(rint(scale[x] * (float)sum)) + output_zero_point;
        char smaller = min(max((relu == 0) ? t2 : max(t2, output_zero_point), -128), 127);
        output[y * out_channels + x] = smaller;
    }
}
kernel void lcg(global ulong *state, global long *out, long bias, int rounds) {  // 32 lanes
    long gid = (int)global_id(0);
    ulong state_gid = state[gid];
    ulong result = bias;
    for (int k = 0; k < rounds; k++) {
        state_gid = state_gid * 0x5851f42d4c957f2dUL + 0x14057b7ef767814fL;
        result = abs((long)(result + ((state_gid >> 33) - ((long)state_gid >> 40))));
    }
    state[gid] = state_gid;
    out[gid] = result;
}
kernel void lcg(global ulong *s, global uint *o, int n) {  // 32 lanes
    uint gid = global_id(0);
    ulong s_gid = s[gid];
    for (int k = 0; k < n; k++) {
        s_gid = s_gid * 0x5851f42d4c957f2dUL + 0x14057b7ef767814fUL;
    }
    s[gid] = s_gid;
    o[gid] = (uint)(s_gid >> 32) >> 1;
}
kernel void luma_histogram(global uchar4 *pixels, global uint *histogram, global uint *clipped_count, global uint *clipped_list, uint pixel_count, uint clip_level, uint list_capacity) {  // 32 lanes
    local uint *local_bins = (local uint *)slm;  // [256]
    int lid = local_id(0);
    for (uint k = lid; k < 256; k += local_size(0)) {
        local_bins[k] = 0;
    }
    work_group_barrier();
    for (uint i = global_id(0); i < pixel_count; i += global_size(0)) {
        uchar4 pixels_i = pixels[i];
        uint index = (uint)(29 * pixels_i.z + (77 * pixels_i.x + pixels_i.y * 150)) >> 8;
        atomic_inc(&local_bins[index]);
        if (index >= clip_level) {
            uint slot = atomic_inc(clipped_count);
            if (slot < list_capacity) {
                clipped_list[slot] = i;
            }
        }
    }
    work_group_barrier();
    for (uint k = lid; k < 256; k += local_size(0)) {
        int local_bins_k = local_bins[k];
        if (local_bins_k != 0) {
            atomic_add(&histogram[k], local_bins_k);
        }
    }
}
kernel void machine(global uchar *code, global int *out, int steps) {  // 32 lanes
    int gid = global_id(0);
    int sum;
    int bits;
    if (steps <= 0) {
        sum = gid;
        bits = 1;
    } else {
        int steps_mod_4 = steps & 3;
        int index = 0;
        int t;
        int word;
        if (steps >= 1 && steps < 4) {
            word = 1;
            t = gid;
        } else {
            bits = 1;
            int t2 = gid;
            int position = 0;
            int mixed;
            int mixed2;
            do {
                int index2 = index + 1;
                char code_index = code[index];
                switch (code_index) {
                    case 0: sum = t2 + bits; break;
                    case 1: sum = t2 - bits; break;
                    case 2: {
                        sum = t2 * 3;
                        bits ^= sum;
                    } break;
                    case 3: {
                        sum = t2;
                        bits ^= sum;
                    } break;
                    case 4: {
                        bits <<= 1;
                        sum = t2;
                    } break;
                    case 5: {
                        if (t2 > 100) {
                            index2 = 0;
                        }
                        sum = t2;
                    } break;
                    case 6: {
                        sum = bits;
                        bits = t2;
                    } break;
                    default: sum = ~t2; break;
                }
                int index3 = index2 + 1;
                char code_index2 = code[index2];
                switch (code_index2) {
                    case 0: {
                        sum += bits;
                        mixed = bits;
                    } break;
                    case 1: {
                        sum -= bits;
                        mixed = bits;
                    } break;
                    case 2: {
                        sum *= 3;
                        mixed = bits ^ sum;
                    } break;
                    case 3: mixed = bits ^ sum; break;
                    case 4: mixed = bits << 1; break;
                    case 5: {
                        if (sum > 100) {
                            index3 = 0;
                        }
                        mixed = bits;
                    } break;
                    case 6: {
                        mixed = sum;
                        sum = bits;
                    } break;
                    default: {
                        sum = ~sum;
                        mixed = bits;
                    } break;
                }
                int index4 = index3 + 1;
                char code_index3 = code[index3];
                switch (code_index3) {
                    case 0: {
                        sum += mixed;
                        mixed2 = mixed;
                    } break;
                    case 1: {
                        sum -= mixed;
                        mixed2 = mixed;
                    } break;
                    case 2: {
                        sum *= 3;
                        mixed2 = mixed ^ sum;
                    } break;
                    case 3: mixed2 = mixed ^ sum; break;
                    case 4: mixed2 = mixed << 1; break;
                    case 5: {
                        if (sum > 100) {
                            index4 = 0;
                        }
                        mixed2 = mixed;
                    } break;
                    case 6: {
                        mixed2 = sum;
                        sum = mixed;
                    } break;
                    default: {
                        sum = ~sum;
                        mixed2 = mixed;
                    } break;
                }
                index = index4 + 1;
                char code_index4 = code[index4];
                switch (code_index4) {
                    case 0: {
                        sum += mixed2;
                        bits = mixed2;
                    } break;
                    case 1: {
                        sum -= mixed2;
                        bits = mixed2;
                    } break;
                    case 2: {
                        sum *= 3;
                        bits = mixed2 ^ sum;
                    } break;
                    case 3: bits = mixed2 ^ sum; break;
                    case 4: bits = mixed2 << 1; break;
                    case 5: {
                        if (sum > 100) {
                            index = 0;
                        }
                        bits = mixed2;
                    } break;
                    case 6: {
                        bits = sum;
                        sum = mixed2;
                    } break;
                    default: {
                        sum = ~sum;
                        bits = mixed2;
                    } break;
                }
                position += 4;
                t2 = sum;
            } while (position != (steps & -4));
            word = bits;
            t = sum;
        }
        int count = 0;
        while (count != steps_mod_4) {
            int t2 = index + 1;
            char code_index = code[index];
            switch (code_index) {
                case 0: {
                    sum = t + word;
                    index = t2;
                } break;
                case 1: {
                    sum = t - word;
                    index = t2;
                } break;
                case 2: {
                    sum = t * 3;
                    word ^= sum;
                    index = t2;
                } break;
                case 3: {
                    sum = t;
                    word ^= sum;
                    index = t2;
                } break;
                case 4: {
                    word <<= 1;
                    sum = t;
                    index = t2;
                } break;
                case 5: {
                    index = (t > 100) ? 0 : t2;
                    sum = t;
                } break;
                case 6: {
                    sum = word;
                    word = t;
                    index = t2;
                } break;
                default: {
                    sum = ~t;
                    index = t2;
                } break;
            }
            count++;
            bits = word;
            t = sum;
        }
    }
    out[gid] = sum + bits;
}
static float mandelbrot_log2(float x);
kernel void mandelbrot(global uchar4 *pixels, int width, int height, float2 centre, float scale, int max_iter) {  // 32 lanes
    int x = global_id(0);
    int y = global_id(1);
    if (x < width && y < height) {
        char t;
        char t2;
        char t3;
        if (max_iter <= 0) {
            t = 0;
            t2 = 0;
            t3 = 0;
        } else {
            float width_f = (float)width;
            float ratio = approx_divide(scale, width_f);
            float sum = fma(fma(width_f, -0.5f, (float)x), ratio, centre.x);
            float sum2 = fma(fma((float)height, -0.5f, (float)y), ratio, centre.y);
            int i = 0;
            float t4 = 0.0f;
            float acc = 0.0f;
            float sum_of_squares;
            for (;;) {
                float sum3 = fma(acc, t4, t4 * acc);
                acc = fma(acc, acc, t4 * -t4) + sum;
                t4 = sum3 + sum2;
                sum_of_squares = fma(acc, acc, t4 * t4);
                if (sum_of_squares > 16.0f) break;
                i++;
                if (i >= max_iter) {
                    t = 0;
                    t2 = 0;
                    t3 = 0;
                    goto L26;
                }
            }
            float t5 = mandelbrot_log2(sum_of_squares);
            float product = t5 * 0.5f;
            float t6 = mandelbrot_log2(product);
            float ratio2 = approx_divide((float)(i + 1) - t6, (float)max_iter);
            float difference = 1.0f - ratio2;
            float rounded = rint(difference * 9.0f * ratio2 * ratio2 * ratio2 * 255.0f);
            t = convert_uchar_sat((rounded == rounded) ? rounded : 0.0f);
            float rounded2 = rint(difference * 15.0f * difference * ratio2 * ratio2 * 255.0f);
            t2 = convert_uchar_sat((rounded2 == rounded2) ? rounded2 : 0.0f);
            float rounded3 = rint(difference * 8.5f * difference * difference * ratio2 * 255.0f);
            t3 = convert_uchar_sat((rounded3 == rounded3) ? rounded3 : 0.0f);
        }
    L26:;
        pixels[y * width + x] = (uchar4){t, t2, t3, 255};
    }
}
static float mandelbrot_log2(float x) {
    float t;
    if (x < 1.1754944e-38f || !(x <= 3.4028235e+38f)) {
        int masked = as_int(x) & 0x7f800000;
        if (masked != 0x7f800000) {
            bool flag = x != 0.0f && masked == 0;
            float chosen = flag ? x * 1.3421773e+08f : x;
            if (chosen > 0.0f) {
                float difference = chosen - 1.0f;
                if (fabs(difference) > 0.005859375f) {
                    float t2 = as_float(0x3f800000 | (as_int(chosen) & -0x7f800001));
                    float3 const_base_value = *(float3 *)(const_base + (as_int(t2 + 131073.0f) & 127) * 12);
                    float difference2 = t2 + 8192.0f - 8192.0f;
                    float difference3 = difference2 * const_base_value.x - 369.33008f;
                    float product = (t2 - difference2) * const_base_value.x;
                    float t3 = product + difference3;
                    float product2 = t3 * (t3 * (t3 * (2.1989513e-19f - t3 * 5.212061e-22f) - 9.47404e-17f) + 4.1988575e-14f);
                    float difference4 = t3 * (t3 * (t3 * (product2 - 1.9384555e-11f) + 9.545732e-09f) - 5.2882892e-06f) - 0.99609375f;
                    t = const_base_value.y + (float)(int)(((as_uint(chosen) >> 23) & 255) + (flag ? -154 : -127)) + difference3 + (difference3 * difference4 + (product + (const_base_value.z + product * difference4)));
                } else {
                    float product = difference * 369.33008f;
                    float product2 = product * (product * (product * (2.1989513e-19f - product * 5.212061e-22f) - 9.47404e-17f) + 4.1988575e-14f);
                    float difference2 = product * (product * (product * (product2 - 1.9384555e-11f) + 9.545732e-09f) - 5.2882892e-06f) - 0.99609375f;
                    t = product + product * difference2;
                }
            } else {
                t = (chosen == 0.0f) ? -INFINITY : as_float(0x7fc00000u);
            }
        } else {
            t = ((as_int(x) & -0x7f800001) == (int)0x80000000) ? as_float(0x7fc00000u) : x * x;
        }
    } else {
        int t2 = as_int(x) + 0xc0d55555;
        float difference = as_float((t2 & 0x7fffff) + 0x3f2aaaab) - 1.0f;
        float product = difference * difference;
        float sum = fma(fma(fma(fma(difference, 0.20825222f, -0.22222167f), product, fma(difference, 0.20058458f, -0.23678643f)), product, fma(difference, 0.28879568f, -0.36078957f)), product, fma(difference, 0.4808941f, -0.72134656f));
        t = fma(fma(sum, difference, 1.442695f), difference, (float)(t2 >> 23));
    }
    return t;
}
static void minmaxloc_part(local float *slm_float, uint lid, uint index);
kernel void minmaxloc(global uchar *srcptr, int src_step, int src_offset, int cols, int total, int groupnum, global uchar *dstptr, global uchar *mask, int mask_step, int mask_offset) {  // 32 lanes
    local float *slm_float = (local float *)slm;  // 1024 elements
    uint lid = local_id(0);
    int gid = global_id(0);
    float result = 3.4028235e+38f;
    float new_slm_float = -3.4028235e+38f;
    int t = 0x7fffffff;
    int t2 = 0x7fffffff;
    for (int k = gid; k < total; k += groupnum << 8) {
        int index = remainder(k, cols);
        int index2 = quotient(k, cols);
        if (mask[index2 * mask_step + index + mask_offset] != 0) {
            float srcptr_value = *(float *)((ulong)srcptr + (index2 * src_step + index * 4 + src_offset));
            if (srcptr_value < result) {
                result = srcptr_value;
                t = k;
            }
            if (srcptr_value > new_slm_float) {
                new_slm_float = srcptr_value;
                t2 = k;
            }
        }
    }
    slm_float[lid] = result;
    slm_float[lid + 256] = new_slm_float;
    slm_float[lid + 512] = as_float(t);
    slm_float[lid + 768] = as_float(t2);
    work_group_barrier();
    for (int stride = 128; stride >= 4; stride >>= 1) {
        if (lid < stride) {
            float float_value = slm_float[lid + stride];
            int float_stride_plus512 = ((int *)slm_float)[lid + stride + 512];
            float float_lid = slm_float[lid];
            if (!(!(float_value < float_lid) && !(float_value == float_lid && float_stride_plus512 < ((int *)slm_float)[lid + 512]))) {
                slm_float[lid] = float_value;
                slm_float[lid + 512] = as_float(float_stride_plus512);
            }
            float float_stride_plus256 = slm_float[lid + stride + 256];
            int float_stride_plus768 = ((int *)slm_float)[lid + stride + 768];
            float float_lid_plus256 = slm_float[lid + 256];
            if (!(!(float_stride_plus256 > float_lid_plus256) && !(float_stride_plus256 == float_lid_plus256 && float_stride_plus768 < ((int *)slm_float)[lid + 768]))) {
                slm_float[lid + 256] = float_stride_plus256;
                slm_float[lid + 768] = as_float(float_stride_plus768);
            }
        }
        work_group_barrier();
    }
    if (lid < 2) {
        minmaxloc_part(slm_float, lid, lid + 2);
    }
    work_group_barrier();
    if (lid == 0) {
        minmaxloc_part(slm_float, lid, lid + 1);
    }
    work_group_barrier();
    int group = group_id(0);
    if (lid == 0) {
        int float_768 = ((int *)slm_float)[768];
        ((float *)dstptr)[group] = slm_float[0];
        int index = (groupnum * 4 + 15) & -16;
        ((float *)dstptr)[group + index / 4] = slm_float[256];
        long t3 = (ulong)dstptr + (group * 4 + ((groupnum * 4 + index + 15) & -16));
        *(int *)t3 = ((int *)slm_float)[512];
        *(int *)(t3 + groupnum * 4) = float_768;
    }
}
static void minmaxloc_part(local float *slm_float, uint lid, uint index) {
    float float_lid = slm_float[lid];
    float float_value = slm_float[index];
    int float_lid_plus514 = ((int *)slm_float)[index + 512];
    if (!(!(float_value < float_lid) && !(float_value == float_lid && float_lid_plus514 < ((int *)slm_float)[lid + 512]))) {
        slm_float[lid] = float_value;
        slm_float[lid + 512] = as_float(float_lid_plus514);
    }
    float float_lid_plus256 = slm_float[lid + 256];
    float float_lid_plus258 = slm_float[index + 256];
    int float_lid_plus770 = ((int *)slm_float)[index + 768];
    if (!(!(float_lid_plus258 > float_lid_plus256) && !(float_lid_plus258 == float_lid_plus256 && float_lid_plus770 < ((int *)slm_float)[lid + 768]))) {
        slm_float[lid + 256] = float_lid_plus258;
        slm_float[lid + 768] = as_float(float_lid_plus770);
    }
}
kernel void murmur3_32(global uchar *data, global uint *offsets, global uint *hashes, uint count, uint seed) {  // 32 lanes
    uint gid = global_id(0);
    if (gid < count) {
        uint offsets_gid = offsets[gid];
        long position = (ulong)data + offsets_gid;
        uint difference = offsets[gid + 1] - offsets_gid;
        int hash;
        if (difference < 4) {
            hash = seed;
        } else {
            uint shifted = difference >> 2;
            hash = seed;
            for (uint k = 0; k < shifted; k++) {
                int position_value = *(int *)position;
                hash = (int)rotate_left(hash ^ ((int)rotate_left(position_value * 0xcc9e2d51, 15) * 0x1b873593), 13) * 5 + 0xe6546b64;
                position += 4;
            }
        }
        uint low_bits = difference & 3;
        int value;
        switch (low_bits) {
            case 0: break;
            case 1: value = 0; break;
            case 2: value = (uint)*(uchar *)(position + 1) << 8; break;
            default: value = ((uint)*(uchar *)(position + 2) << 16) | ((uint)*(uchar *)(position + 1) << 8); break;
        }
        if (low_bits >= 1) {
            hash ^= (int)rotate_left((int)((value ^ (uint)*(uchar *)position) * 0xcc9e2d51), 15) * 0x1b873593;
        }
        uint product = (difference ^ (((hash ^ difference) >> 16) ^ hash)) * 0x85ebca6b;
        uint product2 = ((product >> 13) ^ product) * 0xc2b2ae35;
        hashes[gid] = (product2 >> 16) ^ product2;
    }
}
kernel void primes(global int *o, int n) {  // 16 lanes
    int gid = global_id(0);
    if (gid < n) {
        int count = 0;
        for (uint k = 2; (int)k < gid; k++) {
            if ((k & 1) != 0 || k <= 2) {
                bool holds = true;
                for (uint j = 2; j * j <= k; j++) {
                    if (k % j == 0) {
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
static float3 k_normalize(float x, float y, float z);
kernel void k(global float3 *a, global float3 *b) {  // 32 lanes
    long gid = global_id(0);
    float b_value = ((float *)b)[gid * 4 + 2];
    float b_value2 = ((float *)b)[gid * 4 + 1];
    float b_value3 = ((float *)b)[gid * 4];
    float3 t = k_normalize(b_value, b_value2, b_value3);
    b_value = t.x;
    b_value2 = t.y;
    b_value3 = t.z;
    ((float *)a)[gid * 4] = b_value3;
    ((float *)a)[gid * 4 + 1] = b_value2;
    ((float *)a)[gid * 4 + 2] = b_value;
}
static float3 k_normalize(float x, float y, float z) {
    if (!(z == 0.0f && y == 0.0f && x == 0.0f)) {
        float sum_of_squares = fma(z, z, fma(y, y, x * x));
        if (sum_of_squares < 1.1754944e-38f) {
            z *= 7.7371252e+25f;
            y *= 7.7371252e+25f;
            x *= 7.7371252e+25f;
            sum_of_squares = fma(z, z, fma(y, y, x * x));
        } else {
            if (fabs(sum_of_squares) == INFINITY) {
                z *= 1.3552527e-20f;
                y *= 1.3552527e-20f;
                x *= 1.3552527e-20f;
                sum_of_squares = fma(z, z, fma(y, y, x * x));
                if (sum_of_squares == INFINITY) {
                    bool flag = fabs(z) == INFINITY;
                    bool flag2 = fabs(y) == INFINITY;
                    bool flag3 = fabs(x) == INFINITY;
                    z = as_float((as_int(z) & (int)0x80000000) | (flag ? 0x3f800000 : 0));
                    y = as_float((as_int(y) & (int)0x80000000) | (flag2 ? 0x3f800000 : 0));
                    x = as_float((as_int(x) & (int)0x80000000) | (flag3 ? 0x3f800000 : 0));
                    sum_of_squares = fma(z, z, fma(y, y, x * x));
                }
            }
        }
        float inverse = rsqrt(sum_of_squares);
        z *= inverse;
        y *= inverse;
        x *= inverse;
    }
    return (float3){x, y, z};
}
struct Particle { float3 pos; uchar pad12[4]; float3 vel; uchar pad28[4]; float mass; float life; uint flags; uint seed; };
kernel void update_particles(global struct Particle *particles, uint count, float3 gravity, float3 emitter, float drag, float dt) {  // 32 lanes
    uint gid = global_id(0);
    if (gid < count) {
        uint flags = particles[gid].flags;
        if ((flags & 2) == 0) {
            uint seed = particles[gid].seed;
            float new_life = particles[gid].life - dt;
            float new_vel_x;
            float new_vel_y;
            float new_vel_z;
            float new_pos_x;
            float new_pos_y;
            float new_pos_z;
            if (new_life <= 0.0f) {
                seed = seed * 1664525 + 0x3c6ef35f;
                new_vel_y = fma((float)(seed >> 8), 5.9604645e-08f, 1.0f);
                flags &= -2;
                new_life = 5.0f;
                new_vel_x = 0.0f;
                new_vel_z = 0.0f;
                new_pos_x = emitter.x;
                new_pos_y = emitter.y;
                new_pos_z = emitter.z;
            } else {
                float vel_x = particles[gid].vel.x;
                float vel_y = particles[gid].vel.y;
                float vel_z = particles[gid].vel.z;
                float ratio = approx_divide(drag, particles[gid].mass);
                new_vel_x = fma(fma(-vel_x, ratio, gravity.x), dt, vel_x);
                new_vel_y = fma(fma(-vel_y, ratio, gravity.y), dt, vel_y);
                new_vel_z = fma(fma(-vel_z, ratio, gravity.z), dt, vel_z);
                new_pos_x = fma(new_vel_x, dt, particles[gid].pos.x);
                new_pos_y = fma(new_vel_y, dt, particles[gid].pos.y);
                new_pos_z = fma(new_vel_z, dt, particles[gid].pos.z);
                if (new_pos_y < 0.0f) {
                    new_pos_y = -new_pos_y;
                    new_vel_y *= -0.6f;
                    flags |= 1;
                }
            }
            particles[gid].pos.x = new_pos_x;
            particles[gid].pos.y = new_pos_y;
            particles[gid].pos.z = new_pos_z;
            particles[gid].vel.x = new_vel_x;
            particles[gid].vel.y = new_vel_y;
            particles[gid].vel.z = new_vel_z;
            particles[gid].life = new_life;
            particles[gid].flags = flags;
            particles[gid].seed = seed;
        }
    }
}
struct curve { float gain; int pad[2]; short bias; uchar pad14[2]; };
kernel void pixels(global uchar4 *in, global struct curve *c, global float *out, int n) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        out[gid] = fma((float)in[gid].y, c[gid].gain, (float)c[gid].bias);
    }
}
kernel void priv(global int *a, global int *o) {  // 32 lanes
    int gid = global_id(0);
    int values[16];
    for (int k = 0; k < 16; k++) {
        values[k] = a[gid * 16 + k];
    }
    for (int k = 15; k > 0; k--) {
        for (int j = 0; j < k; j++) {
            int smaller = min(values[j], values[j + 1]);
            values[j + 1] = max(values[j], values[j + 1]);
            values[j] = smaller;
        }
    }
    for (int k = 0; k < 16; k++) {
        o[gid * 16 + k] = values[k];
    }
}
kernel void softmax_rows(global float *logits, global float *probs, int cols, float temperature) {  // 32 lanes
    local float *slm_float = (local float *)slm;  // 128 elements
    int group = group_id(0);
    float inverse_temperature = recip(temperature);
    uint lid = local_id(0);
    int index = lid;
    float largest = -INFINITY;
    for (int col = index; col < cols; col += 128) {
        largest = fmax(largest, logits[group * cols + col] * inverse_temperature);
    }
    slm_float[index] = largest;
    work_group_barrier();
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (lid < stride) {
            slm_float[index] = fmax(slm_float[index], slm_float[index + stride]);
        }
        work_group_barrier();
    }
    float float_first = slm_float[0];
    work_group_barrier();
    float sum = 0.0f;
    for (int col = index; col < cols; col += 128) {
        float result = exp(fma(logits[group * cols + col], inverse_temperature, -float_first));
        probs[group * cols + col] = result;
        sum += result;
    }
    slm_float[index] = sum;
    work_group_barrier();
    for (int stride = 64; stride > 0; stride >>= 1) {
        if (lid < stride) {
            slm_float[index] += slm_float[index + stride];
        }
        work_group_barrier();
    }
    if ((int)lid < cols) {
        float result = recip(slm_float[0]);
        while (index < cols) {
            probs[group * cols + index] *= result;
            index += 128;
        }
    }
}
kernel void run_program(constant int *program, int length, global int *input, global int *result, global int *steps_used, int max_steps) {  // 16 lanes
    int gid = global_id(0);
    int new_steps_used;
    if (length <= 0 || max_steps <= 0) {
        result[gid] = 0;
        new_steps_used = 0;
    } else {
        bool holds = true;
        int i = 0;
        int index = 0;
        int new_result = 0;
        int t = 0;
        int t2;
        bool holds2;
        int difference;
        for (;;) {
            int t3 = index + 1;
            int program_index = program[index];
            int program_index_over_256 = program_index >> 8;
            i++;
            switch ((char)program_index) {
                case 1: {
                    t2 = new_result;
                    new_result = program_index_over_256;
                    index = t3;
                } break;
                case 2: {
                    t2 = new_result;
                    new_result = t + (new_result + program_index_over_256);
                    index = t3;
                } break;
                case 3: {
                    t2 = new_result;
                    new_result *= t;
                    index = t3;
                } break;
                case 4: {
                    t2 = new_result;
                    new_result ^= t;
                    index = t3;
                } break;
                case 5: {
                    t2 = new_result;
                    new_result = t >> (program_index_over_256 & 31);
                    index = t3;
                } break;
                case 6: {
                    t2 = t;
                    index = t3;
                } break;
                case 7: {
                    index = t3 + ((t == 0) ? 0 : program_index_over_256);
                    t2 = new_result;
                    new_result = t;
                } break;
                case 8: {
                    t2 = new_result;
                    new_result = input[gid];
                    index = t3;
                } break;
                default: {
                    t2 = new_result;
                    new_result = t;
                    index = t3;
                    holds = false;
                } break;
            }
            holds2 = holds;
            difference = i - 1;
            t = new_result;
            if (!holds2 || index < 0 || index >= length || i >= max_steps) break;
            new_result = t2;
        }
        result[gid] = new_result;
        new_steps_used = !holds2 ? i : ~difference;
    }
    steps_used[gid] = new_steps_used;
}
kernel void histogram256(global uchar4 *pixels, uint n4, global uint *hist, global int *max_value, global uint *saturated) {  // 32 lanes
    local int *slm_int = (local int *)slm;  // 264 elements
    int lid = local_id(0);
    for (uint k = lid; k < 256; k += local_size(0)) {
        slm_int[k] = 0;
    }
    if (lid == 0) {
        slm_int[256] = 0;
    }
    work_group_barrier();
    for (uint i = global_id(0); i < n4; i += global_size(0)) {
        uchar4 pixels_i = pixels[i];
        atomic_inc(&slm_int[pixels_i.x]);
        atomic_inc(&slm_int[pixels_i.y]);
        atomic_inc(&slm_int[pixels_i.z]);
        atomic_inc(&slm_int[pixels_i.w]);
        uchar larger = max(max(pixels_i.w, pixels_i.z), max(pixels_i.y, pixels_i.x));
        int largest = sub_group_reduce_max((int)larger);
        once atomic_max(&slm_int[256], largest);
        if (larger == 255) {
            atomic_inc(saturated);
        }
    }
    work_group_barrier();
    for (uint k = lid; k < 256; k += local_size(0)) {
        int int_k = slm_int[k];
        if (int_k != 0) {
            atomic_add(&hist[k], int_k);
        }
    }
    if (lid == 0) {
        int largest = sub_group_reduce_max((int)(uint)slm_int[256]);
        once atomic_max(max_value, largest);
    }
}
kernel void scan_block_counts(global uint *counts, global uint *offsets, global uint *block_totals, uint length) {  // 32 lanes
    local uint *tree = (local uint *)slm;  // [512]
    uint lid = local_id(0);
    int group = group_id(0);
    uint index = group * 512 + lid;
    uint index2 = group * 512 + lid + 256;
    tree[lid] = (index < length) ? counts[index] : 0;
    tree[lid + 256] = (index2 < length) ? counts[index2] : 0;
    work_group_barrier();
    int stride = 1;
    for (int distance = 256; distance > 0; distance >>= 1) {
        if (lid < distance) {
            tree[lid * (2 * stride) + 2 * stride - 1] += tree[lid * (2 * stride) + stride - 1];
        }
        work_group_barrier();
        stride <<= 1;
    }
    if (lid == 0) {
        block_totals[group] = tree[511];
        tree[511] = 0;
    }
    work_group_barrier();
    int stride2 = 1;
    for (int distance = 256; distance >= 2; distance >>= 1) {
        if (lid < stride2) {
            uint tree_value = tree[lid * (2 * distance) + distance - 1];
            uint tree_value2 = tree[lid * (2 * distance) + 2 * distance - 1];
            tree[lid * (2 * distance) + distance - 1] = tree_value2;
            tree[lid * (2 * distance) + 2 * distance - 1] = tree_value2 + tree_value;
        }
        work_group_barrier();
        stride2 <<= 1;
    }
    if (lid < 256) {
        int tree_next = tree[lid * 2 + 1];
        tree[lid * 2 + 1] = tree_next + tree[lid * 2];
        tree[lid * 2] = tree_next;
    }
    work_group_barrier();
    if (index < length) {
        offsets[index] = tree[lid];
    }
    if (index2 < length) {
        offsets[index2] = tree[lid + 256];
    }
}
kernel void scans(global int *a, global uint *b, global float *c, global int *out, global uint *outu, global float *outf) {  // 32 lanes
    int gid = global_id(0);
    int a_gid = a[gid];
    int largest_before = sub_group_scan_exclusive_max(a_gid);
    long gid_times_4 = gid << 2;
    out[gid_times_4] = max(a_gid, largest_before);
    int result = sub_group_scan_exclusive_max(a[gid]);
    out[gid_times_4 + 1] = result;
    int a_gid2 = a[gid];
    int smallest_before = sub_group_scan_exclusive_min(a_gid2);
    out[gid_times_4 + 2] = min(a_gid2, smallest_before);
    int new_out = sub_group_scan_exclusive_min(a[gid]);
    out[gid_times_4 + 3] = new_out;
    uint b_gid = b[gid];
    uint largest_before2 = sub_group_scan_exclusive_max(b_gid);
    outu[gid_times_4] = max(b_gid, largest_before2);
    uint new_outu = sub_group_scan_exclusive_max((uint)(int)b[gid]);
    outu[gid_times_4 + 1] = new_outu;
    uint b_gid2 = b[gid];
    uint smallest_before2 = sub_group_scan_exclusive_min(b_gid2);
    outu[gid_times_4 + 2] = min(b_gid2, smallest_before2);
    uint result2 = sub_group_scan_exclusive_min((uint)(int)b[gid]);
    outu[gid_times_4 + 3] = result2;
    float c_gid = c[gid];
    float largest_before3 = sub_group_scan_exclusive_max(c_gid);
    outf[gid_times_4] = fmax(c_gid, largest_before3);
    float new_outf = sub_group_scan_exclusive_min(c[gid]);
    outf[gid_times_4 + 1] = new_outf;
    float c_gid2 = c[gid];
    float sum_before = sub_group_scan_exclusive_add(c_gid2);
    outf[gid_times_4 + 2] = sum_before + c_gid2;
    float result3 = sub_group_scan_exclusive_add(c[gid]);
    outf[gid_times_4 + 3] = result3;
}
kernel void find(global char *text, uint n, constant char *pat, uint m, global uint *hits, global uint *count) {  // 16 lanes
    uint gid = global_id(0);
    if (gid + m <= n) {
        uint k;
        for (k = 0; k < m; k++) {
            if (text[gid + k] != pat[k]) break;
        }
        if (k == m) {
            int slot = atomic_inc(count);
            hits[slot] = gid;
        }
    }
}
kernel void seg_scan_block(global float *values, global uchar *heads, global float *out, global float *carry, global uchar *carryHead, local float *buf, local uchar *flg, uint total) {  // 32 lanes
    uint lid = local_id(0);
    uint gid = global_id(0);
    uchar result;
    if (gid < total) {
        buf[lid] = values[gid];
        result = heads[gid] >> 7;
    } else {
        buf[lid] = 0.0f;
        result = 1;
    }
    int index = slm_offset(flg);
    flg[lid] = result;
    work_group_barrier();
    int index2 = 0;
    if (local_size(0) > 1) {
        uint stride = 1;
        int index3 = 1;
        for (;;) {
            int index4 = index2 * local_size(0);
            int index5 = index4 + lid;
            float sum = buf[index5];
            uchar flg_value = flg[lid + index4];
            uchar new_flg = flg_value;
            if (stride <= lid) {
                if (flg_value == 0) {
                    sum += buf[index4 + lid - stride];
                }
                new_flg |= ((uchar *)buf)[index5 + index - stride];
            }
            buf[index3 * local_size(0) + lid] = sum;
            flg[lid + index3 * local_size(0)] = new_flg;
            work_group_barrier();
            index2 ^= 1;
            stride <<= 1;
            if (stride >= local_size(0)) break;
            index3 ^= 1;
        }
    }
    if (gid < total) {
        out[gid] = buf[index2 * local_size(0) + lid];
    }
    int group = group_id(0);
    if ((int)(local_size(0) - 1) == lid) {
        uint flg_value = flg[index2 * local_size(0) + (local_size(0) - 1)];
        carry[group] = buf[index2 * local_size(0) + local_size(0) - 1];
        carryHead[group] = flg_value;
    }
}
kernel void r233(global int *in0, global uint *in1, global char *in2, global int *out0, global uint *out1, ulong s0, char s1, int n) {  // 32 lanes
    uint gid = global_id(0);
    int in0_gid = in0[gid];
    out0[gid] = ~(int)rotate_left(n, 8);
    out1[gid] = (gid - max(in0_gid, 0)) >> 12;
}
kernel void smith_waterman_score(global uchar *queries, global uchar *references, global int *ref_offsets, global int *best_scores, global int *best_ref_end, int pair_count, int query_len, int match_score, int mismatch_score, int gap_penalty) {  // 16 lanes
    int gid = global_id(0);
    if (gid < pair_count) {
        int smaller = min(query_len, 64);
        int values[128];
        if (smaller >= 0) {
            for (int k = 0;; k++) {
                values[k] = 0;
                if (k >= smaller) break;
            }
        }
        int ref_offsets_next = ref_offsets[gid + 1];
        int largest = 0;
        int result = -1;
        for (int k = ref_offsets[gid]; k < ref_offsets_next; k++) {
            if (!(smaller < 1)) {
                char references_k = references[k];
                int values_first = values[0];
                int i = 1;
                int t = 0;
                for (;;) {
                    int values_i = values[i];
                    bool flag = (char)queries[gid * query_len + i - 1] == references_k;
                    values_first = max(max(max(values_first, values_i) - gap_penalty, t + (flag ? match_score : mismatch_score)), 0);
                    values[i] = values_first;
                    bool flag2 = values_first > largest;
                    largest = max(values_first, largest);
                    if (flag2) {
                        result = k;
                    }
                    if (i >= smaller) break;
                    i++;
                    t = values_i;
                }
            }
        }
        best_scores[gid] = largest;
        best_ref_end[gid] = result;
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
struct stats_t { float at0; float at4; float at8; int at12; };
kernel void stats_stage1(global float *src, global struct stats_t *partial, uint count, local struct stats_t *scratch_) {  // 32 lanes
    uint lid = local_id(0);
    float smallest = 3.4028235e+38f;
    float largest = -3.4028235e+38f;
    float sum = 0.0f;
    int count2 = 0;
    for (uint i = global_id(0); i < count; i += global_size(0)) {
        float src_i = src[i];
        if (src_i == src_i) {
            smallest = fmin(smallest, src_i);
            largest = fmax(largest, src_i);
            sum += src_i;
            count2++;
        }
    }
    scratch_[lid].at0 = smallest;
    scratch_[lid].at4 = largest;
    scratch_[lid].at8 = sum;
    scratch_[lid].at12 = count2;
    work_group_barrier();
    for (uint stride = local_size(0) >> 1; stride > 0; stride >>= 1) {
        if (stride > lid) {
            struct stats_t scratch_value = scratch_[stride + lid];
            smallest = fmin(smallest, scratch_value.at0);
            largest = fmax(largest, scratch_value.at4);
            sum += scratch_value.at8;
            count2 += scratch_value.at12;
            scratch_[lid].at0 = smallest;
            scratch_[lid].at4 = largest;
            scratch_[lid].at8 = sum;
            scratch_[lid].at12 = count2;
        }
        work_group_barrier();
    }
    if (lid == 0) {
        partial[group_id(0)].at0 = smallest;
        partial[group_id(0)].at4 = largest;
        partial[group_id(0)].at8 = sum;
        partial[group_id(0)].at12 = count2;
    }
}
struct body_t { float at0; float at4; float at8; uchar pad12[8]; float at20; float at24; float at28; int at32; uchar pad36[12]; };
kernel void step_bodies(global struct body_t *b, int n, float dt, float g) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n && b[gid].at32 != 0) {
        float at20 = b[gid].at20;
        float at28 = b[gid].at28;
        float new_at24 = fma(-dt, g, b[gid].at24);
        b[gid].at24 = new_at24;
        float new_at0 = fma(dt, at20, b[gid].at0);
        float new_at4 = fma(dt, new_at24, b[gid].at4);
        float new_at8 = fma(dt, at28, b[gid].at8);
        b[gid].at0 = new_at0;
        b[gid].at4 = new_at4;
        b[gid].at8 = new_at8;
        if (new_at4 < 0.0f) {
            b[gid].at0 = new_at0;
            b[gid].at4 = -new_at4;
            b[gid].at8 = new_at8;
            b[gid].at24 = new_at24 * -0.5f;
            b[gid].at32 = 2;
        }
    }
}
struct P { float at0; float at4; float at8; int at12; };
kernel void move(global struct P *p, float dt, int n) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        struct P p_gid = p[gid];
        p[gid].at0 = fma(dt, p_gid.at4, p_gid.at0);
        p[gid].at8 = fabs(p_gid.at8);
        p[gid].at12 = (int)(p_gid.at12 + 1);
    }
}
static int transpose_diagonal_modulo(ulong x, uint y);
static long transpose_diagonal_quotient(uint x, uint y);
static int transpose_diagonal_modulo_2(uint x, uint y);
static int transpose_diagonal_modulo_3(ulong x, uint y);
kernel void transpose_diagonal(global double *odata, global double *idata, int width, int height) {  // 32 lanes
    local double *slm_double = (local double *)slm;  // 1056 elements
    int t = group_id(0);
    uint group_y = group_id(1);
    int t2;
    if (width != height) {
        uint t3 = group_count(0) * group_y + t;
        t = transpose_diagonal_modulo_2(t3, group_count(1));
        long t4 = transpose_diagonal_quotient(t3, group_count(1));
        ulong t5 = t4 + t;
        t2 = transpose_diagonal_modulo(t5, group_count(0));
    } else {
        ulong t3 = (long)(uint)t + group_y;
        t2 = transpose_diagonal_modulo_3(t3, group_count(0));
    }
    int index = t2 << 5;
    int lx = local_id(0);
    int x = index + lx;
    int index2 = t << 5;
    int ly = local_id(1);
    int y = index2 + ly;
    if (x < width && y < height) {
        slm_double[33 * ly + lx] = idata[y * width + index + lx];
    }
    int y2 = index2 + ly + 8;
    if (x < width && y2 < height) {
        slm_double[33 * ly + lx + 264] = idata[y2 * width + index + lx];
    }
    int y3 = index2 + ly + 16;
    if (x < width && y3 < height) {
        slm_double[33 * ly + lx + 528] = idata[y3 * width + index + lx];
    }
    int y4 = index2 + ly + 24;
    if (x < width && y4 < height) {
        slm_double[33 * ly + lx + 792] = idata[y4 * width + index + lx];
    }
    work_group_barrier();
    int y5 = index2 + lx;
    int x2 = index + ly;
    if (y5 < height && x2 < width) {
        odata[x2 * height + index2 + lx] = slm_double[33 * lx + ly];
    }
    int x3 = index + ly + 8;
    if (y5 < height && x3 < width) {
        odata[x3 * height + index2 + lx] = slm_double[33 * lx + ly + 8];
    }
    int x4 = index + ly + 16;
    if (y5 < height && x4 < width) {
        odata[x4 * height + index2 + lx] = slm_double[33 * lx + ly + 16];
    }
    int x5 = index + ly + 24;
    if (y5 < height && x5 < width) {
        odata[x5 * height + index2 + lx] = slm_double[33 * lx + ly + 24];
    }
}
static int transpose_diagonal_modulo(ulong x, uint y) {
    int t;
    if ((x >> 32) != 0) {
        double inverse_y = (double)recip((float)y);
        double sum = fma(inverse_y, fma(-(double)y, inverse_y, 1.0) - 3.552713678800501e-15, inverse_y);
        int product = y * convert_uint(sum * (double)(uint)(x >> 32));
        ulong t2 = convert_ulong(sum * fma((double)((uint)(x >> 32) - product), 4294967296.0, (double)(uint)x));
        ulong bits = ((ulong)((uint)(x >> 32) - product - (((t2 >> 32) == 0) ? 0 : y)) << 32) | (uint)x;
        ulong difference = bits - (ulong)(uint)t2 * y;
        ulong chosen = (difference < y) ? 0 : y;
        t = difference - chosen;
    } else if (y != 0) {
        uint t2 = x;
        t = t2 % y;
    } else {
        t = -1;
    }
    return t;
}
static long transpose_diagonal_quotient(uint x, uint y) {
    bool x_from_0_on = (int)x >= 0;
    long t;
    if (x_from_0_on) {
        t = (y != 0) ? x / y : -1;
    } else {
        double inverse_y = (double)recip((float)y);
        double sum = fma(inverse_y, fma(-(double)y, inverse_y, 1.0) - 3.552713678800501e-15, inverse_y);
        int t2 = convert_uint(sum * 4294967295.0);
        uint t3 = ~(y * t2);
        ulong t4 = convert_ulong(sum * fma((double)t3, 4294967296.0, (double)x));
        ulong bits = ((ulong)(t3 - (((uint)(t4 >> 32) == 0) ? 0 : y)) << 32) | x;
        ulong bits2 = ((ulong)((uint)(t4 >> 32) + t2) << 32) | (uint)t4;
        t = bits2 - (long)((bits - (ulong)(uint)t4 * y >= y) ? -1 : 0);
    }
    return t;
}
static int transpose_diagonal_modulo_2(uint x, uint y) {
    bool x_from_0_on = (int)x >= 0;
    int t;
    if (x_from_0_on) {
        if (y != 0) {
            t = x % y;
        } else {
            t = -1;
        }
    } else {
        double inverse_y = (double)recip((float)y);
        double sum = fma(inverse_y, fma(-(double)y, inverse_y, 1.0) - 3.552713678800501e-15, inverse_y);
        uint t2 = ~(y * convert_uint(sum * 4294967295.0));
        ulong t3 = convert_ulong(sum * fma((double)t2, 4294967296.0, (double)x));
        ulong bits = ((ulong)(t2 - (((t3 >> 32) == 0) ? 0 : y)) << 32) | x;
        ulong difference = bits - (ulong)(uint)t3 * y;
        ulong chosen = (difference < y) ? 0 : y;
        t = difference - chosen;
    }
    return t;
}
static int transpose_diagonal_modulo_3(ulong x, uint y) {
    int t;
    if ((x >> 32) != 0) {
        double inverse_y = (double)recip((float)y);
        double sum = fma(inverse_y, fma(-(double)y, inverse_y, 1.0) - 3.552713678800501e-15, inverse_y);
        ulong t2 = convert_ulong(sum * fma((double)(1 - y * convert_uint(sum)), 4294967296.0, (double)(uint)x));
        ulong bits = ((ulong)(1 - y * convert_uint(sum) - (((t2 >> 32) == 0) ? 0 : y)) << 32) | (uint)x;
        ulong difference = bits - (ulong)(uint)t2 * y;
        ulong chosen = (difference < y) ? 0 : y;
        t = difference - chosen;
    } else if (y != 0) {
        uint t2 = x;
        t = t2 % y;
    } else {
        t = -1;
    }
    return t;
}
kernel void validate_utf8(global uchar *bytes, global int *string_offsets, global int *error_position, global int *any_error, int string_count, int stop_on_error) {  // 16 lanes
    int gid = global_id(0);
    if (gid < string_count) {
        if (stop_on_error != 0 && any_error[0] != 0) return;
        int i = string_offsets[gid];
        int string_offsets_next = string_offsets[gid + 1];
        if (i < string_offsets_next) {
            bool found;
            bool found2;
            uchar chosen;
            int result;
            for (;;) {
                uchar bytes_i = bytes[i];
                if (bytes_i >= 128) {
                    if (bytes_i >= 194 && bytes_i < 224) {
                        found = false;
                        found2 = false;
                        chosen = 2;
                    } else if ((bytes_i & 0xf0) == 0xe0) {
                        found = false;
                        found2 = true;
                        chosen = 3;
                    } else {
                        bool flag = bytes_i >= 245 || bytes_i < 240;
                        chosen = flag ? 0 : 4;
                        found = flag;
                        found2 = false;
                    }
                    int t = i + chosen;
                    if (found || t > string_offsets_next) {
                        error_position[gid] = i;
                        any_error[0] = 1;
                        return;
                    }
                    if (chosen > 1) {
                        result = i + 1;
                        if ((bytes[result] & 0xc0) != 0x80) break;
                        if (chosen > 2) {
                            result = i + 2;
                            if ((bytes[result] & 0xc0) != 0x80) break;
                            if (chosen > 3) {
                                result = i + 3;
                                if ((bytes[result] & 0xc0) != 0x80) break;
                            }
                        }
                    }
                    if (found2 && bytes_i == 237) {
                        if (bytes[i + 1] > 159) {
                            error_position[gid] = i;
                            any_error[0] = 1;
                            return;
                        }
                    }
                    i = t;
                } else {
                    if (i >= string_offsets_next) {
                        error_position[gid] = i;
                        any_error[0] = 1;
                        return;
                    }
                    i++;
                }
                if (i >= string_offsets_next) {
                    error_position[gid] = -1;
                    return;
                }
            }
            error_position[gid] = result;
            any_error[0] = 1;
            return;
        }
        error_position[gid] = -1;
    }
}
struct Wheel { float at0; uchar at4; uchar at5; ushort at6; uchar pad8[4]; float at12; };
kernel void wheels(global struct Wheel *wheels, constant float *grip, global float *heights, int n, int width) {  // 32 lanes
    int gid = global_id(0);
    if (gid < n) {
        global float *p_heights = heights + gid * width;
        for (int x = 1; x < width; x++) {
            float heights_x = p_heights[x];
            if (!(heights_x < 0.0f) && !(heights_x <= p_heights[x - 1])) {
                wheels[gid].at0 = fma(grip[(uint)wheels[gid].at5], heights_x, wheels[gid].at0);
                wheels[gid].at4 = 1;
                if (p_heights[x] > 8.0f) {
                    wheels[gid].at6++;
                }
            }
        }
        wheels[gid].at12 *= 0.5f;
    }
}
