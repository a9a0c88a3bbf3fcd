package httpapi

import (
	"context"
	"log"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/golang-jwt/jwt/v5"

	"nordwind.example/helpdesk/worker/internal/notify"
	"nordwind.example/helpdesk/worker/internal/render"
	"nordwind.example/helpdesk/worker/internal/store"
)

type ctxKey int

const callerKey ctxKey = iota

type Caller struct {
	ID   int64
	Role string
}

type API struct {
	Store     *store.Store
	Notifier  *notify.Notifier
	Views     *render.Views
	Queue     chan Job
	Quota     *Quota
	ExportDir string
	SpoolDir  string
	JWTKey    []byte
}

func (a *API) Routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

	r.Group(func(r chi.Router) {
		r.Use(a.authenticate, accessLog)
		r.Post("/jobs", a.enqueue)
		r.Post("/reports/run", a.runReport)
		r.Get("/reports/overdue", a.overdue)
		r.Get("/board", a.board)
		r.Get("/exports", a.listExports)
		r.Get("/exports/search", a.searchExports)
		r.Get("/exports/raw", a.rawExport)
		r.Get("/exports/{id}", a.export)
		r.Post("/exports", a.requestExport)
		r.Get("/spool", a.spool)
		r.Get("/survey/{ticket}", a.surveyLink)
		r.With(adminOnly).Post("/spool/import", a.importMail)
		r.With(adminOnly).Post("/branding", a.importLogos)
	})
	return r
}

func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			http.Error(w, "bearer token expected", http.StatusUnauthorized)
			return
		}
		claims := jwt.MapClaims{}
		_, err := jwt.ParseWithClaims(raw, claims,
			func(*jwt.Token) (any, error) { return a.JWTKey, nil },
			jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience("agents"), jwt.WithExpirationRequired())
		if err != nil {
			http.Error(w, "token rejected", http.StatusUnauthorized)
			return
		}
		sub, err := claims.GetSubject()
		if err != nil {
			http.Error(w, "token rejected", http.StatusUnauthorized)
			return
		}
		id, err := strconv.ParseInt(sub, 10, 64)
		if err != nil {
			http.Error(w, "token rejected", http.StatusUnauthorized)
			return
		}
		role, _ := claims["role"].(string)
		ctx := context.WithValue(r.Context(), callerKey, Caller{ID: id, Role: role})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func adminOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller(r).Role != "admin" {
			http.Error(w, "administrators only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func caller(r *http.Request) Caller {
	c, _ := r.Context().Value(callerKey).(Caller)
	return c
}

func accessLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.Printf("agent=%d %s %q", caller(r).ID, r.Method, r.URL.Path)
		next.ServeHTTP(w, r)
	})
}
