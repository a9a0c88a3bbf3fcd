package auth

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

const claimsKey = "claims"

func (t *Tokens) Required() gin.HandlerFunc {
	return func(c *gin.Context) {
		raw := strings.TrimPrefix(c.GetHeader("Authorization"), "Bearer ")
		parse := t.Parse
		if device := c.GetHeader("X-Scanner-Token"); device != "" {
			raw, parse = device, t.ParseScanner
		} else if raw == "" {
			raw, _ = c.Cookie("tracker")
		}
		claims, err := parse(raw)
		if err != nil {
			c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"message": "please sign in"})
			return
		}
		c.Set(claimsKey, claims)
		c.Next()
	}
}

func Role(role string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if Current(c).Role != role {
			c.AbortWithStatus(http.StatusForbidden)
			return
		}
		c.Next()
	}
}

func Current(c *gin.Context) *Claims {
	return c.MustGet(claimsKey).(*Claims)
}

func CORS(origins map[string]bool) gin.HandlerFunc {
	return func(c *gin.Context) {
		if origin := c.GetHeader("Origin"); origins[origin] {
			c.Header("Access-Control-Allow-Origin", origin)
			c.Header("Access-Control-Allow-Credentials", "true")
			c.Header("Vary", "Origin")
		}
		c.Next()
	}
}
