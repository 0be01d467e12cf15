package main

import (
	"fmt"
	"strings"
)

// sums writes the kernels of package kernels that treat four int64, or eight float32, at a time.
func sums(w *strings.Builder) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	p("\n// func leakyAVX2(n int, dst, src *float32, slope float32)")
	p("TEXT ·leakyAVX2(SB), NOSPLIT, $0-28")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ src+16(FP), SI")
	p("\tVBROADCASTSS slope+24(FP), Y0")
	p("loop:")
	p("\tVMOVUPS (SI), Y1\n\tVMULPS Y0, Y1, Y2\n\tVMAXPS Y1, Y2, Y1\n\tVMOVUPS Y1, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI")
	p("\tSUBQ $8, CX\n\tJNZ  loop\n\tVZEROUPPER\n\tRET")

	p("\n// func addScaledAVX2(n int, dst *int64, x int64, y *int64)")
	p("TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ y+24(FP), SI")
	p("\tVPBROADCASTQ x+16(FP), Y0")
	p("loop:")
	p("\tVPMULDQ (SI), Y0, Y1\n\tVPADDQ (DI), Y1, Y1\n\tVMOVDQU Y1, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI\n\tSUBQ $4, CX\n\tJNZ  loop\n\tVZEROUPPER\n\tRET")

	p("\n// func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)")
	p("TEXT ·roundAVX2(SB), NOSPLIT, $0-40")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ src+16(FP), SI")
	p("\tVBROADCASTSD factor+24(FP), Y0\n\tVBROADCASTSD magic+32(FP), Y1")
	p("loop:")
	p("\tVCVTPS2PD (SI), Y2\n\tVMULPD Y0, Y2, Y2\n\tVADDPD Y1, Y2, Y2\n" +
		"\tVPSUBQ Y1, Y2, Y2\n\tVMOVDQU Y2, (DI)")
	p("\tADDQ $16, SI\n\tADDQ $32, DI\n\tSUBQ $4, CX\n\tJNZ  loop\n\tVZEROUPPER\n\tRET")

	p("\n// func addAVX2(n int, dst, src *float32)")
	p("TEXT ·addAVX2(SB), NOSPLIT, $0-24")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ src+16(FP), SI")
	p("loop:")
	p("\tVMOVUPS (SI), Y0\n\tVADDPS (DI), Y0, Y0\n\tVMOVUPS Y0, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI\n\tSUBQ $8, CX\n\tJNZ  loop\n\tVZEROUPPER\n\tRET")

	p("\n// func descendAVX2(n int, dst, s *float32, slope float32)")
	p("TEXT ·descendAVX2(SB), NOSPLIT, $0-28")
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ s+16(FP), SI")
	p("\tVBROADCASTSS slope+24(FP), Y0\n\tVXORPS Y3, Y3, Y3")
	p("loop:")
	p("\tVMOVUPS (SI), Y1\n\tVMOVUPS (DI), Y2\n\tVCMPPS $0x1e, Y3, Y1, Y1 // s > 0")
	p("\tVMULPS Y0, Y2, Y4\n\tVBLENDVPS Y1, Y2, Y4, Y2\n\tVMOVUPS Y2, (DI)")
	p("\tADDQ $32, SI\n\tADDQ $32, DI\n\tSUBQ $8, CX\n\tJNZ  loop\n\tVZEROUPPER\n\tRET")
}

// product describes a kernel that adds to vectors·8 float32, held in registers, the products of k
// numbers with as many rows:
//
//	dst[j] += Σ_i x[i]·w[i][j]
type product struct {
	name    string
	vectors int
}

func (o product) write(w *strings.Builder) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	p("\n// func %s(k int, dst, x, w *float32, ldw int)", o.name)
	p("TEXT ·%s(SB), NOSPLIT, $0-40", o.name)
	p("\tMOVQ k+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ x+16(FP), SI\n\tMOVQ w+24(FP), BX\n" +
		"\tMOVQ ldw+32(FP), R9")
	for j := range o.vectors {
		p("\tVMOVUPS %d(DI), Y%d", 32*j, j)
	}
	p("loop:\n\tVBROADCASTSS (SI), Y15")
	for j := range o.vectors {
		p("\tVFMADD231PS %d(BX), Y15, Y%d", 32*j, j)
	}
	p("\tADDQ $4, SI\n\tADDQ R9, BX\n\tDECQ CX\n\tJNZ  loop")
	for j := range o.vectors {
		p("\tVMOVUPS Y%d, %d(DI)", j, 32*j)
	}
	p("\tVZEROUPPER\n\tRET")
}
