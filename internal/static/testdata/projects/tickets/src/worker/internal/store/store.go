package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

type Store struct {
	sql *sqlx.DB
	orm *gorm.DB
}

type TicketRow struct {
	ID        int64     `db:"id"`
	Subject   string    `db:"subject"`
	Status    string    `db:"status"`
	Queue     string    `db:"queue"`
	CreatedAt time.Time `db:"created_at"`
}

type Export struct {
	ID        uint   `gorm:"primaryKey"`
	OwnerID   int64  `gorm:"index"`
	FileName  string `gorm:"size:120"`
	Format    string `gorm:"size:10"`
	State     string `gorm:"size:20"`
	CreatedAt time.Time
}

// ReportFilter is what the report screen sends.
type ReportFilter struct {
	Queue  string   `json:"queue"`
	Tags   []string `json:"tags"`
	From   string   `json:"from"`
	Order  string   `json:"order"`
	Status string   `json:"status"`
}

var ticketOrder = map[string]string{
	"age":     "t.created_at ASC",
	"newest":  "t.created_at DESC",
	"subject": "t.subject ASC",
}

func Open(dsn string) (*Store, error) {
	db, err := sqlx.Connect("postgres", dsn)
	if err != nil {
		return nil, err
	}
	orm, err := gorm.Open(postgres.New(postgres.Config{Conn: db.DB}), &gorm.Config{})
	if err != nil {
		return nil, err
	}
	return &Store{sql: db, orm: orm}, nil
}

type clause struct {
	parts []string
	args  []any
}

func (c *clause) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *clause) where() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// Report lists tickets for the nightly and the ad hoc report.
func (s *Store) Report(ctx context.Context, f ReportFilter) ([]TicketRow, error) {
	var c clause
	if f.Queue != "" {
		c.add("t.queue = ?", f.Queue)
	}
	if f.Status != "" {
		c.add("t.status = ?", f.Status)
	}
	for _, tag := range f.Tags {
		c.add(fmt.Sprintf("EXISTS (SELECT 1 FROM ticket_tags g WHERE g.ticket_id = t.id AND g.tag = '%s')", tag))
	}
	order, ok := ticketOrder[f.Order]
	if !ok {
		order = ticketOrder["newest"]
	}
	var sb strings.Builder
	sb.WriteString("SELECT t.id, t.subject, t.status, t.queue, t.created_at FROM tickets t")
	sb.WriteString(c.where())
	sb.WriteString(" ORDER BY " + order)
	var rows []TicketRow
	err := s.sql.SelectContext(ctx, &rows, s.sql.Rebind(sb.String()), c.args...)
	return rows, err
}

// Overdue lists tickets older than the given number of hours.
func (s *Store) Overdue(ctx context.Context, queue, order string, hours int) ([]TicketRow, error) {
	by, ok := ticketOrder[order]
	if !ok {
		by = ticketOrder["age"]
	}
	q := fmt.Sprintf(`SELECT t.id, t.subject, t.status, t.queue, t.created_at FROM tickets t
		WHERE t.queue = $1 AND t.created_at < now() - make_interval(hours => $2) ORDER BY %s`, by)
	var rows []TicketRow
	err := s.sql.SelectContext(ctx, &rows, q, queue, hours)
	return rows, err
}

// ByIDs loads tickets in one statement.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]TicketRow, error) {
	q, args, err := sqlx.In("SELECT id, subject, status, queue, created_at FROM tickets WHERE id IN (?)", ids)
	if err != nil {
		return nil, err
	}
	var rows []TicketRow
	err = s.sql.SelectContext(ctx, &rows, s.sql.Rebind(q), args...)
	return rows, err
}

func (s *Store) Exports(ctx context.Context, owner int64, sort string) ([]Export, error) {
	var out []Export
	q := s.orm.WithContext(ctx).Where("owner_id = ?", owner)
	if sort != "" {
		q = q.Order(sort + " desc")
	}
	err := q.Limit(100).Find(&out).Error
	return out, err
}

func (s *Store) ExportOf(ctx context.Context, owner int64, id uint) (*Export, error) {
	var e Export
	err := s.orm.WithContext(ctx).Where("id = ? AND owner_id = ?", id, owner).First(&e).Error
	if err != nil {
		return nil, err
	}
	return &e, nil
}

func (s *Store) SearchExports(ctx context.Context, owner int64, name string) ([]Export, error) {
	var out []Export
	err := s.orm.WithContext(ctx).
		Where("owner_id = ?", owner).
		Where("file_name LIKE ?", "%"+name+"%").
		Order("created_at desc").
		Find(&out).Error
	return out, err
}

func (s *Store) AddExport(ctx context.Context, e *Export) error {
	return s.orm.WithContext(ctx).Create(e).Error
}
