module rm-labor.example/tracker

go 1.24

require (
	github.com/gin-gonic/gin v1.9.0
	github.com/golang-jwt/jwt/v5 v5.3.0
	github.com/lib/pq v1.10.9
	golang.org/x/crypto v0.45.0
	golang.org/x/time v0.9.0
	gorm.io/driver/postgres v1.5.11
	gorm.io/gorm v1.25.12
)
