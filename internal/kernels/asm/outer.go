package main

import (
	"fmt"
	"strings"
)

// outer describes a kernel that adds to a tile of 4 rows × cols·lanes int64, held in registers, the
// products of n rows:
//
//	dst[k][j] += Σ_i x[i][k]·y[i][j]       k < 4
//
// Registers 0.. are the tile, then cols of y, one of x, and the rest take products in turn.
type outer struct {
	name  string
	vec   string // Y or Z
	lanes int
	cols  int // vectors
	regs  int
}

func (o outer) write(w *strings.Builder) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	const rows = 4
	move := map[string]string{"Y": "VMOVDQU", "Z": "VMOVDQU64"}[o.vec]
	tile := func(k, j int) string { return fmt.Sprint(o.vec, k*o.cols+j) }
	y := func(j int) string { return fmt.Sprint(o.vec, rows*o.cols+j) }
	x := fmt.Sprint(o.vec, (rows+1)*o.cols)
	first := (rows+1)*o.cols + 1
	at := [rows]string{"(DI)", "(DI)(R8*1)", "(DI)(R8*2)", "(DI)(R11*1)"}
	each := func(f func(k, j int, address string)) {
		for k := range rows {
			for j := range o.cols {
				f(k, j, fmt.Sprint(8*o.lanes*j, at[k]))
			}
		}
	}
	p("\n// func %s(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)", o.name)
	p("TEXT ·%s(SB), NOSPLIT, $0-56", o.name)
	p("\tMOVQ n+0(FP), CX\n\tMOVQ dst+8(FP), DI\n\tMOVQ ldd+16(FP), R8\n" +
		"\tMOVQ x+24(FP), SI\n\tMOVQ ldx+32(FP), R9\n\tMOVQ y+40(FP), BX\n\tMOVQ ldy+48(FP), R10")
	p("\tLEAQ (R8)(R8*2), R11")
	each(func(k, j int, address string) { p("\t%s %s, %s", move, address, tile(k, j)) })
	p("loop:")
	for j := range o.cols {
		p("\t%s %d(BX), %s", move, 8*o.lanes*j, y(j))
	}
	each(func(k, j int, _ string) {
		if j == 0 {
			p("\tVPBROADCASTQ %d(SI), %s", 8*k, x)
		}
		product := fmt.Sprint(o.vec, first+(k*o.cols+j)%(o.regs-first))
		p("\tVPMULDQ %s, %s, %s\n\tVPADDQ %s, %s, %s", y(j), x, product, product, tile(k, j),
			tile(k, j))
	})
	p("\tADDQ R9, SI\n\tADDQ R10, BX\n\tDECQ CX\n\tJNZ  loop")
	each(func(k, j int, address string) { p("\t%s %s, %s", move, tile(k, j), address) })
	p("\tVZEROUPPER\n\tRET")
}
