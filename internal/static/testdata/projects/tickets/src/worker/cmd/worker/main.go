package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"nordwind.example/helpdesk/worker/internal/httpapi"
	"nordwind.example/helpdesk/worker/internal/notify"
	"nordwind.example/helpdesk/worker/internal/render"
	"nordwind.example/helpdesk/worker/internal/store"
)

func mustEnv(name string) string {
	v, ok := os.LookupEnv(name)
	if !ok || v == "" {
		log.Fatalf("missing setting %s", name)
	}
	return v
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	db, err := store.Open(mustEnv("WORKER_DSN"))
	if err != nil {
		log.Fatal(err)
	}
	sealer, err := notify.NewSealer([]byte(mustEnv("WORKER_SEAL_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	views, err := render.New(mustEnv("WORKER_TEMPLATES"))
	if err != nil {
		log.Fatal(err)
	}

	api := &httpapi.API{
		Store:     db,
		Notifier:  notify.New(sealer),
		Views:     views,
		Queue:     make(chan httpapi.Job, 64),
		Quota:     httpapi.NewQuota(20),
		ExportDir: mustEnv("WORKER_EXPORT_DIR"),
		SpoolDir:  mustEnv("WORKER_SPOOL_DIR"),
		JWTKey:    []byte(mustEnv("HELPDESK_JWT_SIGNING_KEY")),
	}
	go api.Run(ctx)

	srv := &http.Server{
		Addr:              ":8090",
		Handler:           api.Routes(),
		ReadHeaderTimeout: 5 * time.Second,
	}
	go func() {
		<-ctx.Done()
		shutdown, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = srv.Shutdown(shutdown)
	}()
	if err := srv.ListenAndServe(); err != nil && err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
