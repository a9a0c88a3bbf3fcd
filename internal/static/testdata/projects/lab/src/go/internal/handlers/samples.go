package handlers

import (
	"errors"
	"log"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"rm-labor.example/tracker/internal/auth"
	"rm-labor.example/tracker/internal/model"
	"rm-labor.example/tracker/internal/service"
	"rm-labor.example/tracker/internal/store"
)

type Samples struct {
	Store       *store.Samples
	Instruments *store.Instruments
	Files       *service.Files
	Courier     *service.Courier
	ExportKey   []byte
}

func number(c *gin.Context, name string) int64 {
	n, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
	}
	return n
}

func filterOf(c *gin.Context) model.SampleFilter {
	return model.SampleFilter{
		Material: c.Query("material"),
		States:   c.QueryArray("state"),
		OrderBy:  c.Query("order"),
		Desc:     c.Query("desc") == "1",
		Limit:    100,
	}
}

func (h *Samples) List(c *gin.Context) {
	found, err := h.Store.List(c, auth.Current(c).LaboratoryID, filterOf(c))
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
		return
	}
	c.JSON(http.StatusOK, found)
}

func (h *Samples) Shelf(c *gin.Context) {
	found, err := h.Store.Shelf(c, auth.Current(c).LaboratoryID, number(c, "id"), filterOf(c))
	if err != nil {
		log.Printf("shelf: %v", err)
		c.JSON(http.StatusInternalServerError, gin.H{"message": "the shelf cannot be read"})
		return
	}
	c.JSON(http.StatusOK, found)
}

func (h *Samples) Get(c *gin.Context) {
	sample, err := h.Store.Get(c, number(c, "id"))
	if err != nil || sample.LaboratoryID != auth.Current(c).LaboratoryID {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	c.JSON(http.StatusOK, sample)
}

func (h *Samples) Put(c *gin.Context) {
	err := h.Store.Store(c, auth.Current(c).LaboratoryID, number(c, "id"), number(c, "freezer"))
	if errors.Is(err, store.ErrFull) {
		c.JSON(http.StatusConflict, gin.H{"message": err.Error()})
		return
	}
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	log.Printf("sample %d moved by %s, reason: %s", number(c, "id"), auth.Current(c).Subject, c.PostForm("reason"))
	c.Status(http.StatusNoContent)
}

func (h *Samples) Claim(c *gin.Context) {
	ok, err := h.Store.Claim(c, auth.Current(c).LaboratoryID, number(c, "id"), auth.Current(c).Subject)
	if err != nil || !ok {
		c.AbortWithStatus(http.StatusConflict)
		return
	}
	log.Printf("sample %d claimed, station %q", number(c, "id"), c.PostForm("station"))
	c.Status(http.StatusNoContent)
}

func (h *Samples) Trace(c *gin.Context) {
	part, err := c.FormFile("trace")
	if err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	body, err := part.Open()
	if err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	defer body.Close()
	if _, err := h.Files.KeepTrace(c.PostForm("run"), c.PostForm("name"), body); err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.Status(http.StatusCreated)
}

func (h *Samples) Plot(c *gin.Context) {
	sample, err := h.Store.Get(c, number(c, "id"))
	if err != nil || sample.LaboratoryID != auth.Current(c).LaboratoryID {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	path, err := h.Files.Plot(c, sample.ID, c.DefaultQuery("title", sample.Barcode))
	if err != nil {
		log.Printf("plot: %q", err.Error())
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.File(path)
}

func (h *Samples) SearchInstruments(c *gin.Context) {
	var q model.InstrumentQuery
	if err := c.ShouldBindQuery(&q); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	found, err := h.Instruments.Search(auth.Current(c).LaboratoryID, q)
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.JSON(http.StatusOK, found)
}

func (h *Samples) NoteInstrument(c *gin.Context) {
	if err := h.Instruments.SetNote(auth.Current(c).LaboratoryID, c.Param("id"), c.PostForm("note")); err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.Status(http.StatusNoContent)
}

func (h *Samples) Reference(c *gin.Context) {
	sample, err := h.Store.Get(c, number(c, "id"))
	if err != nil || sample.LaboratoryID != auth.Current(c).LaboratoryID {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	masked, err := service.MaskReference(h.ExportKey, sample.Barcode)
	if err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.JSON(http.StatusOK, gin.H{"reference": masked})
}

func (h *Samples) Pickup(c *gin.Context) {
	var in struct {
		Boxes int    `json:"boxes" binding:"min=1,max=40"`
		Door  string `json:"door" binding:"required,max=20"`
	}
	if err := c.ShouldBindJSON(&in); err != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	order, err := h.Courier.Order(c, in.Boxes, in.Door)
	if err != nil {
		c.AbortWithStatus(http.StatusBadGateway)
		return
	}
	c.JSON(http.StatusCreated, order)
}
