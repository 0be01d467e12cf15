// Package noise draws exact discrete noise on secret randomness. It knows no data and no ε.
package noise
