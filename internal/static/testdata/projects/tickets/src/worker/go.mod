module nordwind.example/helpdesk/worker

go 1.24

require (
	github.com/go-chi/chi/v5 v5.2.3
	github.com/golang-jwt/jwt/v5 v5.3.0
	github.com/jmoiron/sqlx v1.4.0
	github.com/lib/pq v1.10.9
	github.com/microcosm-cc/bluemonday v1.0.27
	gorm.io/driver/postgres v1.6.0
	gorm.io/gorm v1.30.1
)
