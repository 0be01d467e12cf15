package arch

import (
	"go/ast"
	"go/token"
)

// mostComplex is the most that a function should have.
const mostComplex = 20

// complexity is McCabe's number of a function, as gocyclo counts it: one, and one more for each if,
// loop, case, and each && and ||, those of functions inside it among them.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil { // else default
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
