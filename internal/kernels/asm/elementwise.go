package main

import (
	"fmt"
	"math"
	"strings"
)

// elementwise writes the kernels that treat eight numbers at a time, n > 0 a multiple of eight. The
// constants and the order of operations are those of the Go twins in elementwise.go of package
// matrix.
func elementwise(w *strings.Builder) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	constant := func(x float32, reg string) {
		p("\tMOVL $0x%08x, AX // %g", math.Float32bits(x), x)
		p("\tVMOVD AX, X%s", reg[1:])
		p("\tVBROADCASTSS X%s, %s", reg[1:], reg)
	}
	integer := func(x uint32, reg string) {
		p("\tMOVL $0x%08x, AX", x)
		p("\tVMOVD AX, X%s", reg[1:])
		p("\tVPBROADCASTD X%s, %s", reg[1:], reg)
	}
	end := func() {
		p("\tSUBQ $8, CX")
		p("\tJNZ  loop")
		p("\tVZEROUPPER")
		p("\tRET")
	}

	p("\n// func expAVX2(n int, dst, src *float32)")
	p("TEXT ·expAVX2(SB), NOSPLIT, $0-24")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ src+16(FP), SI")
	constant(expMin, "Y15")
	constant(expMax, "Y14")
	constant(log2e, "Y13")
	constant(ln2Hi, "Y12")
	constant(ln2Lo, "Y11")
	for i, c := range expPoly {
		constant(c, fmt.Sprint("Y", 10-i)) // Y10..Y5
	}
	constant(1, "Y4")
	p("loop:")
	p("\tVMOVUPS (SI), Y0")
	p("\tVMAXPS Y0, Y15, Y0")
	p("\tVMINPS Y0, Y14, Y0")
	p("\tVMULPS Y13, Y0, Y1")
	p("\tVROUNDPS $0, Y1, Y1          // n, nearest, ties to even")
	p("\tVFNMADD231PS Y12, Y1, Y0     // r = x − n·ln 2")
	p("\tVFNMADD231PS Y11, Y1, Y0")
	p("\tVMOVAPS Y10, Y2")
	for i := 1; i < len(expPoly); i++ {
		p("\tVFMADD213PS Y%d, Y0, Y2", 10-i)
	}
	p("\tVMULPS Y0, Y0, Y3")
	p("\tVFMADD213PS Y0, Y3, Y2       // r + r²·p")
	p("\tVADDPS Y4, Y2, Y2")
	p("\tVCVTPS2DQ Y1, Y1")
	p("\tVPSLLD $23, Y1, Y1")
	p("\tVPADDD Y1, Y2, Y2            // times 2ⁿ")
	p("\tVMOVUPS Y2, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI")
	end()

	p("\n// func negLogAVX2(n int, dst, src *float32)")
	p("TEXT ·negLogAVX2(SB), NOSPLIT, $0-24")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ src+16(FP), SI")
	for i, c := range logPoly {
		constant(c, fmt.Sprint("Y", 15-i)) // Y15..Y7
	}
	integer(sqrtHalfBits, "Y6")
	constant(1, "Y5")
	p("loop:")
	p("\tVMOVUPS (SI), Y0")
	p("\tVPSUBD Y6, Y0, Y1            // bits − bits(√½): its exponent field is e")
	p("\tVPSRAD $23, Y1, Y1")
	p("\tVPSLLD $23, Y1, Y2")
	p("\tVPSUBD Y2, Y0, Y0            // m in [√½, √2)")
	p("\tVCVTDQ2PS Y1, Y1             // e")
	p("\tVSUBPS Y5, Y0, Y0            // f = m − 1")
	p("\tVMOVAPS Y15, Y2")
	for i := 1; i < len(logPoly); i++ {
		p("\tVFMADD213PS Y%d, Y0, Y2", 15-i)
	}
	p("\tVMULPS Y0, Y0, Y3            // f²")
	p("\tVMULPS Y0, Y2, Y2")
	p("\tVMULPS Y3, Y2, Y2            // f³·p")
	for _, step := range []struct {
		c    float32
		with string
	}{{logLo, "Y1"}, {-0.5, "Y3"}} {
		constant(step.c, "Y4")
		p("\tVFMADD231PS Y4, %s, Y2", step.with)
	}
	p("\tVADDPS Y0, Y2, Y2")
	constant(logHi, "Y4")
	p("\tVFMADD231PS Y4, Y1, Y2")
	p("\tVXORPS Y0, Y0, Y0")
	p("\tVSUBPS Y2, Y0, Y2")
	p("\tVMOVUPS Y2, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI")
	end()

	p("\n// func adamAVX2(n int, w, m, v, gradient *float32, step *adamStep)")
	p("TEXT ·adamAVX2(SB), NOSPLIT, $0-48")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ w+8(FP), DI\n\tMOVQ m+16(FP), SI\n\tMOVQ v+24(FP), R8\n" +
		"\tMOVQ gradient+32(FP), R9\n\tMOVQ step+40(FP), R10")
	for i := range 6 { // beta1, 1−beta1, beta2, 1−beta2, rate, epsilon
		p("\tVBROADCASTSS %d(R10), Y%d", 4*i, 10+i)
	}
	p("loop:")
	p("\tVMOVUPS (R9), Y0")
	p("\tVMULPS (SI), Y10, Y1")
	p("\tVFMADD231PS Y11, Y0, Y1\n\tVMOVUPS Y1, (SI)")
	p("\tVMULPS (R8), Y12, Y2")
	p("\tVMULPS Y0, Y0, Y0")
	p("\tVFMADD231PS Y13, Y0, Y2\n\tVMOVUPS Y2, (R8)")
	p("\tVSQRTPS Y2, Y2\n\tVADDPS Y15, Y2, Y2")
	p("\tVMULPS Y14, Y1, Y1\n\tVDIVPS Y2, Y1, Y1")
	p("\tVMOVUPS (DI), Y0\n\tVSUBPS Y1, Y0, Y0\n\tVMOVUPS Y0, (DI)")
	p("\tADDQ $32, DI\n\tADDQ $32, SI\n\tADDQ $32, R8\n\tADDQ $32, R9")
	end()
}

// The constants of exp and log are those of the Cephes library (Moshier, expf.c and logf.c).
const (
	expMin = -87.3
	expMax = 88.0
	log2e  = 1.44269504088896341
	ln2Hi  = 0.693359375
	ln2Lo  = -2.12194440e-4
	logHi  = 0.693359375
	logLo  = -2.12194440e-4

	sqrtHalfBits = 0x3f3504f3
)

var (
	expPoly = []float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
		1.6666665459e-1, 5.0000001201e-1}
	logPoly = []float32{7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
		1.4249322787e-1, -1.6668057665e-1,
		2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1}
)
