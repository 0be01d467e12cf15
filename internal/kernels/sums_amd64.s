// Kernels with AVX2 and fused multiply-add. Their Go twins are in relu.go and sums.go.

#include "textflag.h"

// ARGS takes the first arguments of a kernel that goes along dst and another slice, NEXT goes on by
// 32 bytes of dst, n numbers, and ends it.
#define ARGS(src) MOVQ n+0(FP), CX; MOVQ dst+8(FP), DI; MOVQ src(FP), SI
#define NEXT(n, bytes) ADDQ $bytes, SI; ADDQ $32, DI; SUBQ $n, CX; JNZ loop; VZEROUPPER; RET

// PRODUCT takes the arguments of a product.
#define PRODUCT \
	MOVQ k+0(FP), CX; MOVQ dst+8(FP), DI; MOVQ x+16(FP), SI; MOVQ w+24(FP), BX; MOVQ ldw+32(FP), R9

// func leakyAVX2(n int, dst, src *float32, slope float32)
TEXT ·leakyAVX2(SB), NOSPLIT, $0-28
	ARGS(src+16)
	VBROADCASTSS slope+24(FP), Y0
loop:
	VMOVUPS (SI), Y1
	VMULPS Y0, Y1, Y2
	VMAXPS Y1, Y2, Y1
	VMOVUPS Y1, (DI)
	NEXT(8, 32)

// func addScaledAVX2(n int, dst *int64, x int64, y *int64)
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32
	ARGS(y+24)
	VPBROADCASTQ x+16(FP), Y0
loop:
	VPMULDQ (SI), Y0, Y1
	VPADDQ (DI), Y1, Y1
	VMOVDQU Y1, (DI)
	NEXT(4, 32)

// func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)
TEXT ·roundAVX2(SB), NOSPLIT, $0-40
	ARGS(src+16)
	VBROADCASTSD factor+24(FP), Y0
	VBROADCASTSD magic+32(FP), Y1
loop:
	VCVTPS2PD (SI), Y2
	VMULPD Y0, Y2, Y2
	VADDPD Y1, Y2, Y2
	VPSUBQ Y1, Y2, Y2
	VMOVDQU Y2, (DI)
	NEXT(4, 16)

// func addAVX2(n int, dst, src *float32)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	ARGS(src+16)
loop:
	VMOVUPS (SI), Y0
	VADDPS (DI), Y0, Y0
	VMOVUPS Y0, (DI)
	NEXT(8, 32)

// func descendAVX2(n int, dst, s *float32, slope float32)
TEXT ·descendAVX2(SB), NOSPLIT, $0-28
	ARGS(s+16)
	VBROADCASTSS slope+24(FP), Y0
	VXORPS Y3, Y3, Y3
loop:
	VMOVUPS (SI), Y1
	VMOVUPS (DI), Y2
	VCMPPS $0x1e, Y3, Y1, Y1 // s > 0
	VMULPS Y0, Y2, Y4
	VBLENDVPS Y1, Y2, Y4, Y2
	VMOVUPS Y2, (DI)
	NEXT(8, 32)

// The products keep dst in registers, and add to it x[i]·w[i][j] for one i after the other.
#define STEP ADDQ $4, SI; ADDQ R9, BX; DECQ CX; JNZ loop
#define TAKE2(at, a, b) VMOVUPS at(DI), a; VMOVUPS at+32(DI), b
#define ADD2(at, a, b) VFMADD231PS at(BX), Y15, a; VFMADD231PS at+32(BX), Y15, b
#define GIVE2(at, a, b) VMOVUPS a, at(DI); VMOVUPS b, at+32(DI)

// func productAVX2x64(k int, dst, x, w *float32, ldw int)
TEXT ·productAVX2x64(SB), NOSPLIT, $0-40
	PRODUCT
	TAKE2(0, Y0, Y1)
	TAKE2(64, Y2, Y3)
	TAKE2(128, Y4, Y5)
	TAKE2(192, Y6, Y7)
loop:
	VBROADCASTSS (SI), Y15
	ADD2(0, Y0, Y1)
	ADD2(64, Y2, Y3)
	ADD2(128, Y4, Y5)
	ADD2(192, Y6, Y7)
	STEP
	GIVE2(0, Y0, Y1)
	GIVE2(64, Y2, Y3)
	GIVE2(128, Y4, Y5)
	GIVE2(192, Y6, Y7)
	VZEROUPPER
	RET

// func productAVX2x8(k int, dst, x, w *float32, ldw int)
TEXT ·productAVX2x8(SB), NOSPLIT, $0-40
	PRODUCT
	VMOVUPS (DI), Y0
loop:
	VBROADCASTSS (SI), Y15
	VFMADD231PS (BX), Y15, Y0
	STEP
	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET

// The outer products keep four rows of eight numbers of dst in registers, and add to them
// x[i][k]·y[i][j] for one i after the other.
#define TAKE(at, a, b) VMOVDQU 0 at, a; VMOVDQU 32 at, b
#define GIVE(at, a, b) VMOVDQU a, 0 at; VMOVDQU b, 32 at
#define OUTER(k, a, p, b, q) \
	VPBROADCASTQ k(SI), Y10; \
	VPMULDQ Y8, Y10, p; VPADDQ p, a, a; \
	VPMULDQ Y9, Y10, q; VPADDQ q, b, b

// func outerAVX2(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)
TEXT ·outerAVX2(SB), NOSPLIT, $0-56
	MOVQ n+0(FP), CX
	MOVQ dst+8(FP), DI
	MOVQ ldd+16(FP), R8
	MOVQ x+24(FP), SI
	MOVQ ldx+32(FP), R9
	MOVQ y+40(FP), BX
	MOVQ ldy+48(FP), R10
	LEAQ (R8)(R8*2), R11
	TAKE((DI), Y0, Y1)
	TAKE((DI)(R8*1), Y2, Y3)
	TAKE((DI)(R8*2), Y4, Y5)
	TAKE((DI)(R11*1), Y6, Y7)
loop:
	VMOVDQU (BX), Y8
	VMOVDQU 32(BX), Y9
	OUTER(0, Y0, Y11, Y1, Y12)
	OUTER(8, Y2, Y13, Y3, Y14)
	OUTER(16, Y4, Y15, Y5, Y11)
	OUTER(24, Y6, Y12, Y7, Y13)
	ADDQ R9, SI
	ADDQ R10, BX
	DECQ CX
	JNZ loop
	GIVE((DI), Y0, Y1)
	GIVE((DI)(R8*1), Y2, Y3)
	GIVE((DI)(R8*2), Y4, Y5)
	GIVE((DI)(R11*1), Y6, Y7)
	VZEROUPPER
	RET
