package handlers

import (
	"log/slog"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/time/rate"

	"rm-labor.example/tracker/internal/auth"
	"rm-labor.example/tracker/internal/model"
	"rm-labor.example/tracker/internal/store"
)

type Session struct {
	Accounts *store.Instruments
	Tokens   *auth.Tokens
	limits   sync.Map
}

type credentials struct {
	Login    string `json:"login" binding:"required,max=60"`
	Password string `json:"password" binding:"required,max=72"`
}

type passwordChange struct {
	Current  string `json:"current" binding:"required,max=72"`
	Password string `json:"password" binding:"required,min=12,max=72"`
}

func (s *Session) allowed(address string) bool {
	limiter, _ := s.limits.LoadOrStore(address, rate.NewLimiter(rate.Limit(0.1), 5))
	return limiter.(*rate.Limiter).Allow()
}

func (s *Session) check(in credentials) (model.Account, bool) {
	account, err := s.Accounts.Account(in.Login)
	if err != nil {
		return account, false
	}
	return account, bcrypt.CompareHashAndPassword([]byte(account.PasswordHash), []byte(in.Password)) == nil
}

func (s *Session) Login(c *gin.Context) {
	if !s.allowed(c.RemoteIP()) {
		c.AbortWithStatus(http.StatusTooManyRequests)
		return
	}
	var in credentials
	if err := c.ShouldBindJSON(&in); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	account, ok := s.check(in)
	if !ok {
		slog.Warn("sign in refused", "login", in.Login)
		c.AbortWithStatus(http.StatusForbidden)
		return
	}
	token, err := s.Tokens.Issue(account.Login, account.LaboratoryID, account.Role)
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.SetSameSite(http.SameSiteStrictMode)
	c.SetCookie("tracker", token, 8*3600, "/", "", true, true)
	c.Status(http.StatusNoContent)
}

func (s *Session) Terminal(c *gin.Context) {
	var in credentials
	if err := c.ShouldBindJSON(&in); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	account, ok := s.check(in)
	if !ok {
		c.AbortWithStatus(http.StatusForbidden)
		return
	}
	token, err := s.Tokens.Issue(account.Login, account.LaboratoryID, "terminal")
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	slog.Info("terminal signed in", "login", account.Login, "token", token)
	c.SetCookie("tracker", token, 8*3600, "/", "", false, false)
	c.Status(http.StatusNoContent)
}

func (s *Session) SetPassword(c *gin.Context) {
	var in passwordChange
	if err := c.ShouldBindJSON(&in); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	if !s.allowed(c.RemoteIP()) {
		c.AbortWithStatus(http.StatusTooManyRequests)
		return
	}
	account, ok := s.check(credentials{Login: auth.Current(c).Subject, Password: in.Current})
	if !ok {
		c.AbortWithStatus(http.StatusForbidden)
		return
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(in.Password), 12)
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	account.PasswordHash = string(hash)
	if err := s.Accounts.SaveAccount(&account); err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.Status(http.StatusNoContent)
}
