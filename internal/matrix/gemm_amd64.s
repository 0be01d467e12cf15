// The product of two matrices with AVX2 and fused multiply-add; mulPlain in gemm.go is its Go twin.

#include "textflag.h"

#define ZERO2(a, b) VXORPS a, a, a; VXORPS b, b, b
#define ADD2(at, x, a, b) VBROADCASTSS at, x; VFMADD231PS Y12, x, a; VFMADD231PS Y13, x, b
#define SCALE2(a, b) VMULPS Y12, a, a; VMULPS Y12, b, b
#define PUT2(a, b) VMOVUPS a, (DX); VMOVUPS b, 32(DX); ADDQ R12, DX
#define SUM2(a, b) VADDPS (DX), a, a; VADDPS 32(DX), b, b; PUT2(a, b)

// tileAVX2 holds a tile of 6 rows × 16 columns of the product in registers and walks over k once:
//
//	tile[i][j] = Σ_k a[i·rs + k·cs]·b[k·16 + j]
//
// with one fused multiply-add per element and step, so that an element is summed in one order
// wherever it is in its tile. Then it sets c, whose rows are ldc bytes apart, to alpha times the
// tile, or adds that.
//
// func tileAVX2(k int, a *float32, rs, cs int, b, c *float32, ldc int, alpha float32, add int)
TEXT ·tileAVX2(SB), NOSPLIT, $0-72
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), DI
	MOVQ rs+16(FP), R9
	MOVQ cs+24(FP), R11
	MOVQ b+32(FP), BX
	MOVQ c+40(FP), DX
	MOVQ ldc+48(FP), R12
	MOVQ add+64(FP), AX
	LEAQ (R9)(R9*2), R10
	LEAQ (DI)(R9*4), SI
	ZERO2(Y0, Y1)
	ZERO2(Y2, Y3)
	ZERO2(Y4, Y5)
	ZERO2(Y6, Y7)
	ZERO2(Y8, Y9)
	ZERO2(Y10, Y11)
	TESTQ CX, CX
	JZ store
loop:
	VMOVUPS (BX), Y12
	VMOVUPS 32(BX), Y13
	ADD2((DI), Y14, Y0, Y1)
	ADD2((DI)(R9*1), Y15, Y2, Y3)
	ADD2((DI)(R9*2), Y14, Y4, Y5)
	ADD2((DI)(R10*1), Y15, Y6, Y7)
	ADD2((SI), Y14, Y8, Y9)
	ADD2((SI)(R9*1), Y15, Y10, Y11)
	ADDQ R11, DI
	ADDQ R11, SI
	ADDQ $64, BX
	DECQ CX
	JNZ loop
store:
	VBROADCASTSS alpha+56(FP), Y12
	SCALE2(Y0, Y1)
	SCALE2(Y2, Y3)
	SCALE2(Y4, Y5)
	SCALE2(Y6, Y7)
	SCALE2(Y8, Y9)
	SCALE2(Y10, Y11)
	TESTQ AX, AX
	JZ overwrite
	SUM2(Y0, Y1)
	SUM2(Y2, Y3)
	SUM2(Y4, Y5)
	SUM2(Y6, Y7)
	SUM2(Y8, Y9)
	SUM2(Y10, Y11)
	VZEROUPPER
	RET
overwrite:
	PUT2(Y0, Y1)
	PUT2(Y2, Y3)
	PUT2(Y4, Y5)
	PUT2(Y6, Y7)
	PUT2(Y8, Y9)
	PUT2(Y10, Y11)
	VZEROUPPER
	RET
