"""Lines for the productions of messages in the public grammar; see ``test_grammar_productions``."""

from __future__ import annotations

G1 = "VD(0,0)<1;1,0>"
U1 = "VU(0,0)<1;1,0>"
F1 = "VF(0,0)<1;1,0>"

MESSAGES: dict[str, tuple[str, ...]] = {
    "MediaInstruction": (
        "media_ld.nomod (32,8) T6 0 VD(0,0)<0;1,0> VD(0,1)<0;1,0> VUB.0",
        "media_ld.modified (32,8) T6 0 0x0:d 0x1:d VUB.0",
        "media_ld.top (32,8) T6 0x0:d 0x1:d VUB.0",
        "media_ld.bottom (32,8) T6 0x0:d 0x1:d VUB.0",
        "media_ld.top_mod (32,8) T6 1 0x0:d 0x1:d VUB.0",
        "media_ld.bottom_mod (32,8) T6 1 0x0:d 0x1:d VUB.0",
        "media_st.nomod (32,8) T6 0 0x0:d 0x1:d VUB.0",
        "media_st.top (32,8) T6 0 0x0:d 0x1:d VUB.0",
    ),
    "ScatterInstruction": (
        "gather.4 (M1, 8) T6 0x0:ud VU.0 VU.64",
        "gather.1 (M1, 16).mod T6 0x0:ud VU.0 VU.64",
        "scatter.2 (M1, 8) T6 VU(0,0)<0;1,0> VU.0 VU.64",
    ),
    "ScatterTypedInstruction": (
        "(P1) gather4_typed.RGBA (M1, 8) T6 VU.0 VU.64 VU.0 %null.0 VU.128",
        "scatter4_typed.r (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.128",
        "scatter4_typed.gB (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.128",
    ),
    "Scatter4ScaledInstruction": (
        "(P1) gather4_scaled.RG (M1, 8) T6 0x0:ud VU.0 VU.64",
        "scatter4_scaled.A (M1, 8) T6 0x0:ud VU.0 VU.64",
    ),
    "ScatterScaledInstruction": (
        "(P1) gather_scaled.1 (M1, 8) T6 0x0:ud VU.0 VU.64",
        "scatter_scaled.4 (M1, 8) T6 0x0:ud VU.0 VU.64",
    ),
    "SynchronizationInstruction": (
        "barrier",
        "sbarrier.signal",
        "sbarrier.wait",
        "nbarrier.signal 0x1:ub 0x2:ub",
        "nbarrier.signal VUB(0,0)<0;1,0> 0x0:ud 0x2:ub 0x3:ub",
        "nbarrier.wait 0x1:ub",
    ),
    "DwordAtomicInstruction": (
        *tuple(
            f"dword_atomic.{op} (M1, 8) T6 VU.0 VU.64 %null.0 VU.128"
            for op in [
                "add",
                "sub",
                "inc",
                "dec",
                "min",
                "max",
                "xchg",
                "cmpxchg",
                "and",
                "or",
                "xor",
                "minsint",
                "maxsint",
                "fmax",
                "fmin",
                "fcmpwr",
                "fadd",
                "fsub",
            ]
        ),
        "(P1) dword_atomic.add.16 (M1, 8) T6 VU.0 VU.64 %null.0 VU.128",
    ),
    "TypedAtomicInstruction": (
        "typed_atomic.inc (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 %null.0 %null.0 VU.128",
        "(P1) typed_atomic.cmpxchg.16 (M1, 8) T6 VU.0 VU.64 %null.0 %null.0 VU.0 VU.64 VU.128",
    ),
    "SampleUnormInstruction": tuple(
        f"sample_unorm.RGBA.{mode} S0 T6 0.0:f 0.0:f 0.1:f 0.1:f VUW.0"
        for mode in ("16-full", "16-downsampled", "8-full", "8-downsampled")
    ),
    "SampleInstruction": (
        "sample.RGB (8) S0 T6 VF.0 VF.64 VF.128 VF.0",
        "sample.R (16) S0 T6 VF.0 VF.64 %null.0 VF.0",
        "load.RG (8) T6 VF.0 VF.64 VF.128 VF.0",
        "sample.R S0 T6 VF.0 VF.64 VF.128 VF.0",
        "load.R T6 VF.0 VF.64 VF.128 VF.0",
    ),
    "Sample3dInstruction": (
        *tuple(
            f"{op}.RGBA (M1, 8) 0x0:uw S0 T6 VF.0 VF.64 VF.128"
            for op in [
                "sample_3d",
                "sample_b",
                "sample_l",
                "sample_c",
                "sample_d",
                "sample_b_c",
                "sample_l_c",
                "sample_d_c",
                "sample_lz",
                "sample_c_lz",
                "sample_po",
                "sample_po_b",
                "sample_po_l",
                "sample_po_c",
                "sample_po_d",
                "sample_po_l_c",
                "sample_po_lz",
                "sample_po_c_lz",
                "sample_po_b_c",
                "sample_po_d_c",
                "sample_mlod",
                "sample_c_mlod",
                "sample_d_c_mlod",
                "lod",
            ]
        ),
        "(P1) sample_3d.pixel_null_mask.cps.divS.R (M1, 8) VUW(0,0)<0;1,0> S0 T6 VF.0 VF.64",
        "sample_3d.R (M1, 8) 0x0:uw (S0, 0) (T6, 1) VF.0 VF.64",
        "sample_3d.R (M1, 8) 0x0:uw (S0,0x0) (T6,(1)) VF.0 VF.64 VF.(32*2)",
        "sample_3d.R (M1, 8) 0x0:uw S31 T6 VF.0",
    ),
    "Load3dInstruction": (
        *tuple(
            f"{op}.RGBA (M1, 8) 0x0:uw T6 VF.0 VU.0 VU.64"
            for op in ["load_3d", "load_mcs", "load_2dms_w", "load_lz", "load_l"]
        ),
        "load_lz.pixel_null_mask.R (M1, 8) 0x0:uw (T6, 1) VF.0 VU.0",
    ),
    "Gather43dInstruction": (
        *tuple(
            f"{op}.R (M1, 8) 0x0:uw S0 T6 VF.0 VF.64"
            for op in [
                "sample4",
                "sample4_c",
                "sample4_po",
                "sample4_po_c",
                "sample4_po_b",
                "sample4_po_l",
                "sample4_po_l_c",
                "sample4_po_i",
                "sample4_po_i_c",
                "sample4_i",
                "sample4_l",
                "sample4_b",
                "sample4_i_c",
                "sample4_l_c",
            ]
        ),
        "sample4.pixel_null_mask.A (M1, 8) 0x0:uw (S0, 0) (T6, 1) VF.0 VF.64",
    ),
    "ResInfo3dInstruction": ("resinfo.RGBA (M1, 8) T6 VU.0 VU.64", "resinfo.RG (M1, 8) (T6, 1) VU.0 VU.64"),
    "SampleInfo3dInstruction": ("sampleinfo.R (M1, 8) T6 VU.0", "sampleinfo.R (M1, 8) (T6, 1) VU.0"),
    "RTWriteInstruction": (
        "rt_write_3d (M1, 8) T6 %null.0 VF.0 VF.64 VF.128 VF.192",
        "rt_write_3d.<LRTW> (M1, 8) T6 %null.0 VF.0 VF.64 VF.128 VF.192",
        "(P1) rt_write_3d.<A><RTI> (M1, 8) T6 %null.0 0x1:uw VF.0 VF.0 VF.64 VF.128 VF.192",
        "rt_write_3d.<O><Z><ST><CPS><PS><CM><SI><NULLRT> (M1, 16) T6 VD.0 VUW(0,0)<0;1,0> 0x1:ud VF.0 VF.0 VF.64 VF.128 VF.192 VF.0 VF.0",
    ),
    "URBWriteInstruction": ("(P1) urb_write_3d (M1, 8) 4 0 VU.0 VU.64 %null.0 VF.0",),
    "AVSInstruction": tuple(
        f"avs.RGBA T6 S0 0.0:f 0.0:f 0.1:f 0.1:f 0.0:f 0x0:ud 0x0:ud {cntrl} 0x0:ud {mode} 0x1:ud VUW.0"
        for cntrl, mode in (("AVS_16_FULL", "AVS_16x8"), ("AVS_8_DOWN_SAMPLE", "AVS_4x4"), ("AVS_8_FULL", "AVS_8x4"))
    ),
    "VMEInstruction": (
        "vme_ime (1,2) T6 VUB.0 VUB.64 %null.0 %null.0 %null.0 VUB.0",
        "vme_sic T6 VUB.0 VUB.64 VUB.0",
        "vme_fbr (0x0:ub,VUB(0,1)<0;1,0>,0x2:ub) T6 VUB.0 VUB.64 VUB.0",
    ),
    "OwordInstruction": (
        "oword_ld (4) T6 0x10:ud VU.0",
        "oword_ld.mod (M1, 4) T6 VU(0,0)<0;1,0> VU.0",
        "oword_ld_unaligned (16) T6 0x10:ud VU.0",
        "oword_st (8) T6 0x10:ud VU.0",
    ),
    "SvmInstruction": (
        "svm_block_ld (4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_ld.aligned (4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_ld.unaligned (M1, 4) VUQ(0,0)<0;1,0> VU.0",
        "svm_block_st (8) VUQ(0,0)<0;1,0> VU.0",
        "(P1) svm_gather.4.2 (M1, 8) VUQ.0 VU.0",
        "svm_scatter.8.1 (M1, 8) VUQ.0 VU.0",
        "svm_atomic.fadd (M1, 8) VUQ.0 VU.0 VU.64 %null.0",
        "(P1) svm_atomic.add.16 (M1, 8) VUQ.0 VU.0 VU.64 %null.0",
        "svm_atomic.cmpxchg.64 (M1, 8) VUQ.0 VU.0 VU.64 VU.128",
        "svm_gather4scaled.RGBA (M1, 8) 0x0:uq VUQ.0 VU.0",
        "svm_scatter4scaled.R (M1, 8) VUQ(0,0)<0;1,0> VUQ.0 VU.0",
    ),
    "LscUntypedLoad": (
        "lsc_load.ugm (M1, 16) VU:d32 flat[VUQ]:a64",
        "(P1) lsc_load.ugm.ca.uc (M1, 16) VU:d32x2 flat[VUQ+0x100]:a64",
        "lsc_load.ugml.df.df (M1, 16) VU.64:d16u32 flat[VUQ.64-16]:a64",
        "lsc_load.ugm.wb.wt.cc (M1, 16) VU:d8u32 arg[VU]:a32",
        "lsc_load.slm (M1, 16) VU:d64x3 flat[4*VU+16]:a32",
        "lsc_load.ugm.ov (M1, 16) VU:d32 flat[VUQ]:a64",
        "lsc_load.ugm.st.ri (M1, 16) VU:d16c32h bti(0x4)[VU]:a32s",
        "lsc_load.ugm (M1, 16) VU:u8c32 bti(VU)[VU]:a32u",
        "lsc_load.ugm (M1, 16) VU:u16c32 bss(VU.4)[VU-0x8]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 ss(VU(0,1), 2)[VU]:a16",
        "lsc_load.ugm (M1, 16) VU:d32 surf(VUQ)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 surf(VUQ, 1)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 surf(0x1234567890)[VU]:a32",
        "lsc_load.ugm (M1, 16) VU:d32 flat(VUQ)[0x10*VU]:a64",
        "lsc_load.ugm (M1_NM, 1) VU:d32x64t flat[VUQ]:a64",
        "lsc_load.ugm (M1, 16) VU:d32 [VUQ]:a64",
        "lsc_load_quad.ugm (M1, 16) VU:d32.xyzw flat[VUQ]:a64",
        "lsc_load_quad.ugm (M1, 16) VU:d32.yw bti(0x3, 1)[VU]:a32",
        "lsc_load_status.ugm (M1, 16) VU:d32 flat[VUQ]:a64",
        "lsc_load_quad_status.ugm (M1, 16) VU:d32.x flat[VUQ]:a64",
    ),
    "LscUntypedStridedLoad": (
        "lsc_load_strided.ugm (M1, 1) VU:d32x8t flat[VUQ]:a64",
        "lsc_load_strided.ugm (M1, 16) VU:d32 flat[VUQ,0x20]:a64",
        "lsc_load_strided.ugm (M1, 16) VU:d32 flat[2*VUQ+4,VU.4]:a64",
    ),
    "LscUntypedBlock2d": (
        "lsc_load_block2d.ugm (M1, 1) VUB:d8.8x8nn flat[VUQ,0x3f,0x3f,0x3f,VU,VU]",
        "lsc_load_block2d.ugm (M1, 1) VUB:d16.2x8x8tt flat[VUQ,VU,VU.4,0x3f,0x0,0x8]",
        "lsc_load_block2d.ugm.ca.ca (M1, 1) VUB:d32.8x8 flat[VUQ,0x3f,0x3f,0x3f,VU+4,VU(0,1)-2]",
        "lsc_load_block2d.ugm (M1, 1) VUB:u8.16x4nt flat[0x1000,0x3f,0x3f,0x3f,VU+4,0x2]",
        "lsc_load_block2d.ugm (M1, 1) VUB:d8.8x8nn flat[VU+(0,0)]",
        "lsc_load_block2d.ugm.ca.ca (M1, 1) VUB:d8.8x8nn flat[VU + (-4, 0x8)]",
        "lsc_store_block2d.ugm (M1, 1) flat[VUQ,0x3f,0x3f,0x3f,VU,VU] VUB:d8.8x8nn",
        "lsc_store_block2d.ugm.wb.wb (M1, 1) flat[VU+(4,8)] VUB:d8.8x8",
    ),
    "LscExtendedCacheCtrl": ("lsc_extended_cache_ctrl.ugm.ca.ca.set.64B (M1, 16) flat[VUQ]:a64",),
    "LscUntypedStore": (
        "lsc_store.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "(P1) lsc_store.ugm.wt.wb (M1, 16) bss(VU)[VU]:a32 VU:d16u32h",
        "lsc_store_quad.ugm (M1, 16) flat[VUQ]:a64 VU:d32.xw",
        "lsc_store_uncompressed.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "lsc_ccs_update.ugm (M1, 16) flat[VUQ]:a64 VU:d32",
        "lsc_store_strided.ugm (M1, 16) flat[VUQ,0x20]:a64 VU:d32",
    ),
    "LscUntypedAtomic": (
        *tuple(
            f"lsc_atomic_{op}.ugm (M1, 16) VU:d32 flat[VUQ]:a64 VU %null"
            for op in [
                "iinc",
                "idec",
                "load",
                "store",
                "iadd",
                "isub",
                "smin",
                "smax",
                "umin",
                "umax",
                "icas",
                "fadd",
                "fsub",
                "fmin",
                "fmax",
                "fcas",
                "and",
                "or",
                "xor",
                "bfadd",
                "bfsub",
                "bfmin",
                "bfmax",
                "bfcas",
            ]
        ),
        "lsc_atomic_iadd.ugm (M1, 16) %null:d32 flat[%null] VU %null",
        "lsc_apndctr_atomic_add.ugm (M1, 16) VU:d32 bti(0x4) VU:d32",
        "lsc_apndctr_atomic_sub.ugm (M1, 16) VU:d32 ss(VU) VU:d32",
        "lsc_apndctr_atomic_store.ugm (M1, 16) VU:d32 bti(0x4) VU:d32",
    ),
    "LscTyped": (
        "lsc_load_quad.tgm (M1, 8) VU:d32.xyzw bti(0x3)[VU,VU]:a32",
        "lsc_load_quad.tgm (M1, 8) VU:d32.x bss(VU)[VU+1,VU-2,VU.64,VU]:a32",
        "lsc_store_quad.tgm (M1, 8) bti(0x3)[VU,VU]:a32 VU:d32.x",
        "lsc_load_quad_status.tgm (M1, 8) VU:d32.x bti(0x3)[VU,VU]:a32",
        "lsc_atomic_icas.tgm (M1, 8) VU:d32 bti(0x3)[VU,VU]:a32 VU VU",
        "lsc_atomic_iadd.tgm.uc.uc.msaa (M1, 8) VU:d32 bti(0x3)[VU,VU]:a32 VU %null",
        "lsc_read_state_info.tgm VU bti(0x4)[VU]",
        "lsc_read_state_info.tgm VU bti(0x4)",
        "lsc_load_quad_msrt.tgm (M1, 8) VU:d32.xyzw bti(0x3)[VU,VU,VU]:a32",
        "lsc_store_quad_msrt.tgm (M1, 8) bti(0x3)[VU,VU,VU]:a32 VU:d32.xyzw",
        "lsc_load_block2d.tgm VU:32x8 bss(VU)[VU,VU+4]",
        "lsc_load_block2d.tgm.ca.ca VU:32x8 bti(0x3)[0x4,0x8]",
        "lsc_store_block2d.tgm bss(VU, 1)[VU,VU] VU:16x4",
    ),
    "LscFence": tuple(
        f"lsc_fence.{sfid}.{op}.{scope}"
        for sfid, op, scope in (
            ("ugm", "none", "group"),
            ("ugml", "evict", "local"),
            ("tgm", "invalidate", "tile"),
            ("slm", "discard", "gpu"),
            ("ugm", "clean", "gpus"),
            ("tgm", "flushl3", "sysrel"),
            ("ugm", "type6", "sysacq"),
        )
    ),
    "BranchInstruction": (
        "jmp (M1, 1) L1",
        '(P1) goto (M1, 16) "L1"',
        "call (M1, 16) sub",
        "fccall (M1, 16) sub",
        "ret (M1, 1)",
        "(P1) fret (M1, 16)",
        "switchjmp (M1, 1) VU(0,0)<0;1,0> (L1, L2)",
        "switchjmp (M1, 1) VU(0,0)<0;1,0> (L1 L2)",
        "(P1) fcall (M1, 16) foo 3 2",
        "ifcall (M1, 16) VU(0,0)<0;1,0> 3 2",
        "ifcall.uniform (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "ifcall.noreturn (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "(P1) ifcall.uniform.noreturn (M1, 16) VUQ(0,0)<0;1,0> 3 2",
        "faddr foo VU(0,0)<1>",
        'faddr "foo bar" r[A0(0),0]<1>:ud',
    ),
    "FILE": ('FILE "a.cm"', '.file "a.cm"'),
    "LOC": ("LOC 12", ".loc 12"),
    "RawSendInstruction": (
        "raw_send (M1, 8) 0x2 4 4 0x12345:ud VU.0 VU.64",
        "(P1) raw_sendc (M1, 8) 0x2 4 4 VU(0,0)<0;1,0> VU.0 VU.64",
    ),
    "Lifetime": ("lifetime.start VD", "lifetime.end VD", "lifetime.start A0", "lifetime.end P1"),
    "RawSendsInstruction": (
        "raw_sends.10.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
        "(P1) raw_sends_eot.10.1.1.1 (M1, 8) VU(0,0)<0;1,0> 0x2106e00:ud VU.0 VU.64 %null.0",
        "raw_sendsc.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
        "raw_sendsc_eot.1.1.1 (M1, 8) 0x10:ud 0x2106e00:ud VU.0 VU.64 VU.128",
    ),
    "RawSendgInstruction": (
        "raw_sendg.ugm (M1, 16) VU.0/128 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x0000000002000100",
        "raw_sendg.14 (M1, 16) VU.0/0x80 VUQ.0/(64*2) VU.64/64 VU(0,0)<0;1,0> 0x0:uq 0x2000100",
        "(P1) raw_sendgc.tgm (M1, 16) VU.0/128 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud (0x2000100)",
        "raw_sendg_eot.(7+7) (M1, 16) %null.0/0 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x2000100",
        "raw_sendgc_eot.gtwy (M1, 16) %null.0/0 VUQ.0/128 %null.0/0 0x0:ud 0x0:ud 0x2000100",
        "raw_sendg.slm (M1, 16) VU.0 / 128 VUQ.0 / 128 %null.0 / 0 0x0:ud 0x0:ud 7",
    ),
    "NullaryInstruction": (
        "sampler_cache_flush",
        "wait 0x0:ud",
        "wait VUB(0,0)<0;1,0>",
        "yield",
        "fence_global",
        "fence_global.EISCRL1",
        "fence_global.E",
        "fence_local",
        "fence_local.ECR",
        "fence_sw",
    ),
    "ShflIdx4Instruction": (f"(P1) shfl_idx4 (M1, 16) VU.0 {U1} {U1}",),
    "LfsrInstruction": (
        *tuple(f"lfsr.{f} (M1, 16) VU(0,0)<1> {U1} {U1}" for f in ("b32", "b16v2", "b8v4")),
        f"lfsr.b32 (M1, 16) VU(0,0)<1> {U1} 0x1:ud",
    ),
    "DnsclInstruction": tuple(
        f"dnscl.{t}.mode{n}.{r} (M1, 16) VU.0 VU.64 VU.128 %null.0"
        for n, (t, r) in enumerate(
            (("bftoe2m1", "srnd"), ("bftoint4", "rne"), ("hftoe2m1", "srnd"), ("hftoint4", "rne"))
        )
    ),
    "BreakpointInstruction": ("breakpoint",),
    "AntiTrigInstruction": tuple(f"{m} (M1, 16) VF(0,0)<1> {F1}" for m in ("asin", "acos", "atan")),
    "ExecSize": (
        f"add (16) VD(0,0)<1> {G1} 0x1:d",
        f"add (NoMask, 16) VD(0,0)<1> {G1} 0x1:d",
        "add (M8, 4) VD(0,0)<1> VD(0,0)<4;4,1> 0x1:d",
        "add (M8_NM, 4) VD(0,0)<1> VD(0,0)<4;4,1> 0x1:d",
        "add(M1,16)VD(0,0)<1>VD(0,0)<1;1,0>0x1:d",
    ),
    "VecSrcOperand": (
        "or (M1, 16) VU(0,0)<1> (~)VU(0,0)<1;1,0> 0x1:ud",
        "mov (M1, 1) VU(0,0)<1> %r0(0,1)<0;1,0>",
        "mov (M1, 1) %null(0,0)<1> VU(0,0)<0;1,0>",
        "mov (M1, 16) VD(0,0)<1> (-) VD(0,0)<1;1,0>",
    ),
}
