// Small kernels with one fault each, five or more for each observer, and clean ones that come close. test_faulty_kernels.py says what each has to report.

// Values that were never written.
kernel void u1(global int *o, int n){ local int s[64]; int i=get_local_id(0); if(i<n) s[i]=i; barrier(CLK_LOCAL_MEM_FENCE); o[i]=s[i]; }
kernel void u2(global int *o, int n){ int t[40]; int i=get_global_id(0); for(int k=0;k<n;++k) t[k]=k*i; o[i]=t[(i*7)%40]; }
kernel void u3(global int *o, global int*a){ local int c; int i=get_local_id(0); atomic_add(&c,a[i]); barrier(CLK_LOCAL_MEM_FENCE); if(i==0) o[0]=c; }
kernel void u4(global int *o, int n){ local int idx[32]; int i=get_local_id(0); if(i<8) idx[i]=i; barrier(CLK_LOCAL_MEM_FENCE); o[idx[i]&15]=1; }
kernel void u5(global int *o, int n){ local int s[64]; int i=get_local_id(0); if(i&1) s[i]=i; barrier(CLK_LOCAL_MEM_FENCE); if(s[i]>3) o[i]=1; else o[i]=2; }

// Data races.
kernel void r1(global int *o){ o[0]=get_global_id(0); }
kernel void r2(global int *o){ local int s[64]; int i=get_local_id(0); s[i]=i*3; o[get_global_id(0)]=s[(i+16)&31]; }
kernel void r3(global int *o){ int i=get_global_id(0); o[i]=o[i+16]+1; }
kernel void r4(global int *o){ local int c; if(get_local_id(0)==0)c=0; barrier(CLK_LOCAL_MEM_FENCE); c=c+get_local_id(0); barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)]=c; }
kernel void r5(global int *o, global int*h){ int i=get_global_id(0); atomic_inc(&h[i&7]); o[i]=h[(i+1)&7]; }

// Accesses out of bounds.
kernel void b1(global int *o,int n){ int i=get_global_id(0); if(i<=n) o[i]=i; }
kernel void b2(global int *o, global int*a){ int i=get_global_id(0); o[i]=a[i-1]; }
kernel void b4(global float4 *o){ int i=get_global_id(0); o[i]=(float4)(i); }
kernel void b5(global char *o, int n){ int i=get_global_id(0); o[i*n]=i; }
kernel void b6(global int *o, int n){ int i=get_global_id(0); atomic_add(&o[i+n],1); }

// Barriers that not all reach.
kernel void d1(global int *o){ local int s[64]; int i=get_local_id(0); s[i]=i; if(i<16) barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)]=s[31-i]; }
kernel void d2(global int *o,int n){ local int s[64]; int i=get_local_id(0); if(i>=n) return; s[i]=i; barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)]=s[n-1-i]; }
kernel void d3(global int *o){ local int s[64]; int i=get_local_id(0); for(int k=0;k<=(i>>4);++k){ s[i]=k; barrier(CLK_LOCAL_MEM_FENCE);} o[get_global_id(0)]=s[i]; }
kernel void d4(global int *o){ local int s[64]; int i=get_local_id(0); s[i]=i; if(i&1) barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)]=s[i]; }
kernel void d5(global int *o){ local int s[64]; int i=get_local_id(0); s[i]=i; if(i<16) {barrier(CLK_LOCAL_MEM_FENCE); s[i]++;} else {s[i]+=2; barrier(CLK_LOCAL_MEM_FENCE);} o[get_global_id(0)]=s[i]; }

// Addresses that are no multiple of the access.
kernel void m1(global char *p, global int*o){ int i=get_global_id(0); o[i]=*(global int*)(p+i*4+1); }
kernel void m2(global char *p, global int*o){ int i=get_global_id(0); *(global int*)(p+i*4+2)=o[i]; }
kernel void m3(global char *p, global int*o){ int i=get_global_id(0); atomic_add((global int*)(p+i*4+2),o[i]); }
kernel void m4(global char *p, global int*o){ int i=get_global_id(0); o[i]=(*(global int4*)(p+i*16+3)).y; }

// Divisions by zero.
kernel void v1(global int *a, global int*b){ int i=get_global_id(0); a[i]=a[i]/b[i]; }
kernel void v2(global uint *a, global uint*b){ int i=get_global_id(0); a[i]=a[i]%b[i]; }
kernel void v3(global short *a, global short*b){ int i=get_global_id(0); a[i]=a[i]/b[i]; }
kernel void v4(global uchar *a, global uchar*b){ int i=get_global_id(0); if(b[i]!=1) a[i]=a[i]%b[i]; }
kernel void v5(global int *a, global int*b){ int i=get_global_id(0); a[i]=b[i]? a[i]/b[i]:0; }
kernel void v6(global long *a, global long*b){ int i=get_global_id(0); a[i]=a[i]/b[i]; }

// Kernels that never end.
kernel void e1(global int *o){ while(o[0]==0) o[1]=2; }
kernel void e2(global int *o, int n){ for(int i=0;i!=n;i+=2) o[i&7]+=i; }
kernel void e3(global volatile int *o){ while(atomic_cmpxchg(&o[0],5,6)!=5); }
kernel void e4(global volatile int*o){ local int s[4]; for(;;){ barrier(CLK_LOCAL_MEM_FENCE); if(o[3]==9) return; } }
kernel void e5(global int *o,int n){ uint k=n; do { k=k*1664525u+1013904223u; } while(k!=77u || o[0]); o[0]=k; }

// Nothing wrong.
kernel void c1(global int *o, global int*a){ local int s[64]; int i=get_local_id(0); s[i]=a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); for(int d=16;d;d>>=1){ if(i<d) s[i]+=s[i+d]; barrier(CLK_LOCAL_MEM_FENCE);} if(!i) o[get_group_id(0)]=s[0]; }
kernel void c2(global int *o, global int*h){ int i=get_global_id(0); atomic_inc(&h[i&7]); o[i]=i; }
kernel void c3(global volatile int *o, global volatile int*part, global volatile int*cnt){ local int last; int i=get_local_id(0); int g=get_group_id(0); if(!i) part[g]=g*10; mem_fence(CLK_GLOBAL_MEM_FENCE); if(!i) last = atomic_inc(cnt)==(int)get_num_groups(0)-1; barrier(CLK_LOCAL_MEM_FENCE); if(last && !i){ int s=0; for(int k=0;k<(int)get_num_groups(0);++k) s+=part[k]; o[0]=s; } }
kernel void c4(global volatile int *o, global volatile int*fl){ int i=get_local_id(0); if(i==16){ o[40]=7; mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(&fl[0],1);} if(i==0){ while(atomic_add(&fl[0],0)==0); mem_fence(CLK_GLOBAL_MEM_FENCE); o[41]=o[40]; } }
struct S { char c; int v; };
kernel void c5(global struct S*o, int n){ struct S t[9]; int i=get_global_id(0); for(int k=0;k<9;++k){t[k].c=k;t[k].v=i;} o[i]=t[(i+n)%9]; }
