package store

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"rm-labor.example/tracker/internal/model"
)

type Instruments struct {
	db *gorm.DB
}

func NewInstruments(db *gorm.DB) *Instruments {
	return &Instruments{db: db}
}

func inLaboratory(lab int64) func(*gorm.DB) *gorm.DB {
	return func(tx *gorm.DB) *gorm.DB {
		return tx.Where("laboratory_id = ?", lab)
	}
}

func (i *Instruments) Search(lab int64, q model.InstrumentQuery) ([]model.Instrument, error) {
	tx := i.db.Scopes(inLaboratory(lab))
	if q.Room != "" {
		tx = tx.Where("room = ?", q.Room)
	}
	if q.Serial != "" {
		tx = tx.Where(&model.Instrument{Serial: q.Serial})
	}
	if q.Sort != "" {
		tx = tx.Order(q.Sort)
	}
	var out []model.Instrument
	return out, tx.Find(&out).Error
}

func (i *Instruments) Retired(lab int64, byRoom bool) ([]model.Instrument, error) {
	column := "serial"
	if byRoom {
		column = "room"
	}
	var out []model.Instrument
	err := i.db.Scopes(inLaboratory(lab)).Where("retired").
		Order(clause.OrderByColumn{Column: clause.Column{Name: column}}).Find(&out).Error
	return out, err
}

func (i *Instruments) Get(lab int64, id string) (model.Instrument, error) {
	var found model.Instrument
	err := i.db.Scopes(inLaboratory(lab)).Where("id = ?", id).First(&found).Error
	return found, err
}

func (i *Instruments) SetNote(lab int64, id, note string) error {
	return i.db.Model(&model.Instrument{}).Scopes(inLaboratory(lab)).Where("id = ?", id).Update("note", note).Error
}

func (i *Instruments) Account(login string) (model.Account, error) {
	var found model.Account
	return found, i.db.Where("login = ?", login).First(&found).Error
}

func (i *Instruments) SaveAccount(account *model.Account) error {
	return i.db.Save(account).Error
}

func (i *Instruments) AccountByID(id uint) (model.Account, error) {
	var found model.Account
	return found, i.db.First(&found, id).Error
}
