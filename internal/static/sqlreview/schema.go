package sqlreview

import (
	"regexp"
	"strings"
)

type schema struct {
	tables  map[string]*table
	order   []*table
	enums   map[string][]string
	session map[string]bool // functions without arguments that give a setting of the session
}

type table struct {
	name    string
	cols    []*column
	byName  map[string]*column
	keys    [][]string // primary key first, then unique keys
	hasPK   bool
	fks     []foreignKey
	comment string
}

type column struct {
	name    string
	typ     string
	notNull bool
	enum    []string
	comment string
	def     string
}

type foreignKey struct {
	cols []string
	ref  string
	refs []string
}

func (t *table) column(name string) *column { return t.byName[name] }

func (t *table) add(c *column) {
	if t.byName[c.name] == nil && c.name != "" {
		t.cols = append(t.cols, c)
		t.byName[c.name] = c
	}
}

func (c *column) isTime() bool {
	return strings.HasPrefix(c.typ, "timestamp") || strings.HasPrefix(c.typ, "date") || !typeRE.MatchString(c.typ) && timeNameRE.MatchString(c.name)
}

var (
	typeRE     = regexp.MustCompile(`^(int|bigint|smallint|serial|bigserial|text|varchar|char|uuid|bool|numeric|decimal|json|bytea|real|double|float|inet|citext|money)`)
	timeNameRE = regexp.MustCompile(`_(at|until|from|on|since|date|time|ts)$|^(valid|expires|starts|ends|opens|closes)`)
)

func (c *column) isBool() bool { return strings.HasPrefix(c.typ, "bool") }

func (s *schema) table(name string) *table {
	t := s.tables[name]
	if t == nil {
		t = &table{name: name, byName: map[string]*column{}}
		s.tables[name] = t
		s.order = append(s.order, t)
	}
	return t
}

var fenceRE = regexp.MustCompile("(?ms)^[ \t]*(?:```|~~~)([a-zA-Z]*)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)[ \t]*$")

// readSchema takes every CREATE statement of the SPEC's fenced blocks; where there
// is none, it takes tables that are described in lists.
func readSchema(spec string) *schema {
	s := &schema{tables: map[string]*table{}, enums: map[string][]string{}}
	for _, m := range fenceRE.FindAllStringSubmatch(spec, -1) {
		s.readDDL(m[2])
	}
	if len(s.order) == 0 && strings.Contains(strings.ToLower(spec), "create table") {
		s.readDDL(spec)
	}
	if len(s.order) == 0 {
		s.readProse(spec)
		s.readInline(spec)
	}
	s.finish()
	s.readEnums(spec)
	return s
}

var (
	oneOfRE  = regexp.MustCompile("`(?:[a-z_][a-z0-9_]*\\.)?([a-z_][a-z0-9_]*)`[^\n.;]{0,60}?\\b(?:one of|can be|may be|takes|values|is either|in)\\b([^\n.]*)")
	valueRE  = regexp.MustCompile("[`'\"]([A-Za-z_][A-Za-z0-9_]*)[`'\"]")
	inlineRE = regexp.MustCompile("'([A-Za-z_][A-Za-z0-9_]*)'")
)

// readEnums takes the values of columns that the prose lists: "`status` is one of
// `a`, `b`", or 'a' | 'b' beside the column.
func (s *schema) readEnums(spec string) {
	for _, m := range oneOfRE.FindAllStringSubmatch(spec, -1) {
		var vals []string
		for _, v := range valueRE.FindAllStringSubmatch(m[2], -1) {
			vals = append(vals, v[1])
		}
		if len(vals) < 2 {
			continue
		}
		for _, t := range s.order {
			if c := t.column(m[1]); c != nil && len(c.enum) == 0 && !s.anyNamed(vals) {
				c.enum = vals
			}
		}
	}
	for _, t := range s.order {
		for _, c := range t.cols {
			if m := inlineRE.FindAllStringSubmatch(c.comment, -1); len(c.enum) == 0 && len(m) > 1 {
				for _, v := range m {
					c.enum = append(c.enum, v[1])
				}
			}
		}
	}
}

// anyNamed: one of the words is a table or a column, so the list is none of values.
func (s *schema) anyNamed(words []string) bool {
	for _, w := range words {
		if s.tables[w] != nil {
			return true
		}
		for _, t := range s.order {
			if t.column(w) != nil {
				return true
			}
		}
	}
	return false
}
