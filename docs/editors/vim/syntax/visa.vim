" Vim syntax file of vISA assembly, for Vim 8 and later and for Neovim.
" Made by python -m visa_lsp.generate; docs/editors/README.md says how to use it.

if exists('b:current_syntax')
  finish
endif
let s:cpo = &cpo
set cpo&vim

syntax case match
syntax iskeyword @,48-57,_

" Where several begin at one place, the last one that stands here wins.
syntax match visaVariable /[A-Za-z_$@?][A-Za-z0-9_$@?]*/
syntax match visaNumber /\<\d\+\%(\.\d\+\)\?\%([eE][-+]\?\d\+\)\?\>/
syntax match visaNumber /\<0[xX]\x\+\>/
syntax match visaRegion /<[0-9;, ]\+>/
syntax match visaSourceModifier /(\%(-abs\|-\|abs\|\~\|not\))/
syntax match visaMask /\<\%(M[1-8]\%(_NM\)\?\|NoMask\)\>/
syntax match visaRegister /%[A-Za-z_][A-Za-z0-9_]*/
syntax region visaString start=/"/ skip=/\\./ end=/"/ oneline
syntax match visaType /:\s*\zs\%(bool\|e2m1\|tf32\|bf8\|hf8\|bf\|df\|hf\|ub\|ud\|uq\|uv\|uw\|vf\|b\|d\|f\|q\|v\|w\)\>/
syntax match visaAttribute /\<\%(num_elts\|alias\|attrs\|v_name\|offset\|size\)\ze\s*=/
syntax match visaAttribute /\<\%(type\|v_type\|align\)\ze\s*=/ nextgroup=visaEquals skipwhite
syntax match visaEquals /=/ contained nextgroup=visaWord skipwhite
syntax match visaWord /[A-Za-z0-9_]\+/ contained
syntax match visaStart /^\s*\%({\s*\)*/ nextgroup=visaPredicate,visaInstruction,visaControl
syntax match visaPredicate /([^()]*)\s*/ contained contains=visaVariable,visaModifier nextgroup=visaInstruction,visaControl
syntax match visaModifier /\%(\s*\.\s*[A-Za-z0-9_<>]\+\)\+/ contained
syntax keyword visaInstruction contained nextgroup=visaModifier
  \ acos add add3 addc addr_add and asin asr atan avg avs bdpas bfe bfi bfn bfrev breakpoint cbit cmp cos div divm
  \ dnscl dp2 dp3 dp4 dp4a dpas dpasw dph dword_atomic exp fbh fbl fcvt frc gather gather4_scaled gather4_typed
  \ gather_scaled inv invm lfsr line load load_2dms_w load_3d load_l load_lz load_mcs lod log lrp
  \ lsc_apndctr_atomic_add lsc_apndctr_atomic_store lsc_apndctr_atomic_sub lsc_atomic_and lsc_atomic_bfadd
  \ lsc_atomic_bfcas lsc_atomic_bfmax lsc_atomic_bfmin lsc_atomic_bfsub lsc_atomic_fadd lsc_atomic_fcas
  \ lsc_atomic_fmax lsc_atomic_fmin lsc_atomic_fsub lsc_atomic_iadd lsc_atomic_icas lsc_atomic_idec lsc_atomic_iinc
  \ lsc_atomic_isub lsc_atomic_load lsc_atomic_or lsc_atomic_smax lsc_atomic_smin lsc_atomic_store lsc_atomic_umax
  \ lsc_atomic_umin lsc_atomic_xor lsc_ccs_update lsc_extended_cache_ctrl lsc_fence lsc_load lsc_load_block2d
  \ lsc_load_quad lsc_load_quad_msrt lsc_load_quad_status lsc_load_status lsc_load_strided lsc_read_state_info
  \ lsc_store lsc_store_block2d lsc_store_quad lsc_store_quad_msrt lsc_store_strided lsc_store_uncompressed lzd mad
  \ madw max media_ld media_st min mod mov movs mul mulh not or oword_ld oword_ld_unaligned oword_st plane pow
  \ qw_gather qw_scatter raw_send raw_sendc raw_sendg raw_sendg_eot raw_sendgc raw_sendgc_eot raw_sends raw_sends_eot
  \ raw_sendsc raw_sendsc_eot resinfo rndd rnde rndu rndz rol ror rsqrt rsqtm rt_write_3d sad2 sad2add sample sample4
  \ sample4_b sample4_c sample4_i sample4_i_c sample4_l sample4_l_c sample4_po sample4_po_b sample4_po_c sample4_po_i
  \ sample4_po_i_c sample4_po_l sample4_po_l_c sample_3d sample_b sample_b_c sample_c sample_c_lz sample_c_mlod
  \ sample_d sample_d_c sample_d_c_mlod sample_l sample_l_c sample_lz sample_mlod sample_po sample_po_b sample_po_b_c
  \ sample_po_c sample_po_c_lz sample_po_d sample_po_d_c sample_po_l sample_po_l_c sample_po_lz sample_unorm
  \ sampleinfo scatter scatter4_scaled scatter4_typed scatter_scaled sel setp shfl_idx4 shl shr sigm sin sqrt sqrtm
  \ srnd subb svm_atomic svm_block_ld svm_block_st svm_gather svm_gather4scaled svm_scatter svm_scatter4scaled tanh
  \ typed_atomic urb_write_3d va_boolcentroid va_centroid va_convolve_1d_h va_convolve_1d_v va_convolve_1pixel
  \ va_convolve_2d va_correlationsearch va_dilate va_erode va_floodfill va_hdc_convolve_1d_h va_hdc_convolve_1d_v
  \ va_hdc_convolve_1pixel va_hdc_convolve_2d va_hdc_dilate va_hdc_erode va_hdc_lbpcorrelation va_hdc_lbpcreation
  \ va_hdc_minmaxfilter va_lbpcorrelation va_lbpcreation va_minmax va_minmaxfilter vme_fbr vme_idm vme_ime vme_sic xor
syntax keyword visaControl contained nextgroup=visaModifier
  \ FILE LOC barrier break call cont do else endif faddr fcall fccall fence_global fence_local fence_sw file fret goto
  \ if ifcall jmp lifetime loc nbarrier ret sampler_cache_flush sbarrier switchjmp wait while yield
syntax match visaDirective /^\s*\%({\s*\)*\zs\.\%(global_function\|kernel_attr\|parameter\|funcdecl\|function\|version\|kernel\|input\|decl\|file\|loc\|implicit[A-Za-z0-9_]*\)\>/
syntax match visaLabel /^[A-Za-z_$@?][A-Za-z0-9_$@?-]*\s*:\ze\s*\%($\|}\|\/\/\|\/\*\)/
syntax match visaComment /\/\/.*$/ contains=@Spell
syntax region visaComment start=/\/\*/ end=/\*\// contains=@Spell
syntax sync ccomment visaComment

highlight default link visaVariable Identifier
highlight default link visaNumber Number
highlight default link visaRegion Operator
highlight default link visaSourceModifier Operator
highlight default link visaMask Constant
highlight default link visaRegister Special
highlight default link visaString String
highlight default link visaModifier StorageClass
highlight default link visaInstruction Statement
highlight default link visaControl Conditional
highlight default link visaType Type
highlight default link visaWord Type
highlight default link visaAttribute Label
highlight default link visaDirective PreProc
highlight default link visaLabel Function
highlight default link visaComment Comment

let b:current_syntax = 'visa'
let &cpo = s:cpo
unlet s:cpo
