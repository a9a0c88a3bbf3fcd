package config

import (
	"fmt"
	"os"
)

type Config struct {
	Listen     string
	DSN        string
	TokenKey   []byte
	UploadRoot string
	ReportRoot string
	CourierURL string
	CourierKey string
	ExportKey  string
}

func Load() (Config, error) {
	key := os.Getenv("TRACKER_TOKEN_KEY")
	if len(key) < 32 {
		return Config{}, fmt.Errorf("TRACKER_TOKEN_KEY is missing or short")
	}
	return Config{
		Listen:     value("TRACKER_LISTEN", ":8090"),
		DSN:        value("TRACKER_DSN", "postgres://tracker:Zentrifuge-88@db/tracker?sslmode=require"),
		TokenKey:   []byte(key),
		UploadRoot: value("TRACKER_UPLOADS", "/srv/tracker/uploads"),
		ReportRoot: value("TRACKER_REPORTS", "/srv/tracker/reports"),
		CourierURL: value("COURIER_URL", "https://api.kurier-sued.example"),
		CourierKey: os.Getenv("COURIER_KEY"),
		ExportKey:  os.Getenv("TRACKER_EXPORT_KEY"),
	}, nil
}

func value(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}
