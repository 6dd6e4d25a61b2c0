// Vectors of all lengths, loads and stores by parts, swizzles, structs.
typedef struct { short tag; int3 at; char name[5]; } Thing;
kernel void things(global const Thing *in, global Thing *out) {
    int i = get_global_id(0);
    Thing t = in[i];
    t.at = t.at.zxy + t.tag;
    t.tag = (short)(t.name[4] - t.tag);
    for (int k = 0; k < 5; k++) t.name[k] ^= (char)(k + i);
    out[i].tag = t.tag;
    out[i].at.x = t.at.x;
    out[i].at.y = t.at.y;
    out[i].at.z = t.at.z;
    for (int k = 0; k < 5; k++) out[i].name[k] = t.name[k];
}
kernel void lanes(global const int *in, global int *out, global const float *f, global float *g) {
    int i = get_global_id(0);
    int8 a = vload8(i, in);
    int3 b = vload3(i, in);
    a.s0246 += (int4)(b, 9) * a.s1357;
    vstore8(a.s76543210, i, out);
    float4 v = vload4(i, f);
    float3 c = cross(v.xyz, v.wzy);
    vstore3(c, i, g);
}
