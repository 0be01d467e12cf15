#include "textflag.h"

// Two rows of the panel times the sixteen columns in Y12 and Y13.
#define TWO_ROWS(at, s0, s1, s2, s3) \
	VBROADCASTSS at(SI), Y14 \
	VBROADCASTSS at+4(SI), Y15 \
	VFMADD231PS Y12, Y14, s0 \
	VFMADD231PS Y13, Y14, s1 \
	VFMADD231PS Y12, Y15, s2 \
	VFMADD231PS Y13, Y15, s3

// The bits of the columns where the sums of a row exceed its threshold or theirs, in Y12 and Y13.
#define COMPARE(at, s0, s1) \
	VBROADCASTSS at(R8), Y14 \
	VMINPS Y12, Y14, Y15 \
	VMINPS Y13, Y14, Y14 \
	VCMPPS $0x1e, Y15, s0, Y15 \
	VCMPPS $0x1e, Y14, s1, Y14 \
	VMOVMSKPS Y15, R11 \
	VMOVMSKPS Y14, R12 \
	SHLL $8, R12 \
	ORL R12, R11 \
	MOVL R11, at(R10) \
	ORL R11, AX

// func tileAVX2(depth int, a, b []float32, row, col, hits) uint32
// a holds 6·depth floats and b 16·depth; depth is at least 1.
TEXT ·tileAVX2(SB), NOSPLIT, $0-84
	MOVQ depth+0(FP), CX
	MOVQ a_base+8(FP), SI
	MOVQ b_base+32(FP), DI
	MOVQ row+56(FP), R8
	MOVQ col+64(FP), R9
	MOVQ hits+72(FP), R10
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11

loop:
	VMOVUPS (DI), Y12
	VMOVUPS 32(DI), Y13
	TWO_ROWS(0, Y0, Y1, Y2, Y3)
	TWO_ROWS(8, Y4, Y5, Y6, Y7)
	TWO_ROWS(16, Y8, Y9, Y10, Y11)
	ADDQ $24, SI
	ADDQ $64, DI
	DECQ CX
	JNZ loop

	VMOVUPS (R9), Y12
	VMOVUPS 32(R9), Y13
	XORL AX, AX
	COMPARE(0, Y0, Y1)
	COMPARE(4, Y2, Y3)
	COMPARE(8, Y4, Y5)
	COMPARE(12, Y6, Y7)
	COMPARE(16, Y8, Y9)
	COMPARE(20, Y10, Y11)
	VZEROUPPER
	MOVL AX, ret+80(FP)
	RET
