package model

import "time"

type Sample struct {
	ID           int64     `json:"id"`
	Barcode      string    `json:"barcode"`
	Material     string    `json:"material"`
	State        string    `json:"state"`
	LaboratoryID int64     `json:"laboratoryId"`
	FreezerID    int64     `json:"freezerId"`
	ReceivedAt   time.Time `json:"receivedAt"`
}

type Instrument struct {
	ID           uint   `gorm:"primaryKey" json:"id"`
	Serial       string `json:"serial"`
	Room         string `json:"room"`
	LaboratoryID int64  `json:"laboratoryId"`
	Note         string `json:"note"`
	Retired      bool   `json:"retired"`
}

type Account struct {
	ID           uint   `gorm:"primaryKey" json:"id"`
	Login        string `json:"login"`
	PasswordHash string `json:"-"`
	LaboratoryID int64  `json:"laboratoryId"`
	Role         string `json:"role"`
}

type SampleFilter struct {
	Material string
	States   []string
	OrderBy  string
	Desc     bool
	Limit    int
}

type InstrumentQuery struct {
	Room   string `form:"room"`
	Serial string `form:"serial"`
	Sort   string `form:"sort"`
}
