// want: assignment mismatch
package main

import "github.com/decoy-dp/decoy/privacy"

func peek(s *privacy.Session, c []privacy.Candidate) {
	best, scores, err := s.Select(c, 1)
	_, _, _ = best, scores, err
}

func main() { peek(nil, nil) }
