package main

import (
	"database/sql"
	"log"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	_ "github.com/lib/pq"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"rm-labor.example/tracker/internal/auth"
	"rm-labor.example/tracker/internal/config"
	"rm-labor.example/tracker/internal/handlers"
	"rm-labor.example/tracker/internal/service"
	"rm-labor.example/tracker/internal/store"
)

var origins = map[string]bool{
	"https://lims.rm-labor.example":   true,
	"https://portal.rm-labor.example": true,
}

func main() {
	cfg, err := config.Load()
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("postgres", cfg.DSN)
	if err != nil {
		log.Fatal(err)
	}
	orm, err := gorm.Open(postgres.Open(cfg.DSN), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}

	tokens := auth.NewTokens(cfg.TokenKey)
	instruments := store.NewInstruments(orm)
	session := &handlers.Session{Accounts: instruments, Tokens: tokens}
	samples := &handlers.Samples{
		Store:       store.NewSamples(db),
		Instruments: instruments,
		Files:       service.NewFiles(cfg.UploadRoot, cfg.ReportRoot),
		Courier:     service.NewCourier(cfg.CourierURL, cfg.CourierKey),
		ExportKey:   []byte(cfg.ExportKey),
	}
	board := handlers.NewBoard(instruments)

	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery(), auth.CORS(origins))
	router.POST("/session", session.Login)
	router.POST("/session/terminal", session.Terminal)

	api := router.Group("/api", tokens.Required())
	api.PUT("/password", session.SetPassword)
	api.GET("/samples", samples.List)
	api.GET("/samples/:id", samples.Get)
	api.POST("/samples/:id/freezer/:freezer", samples.Put)
	api.POST("/samples/:id/claim", samples.Claim)
	api.GET("/samples/:id/plot", samples.Plot)
	api.POST("/traces", samples.Trace)
	api.GET("/freezers/:id", samples.Shelf)
	api.GET("/instruments", samples.SearchInstruments)
	api.PUT("/instruments/:id/note", samples.NoteInstrument)
	api.GET("/samples/:id/reference", samples.Reference)
	api.POST("/pickups", auth.Role("dispatch"), samples.Pickup)

	pages := router.Group("/board", tokens.Required())
	pages.GET("", gin.WrapF(board.Page))
	pages.GET("/label", gin.WrapF(board.Label))
	pages.GET("/preview", gin.WrapF(board.Preview))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("/", router)

	server := &http.Server{Addr: cfg.Listen, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
