package serve

import (
	"crypto/subtle"
	"net"
	"net/http"
)

const (
	cookiePrefix = "decoy-" // and the port, as a browser sends a cookie to every port
	mostBody     = 1 << 20  // bytes of a request: the longest is the text of a schema
)

// guard lets in only who has the token, from this page, by this page's own address.
//
//   - Another site that has its name resolve to 127.0.0.1 (DNS rebinding) sends its own Host.
//   - Another site that posts a form here (CSRF) is told by Origin and Sec-Fetch-Site, and does not
//     have the cookie, which is SameSite=Strict.
//   - Another user of the machine does not know the token. It is taken out of the address at once,
//     so that it is in no history, and no page sends a Referer.
func (s *Server) guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	next = protection.Handler(next)
	address := s.listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	cookie := cookiePrefix + port
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; "+
			"form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Host != address && r.Host+":80" != address {
			http.Error(w, "this page answers to "+address+" only", http.StatusMisdirectedRequest)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && r.Method == http.MethodGet {
			if !s.knows(given) {
				s.keepOut(w)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.token, Path: "/",
				HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || !s.knows(c.Value) {
			s.keepOut(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

func (s *Server) keepOut(w http.ResponseWriter) {
	http.Error(w, "open the address that 'decoy serve' printed: it has the token of this page",
		http.StatusForbidden)
}
