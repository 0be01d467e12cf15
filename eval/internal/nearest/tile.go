package nearest

// tile computes the product of a panel of six rows and one of sixteen columns, depth deep, and
// stores in hits[r] a bit for every column c where it exceeds row[r] or col[c]. It returns the
// union of hits. A processor with a faster form than [tileGo] gets it when the program starts.
var tile = tileGo

// tileGo is what tile means, in subtiles of three by four whose sums stay in registers.
func tileGo(
	depth int, a, b []float32, row *[rowsPerTile]float32, col *[colsPerTile]float32,
	hits *[rowsPerTile]uint32,
) uint32 {
	var union uint32
	*hits = [rowsPerTile]uint32{}
	for r := 0; r < rowsPerTile; r += 3 {
		for c := 0; c < colsPerTile; c += 4 {
			var s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23 float32
			for k := range depth {
				x, y := a[k*rowsPerTile+r:][:3], b[k*colsPerTile+c:][:4]
				x0, x1, x2 := x[0], x[1], x[2]
				y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
				s00, s01, s02, s03 = s00+x0*y0, s01+x0*y1, s02+x0*y2, s03+x0*y3
				s10, s11, s12, s13 = s10+x1*y0, s11+x1*y1, s12+x1*y2, s13+x1*y3
				s20, s21, s22, s23 = s20+x2*y0, s21+x2*y1, s22+x2*y2, s23+x2*y3
			}
			for i, sums := range [3][4]float32{{s00, s01, s02, s03}, {s10, s11, s12, s13},
				{s20, s21, s22, s23}} {
				for j, s := range sums {
					if s > min(row[r+i], col[c+j]) {
						hits[r+i] |= 1 << (c + j)
						union |= 1 << (c + j)
					}
				}
			}
		}
	}
	return union
}
