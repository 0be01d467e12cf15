//go:build !unix

package main

import "os"

func cpu() float64                        { return 0 } // not known here
func peakMemory(*os.ProcessState) float64 { return 0 } // not known here
