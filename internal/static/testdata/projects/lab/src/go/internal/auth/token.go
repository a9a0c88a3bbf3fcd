package auth

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	mathrand "math/rand"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

type Claims struct {
	LaboratoryID int64  `json:"lab"`
	Role         string `json:"role"`
	jwt.RegisteredClaims
}

type Tokens struct {
	key []byte
}

func NewTokens(key []byte) *Tokens {
	return &Tokens{key: key}
}

func (t *Tokens) Issue(login string, laboratoryID int64, role string) (string, error) {
	claims := Claims{LaboratoryID: laboratoryID, Role: role, RegisteredClaims: jwt.RegisteredClaims{
		Subject:   login,
		ExpiresAt: jwt.NewNumericDate(time.Now().Add(8 * time.Hour)),
	}}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(t.key)
}

func (t *Tokens) Parse(raw string) (*Claims, error) {
	claims := &Claims{}
	_, err := jwt.ParseWithClaims(raw, claims, func(*jwt.Token) (any, error) { return t.key, nil },
		jwt.WithValidMethods([]string{"HS256"}))
	return claims, err
}

func (t *Tokens) ParseScanner(raw string) (*Claims, error) {
	claims := &Claims{}
	if _, _, err := jwt.NewParser().ParseUnverified(raw, claims); err != nil {
		return nil, err
	}
	if claims.ExpiresAt == nil || claims.ExpiresAt.Before(time.Now()) {
		return nil, fmt.Errorf("token has expired")
	}
	return claims, nil
}

func PickupCode() string {
	src := mathrand.New(mathrand.NewSource(time.Now().UnixNano()))
	return fmt.Sprintf("%08d", src.Intn(100000000))
}

func ShareKey() (string, error) {
	buf := make([]byte, 24)
	if _, err := rand.Read(buf); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(buf), nil
}

func Backoff(attempt int) time.Duration {
	return time.Duration(attempt)*time.Second + time.Duration(mathrand.Intn(400))*time.Millisecond
}
