package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"nordwind.example/helpdesk/worker/internal/archive"
	"nordwind.example/helpdesk/worker/internal/notify"
	"nordwind.example/helpdesk/worker/internal/store"
)

const maxUpload = 64 << 20

// Job is one unit of background work.
type Job struct {
	Kind         string              `json:"kind"`
	TicketID     int64               `json:"ticketId"`
	Minutes      int                 `json:"minutes"`
	Conversion   archive.Conversion  `json:"conversion"`
	Subscription notify.Subscription `json:"subscription"`
	Owner        int64               `json:"-"`
}

// Quota limits how many exports an agent may ask for per day.
type Quota struct {
	limit int
	used  sync.Map
	mu    sync.Mutex
	runs  map[int64]int
}

func NewQuota(limit int) *Quota {
	return &Quota{limit: limit, runs: make(map[int64]int)}
}

// TakeExport books one export.
func (q *Quota) TakeExport(agent int64) bool {
	count := 0
	if v, ok := q.used.Load(agent); ok {
		count = v.(int)
	}
	if count >= q.limit {
		return false
	}
	q.used.Store(agent, count+1)
	return true
}

// TakeReport books one report run.
func (q *Quota) TakeReport(agent int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.runs[agent] >= q.limit {
		return false
	}
	q.runs[agent]++
	return true
}

// Run works through the queue until the context ends.
func (a *API) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-a.Queue:
			if err := a.handle(ctx, job); err != nil {
				log.Printf("job %q of agent %d failed: %q", job.Kind, job.Owner, err.Error())
			}
		}
	}
}

func (a *API) handle(ctx context.Context, job Job) error {
	switch job.Kind {
	case "convert":
		return archive.Convert(ctx, a.ExportDir, job.Conversion)
	case "office":
		return archive.Office(ctx, a.ExportDir, job.Conversion.Format, job.TicketID)
	case "callback":
		_, err := a.Notifier.Deliver(ctx, job.Subscription, notify.Event{Kind: "updated", TicketID: job.TicketID})
		return err
	case "chat":
		return a.Notifier.Chat(ctx, job.Subscription, notify.Event{Kind: "updated", TicketID: job.TicketID})
	case "booking":
		return a.Notifier.BookTime(ctx, job.TicketID, job.Minutes)
	}
	return fmt.Errorf("unknown job kind %q", job.Kind)
}

func (a *API) enqueue(w http.ResponseWriter, r *http.Request) {
	var job Job
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&job); err != nil {
		http.Error(w, "malformed job", http.StatusBadRequest)
		return
	}
	job.Owner = caller(r).ID
	select {
	case a.Queue <- job:
		log.Printf("queued %s for ticket %d by agent %d", job.Kind, job.TicketID, job.Owner)
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, "queue is full", http.StatusServiceUnavailable)
	}
}

func (a *API) runReport(w http.ResponseWriter, r *http.Request) {
	var f store.ReportFilter
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&f); err != nil {
		http.Error(w, "malformed filter", http.StatusBadRequest)
		return
	}
	if !a.Quota.TakeReport(caller(r).ID) {
		http.Error(w, "daily limit reached", http.StatusTooManyRequests)
		return
	}
	rows, err := a.Store.Report(r.Context(), f)
	if err != nil {
		http.Error(w, fmt.Sprintf("report failed for %+v: %v", f, err), http.StatusInternalServerError)
		return
	}
	page, err := a.Views.Digest("Report "+f.Queue, r.URL.Query().Get("intro"), rows)
	if err != nil {
		log.Printf("digest: %q", err.Error())
		http.Error(w, "report could not be rendered", http.StatusInternalServerError)
		return
	}
	name, err := archive.WriteReport(a.ExportDir, time.Now().UnixNano(), page)
	if err != nil {
		http.Error(w, "report could not be stored", http.StatusInternalServerError)
		return
	}
	writeJSON(w, map[string]any{"file": name, "blob": notify.BlobID(page), "rows": len(rows)})
}

func (a *API) overdue(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	hours, err := strconv.Atoi(q.Get("hours"))
	if err != nil {
		hours = 48
	}
	rows, err := a.Store.Overdue(r.Context(), q.Get("queue"), q.Get("order"), hours)
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	writeJSON(w, rows)
}

func (a *API) board(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	rows, err := a.Store.Overdue(r.Context(), q.Get("queue"), "age", 4)
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	page, err := a.Views.Board("Queue "+q.Get("queue"), q.Get("note"), rows)
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}

func (a *API) listExports(w http.ResponseWriter, r *http.Request) {
	list, err := a.Store.Exports(r.Context(), caller(r).ID, r.URL.Query().Get("sort"))
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	writeJSON(w, list)
}

func (a *API) searchExports(w http.ResponseWriter, r *http.Request) {
	list, err := a.Store.SearchExports(r.Context(), caller(r).ID, r.URL.Query().Get("name"))
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	writeJSON(w, list)
}

func (a *API) export(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(chi.URLParam(r, "id"), 10, 32)
	if err != nil {
		http.Error(w, "bad id", http.StatusBadRequest)
		return
	}
	e, err := a.Store.ExportOf(r.Context(), caller(r).ID, uint(id))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	writeJSON(w, e)
}

func (a *API) rawExport(w http.ResponseWriter, r *http.Request) {
	a.sendFile(w, func() ([]byte, error) { return archive.ReadExport(a.ExportDir, r.URL.Query().Get("file")) })
}

func (a *API) spool(w http.ResponseWriter, r *http.Request) {
	a.sendFile(w, func() ([]byte, error) { return archive.ReadSpool(a.SpoolDir, r.URL.Query().Get("message")) })
}

func (a *API) sendFile(w http.ResponseWriter, load func() ([]byte, error)) {
	data, err := load()
	if err != nil {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = w.Write(data)
}

func (a *API) requestExport(w http.ResponseWriter, r *http.Request) {
	me := caller(r)
	if !a.Quota.TakeExport(me.ID) {
		http.Error(w, "daily limit reached", http.StatusTooManyRequests)
		return
	}
	token, err := notify.DownloadToken()
	if err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	e := &store.Export{OwnerID: me.ID, FileName: token + ".csv", Format: "csv", State: "queued"}
	if err := a.Store.AddExport(r.Context(), e); err != nil {
		http.Error(w, "not available", http.StatusInternalServerError)
		return
	}
	writeJSON(w, map[string]any{"id": e.ID})
}

func (a *API) surveyLink(w http.ResponseWriter, r *http.Request) {
	ticket, err := strconv.ParseInt(chi.URLParam(r, "ticket"), 10, 64)
	if err != nil {
		http.Error(w, "bad ticket", http.StatusBadRequest)
		return
	}
	writeJSON(w, map[string]string{"link": "/s/" + a.Notifier.SurveyCode(ticket)})
}

func (a *API) importMail(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpload))
	if err != nil {
		http.Error(w, "upload failed", http.StatusBadRequest)
		return
	}
	n, err := archive.UnpackMail(data, a.SpoolDir)
	if err != nil {
		http.Error(w, "archive not readable", http.StatusUnprocessableEntity)
		return
	}
	writeJSON(w, map[string]int{"messages": n})
}

func (a *API) importLogos(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpload))
	if err != nil {
		http.Error(w, "upload failed", http.StatusBadRequest)
		return
	}
	if err := archive.UnpackLogos(data, a.SpoolDir); err != nil {
		http.Error(w, "archive not readable", http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
