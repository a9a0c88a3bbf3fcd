package sqlreview

import (
	"regexp"
	"sort"
	"strings"
)

var (
	textRE      = regexp.MustCompile(`(value|input|parameter|argument|string|request|client|user)s?\b[^.;]{0,60}\b(in|into|of|become|part of|inside) (the |a |any )?(text|sql|statement|query)|(text|sql) of (a|the|any) (statement|query)|(statement|query|sql) text|sql (is|stays) (static|fixed)`)
	goneRE      = regexp.MustCompile(`gone|out of sight|left\b|no longer|as if|not exist|invisible|ignored?|excluded?|disregard|hidden|never (seen|shown|return|appear|list|count)|do(es)? not (count|appear|show)|inactive|dead|absent|skipped|filtered|treated as|only (live|active|current|present)`)
	lifeNameRE  = regexp.MustCompile(`^(creat|updat|chang|modif|enrol|issu|grant|publish|approv|submitt|book|paid|sent|receiv|complet|start|finish|sign|seen|visit|record|order|shipp|deliver|open|regist|verifi|confirm|insert|assign|join|invit|accept|releas|post|log|us|read|schedul|request|happen|occurr|captur|charg)`)
	negativeRE  = regexp.MustCompile(`never|\bnot?\b|nobody|nothing|secret|private|stays?|inside|confiden|sensitive|without`)
	listRE      = regexp.MustCompile(`\b(list|row|result|record|page|entr|item|line|hit|match)`)
	injectionRE = regexp.MustCompile(`dynamic sql|as (bound )?parameters?|string (operation|building|formatting)|built (up )?(from|with|by)|building (sql|statement|quer)|injection|parameteri[sz]|concatenat|interpolat|bound (parameter|value)|bind (parameter|variable)|placeholder|splic|pasted|string[- ]?built|format\(|quote_ident|built (up )?from (text|strings)|prepared statement|allow-?list`)
	tenantRE    = regexp.MustCompile(`tenan|isolat|other [a-z]+s\b|off limits|inside |within |restrict|other than|limited to|separat|kept apart|partition|cross-|across |another |other (organi|compan|clinic|school|account|customer|shop|merchant|store|warehouse|workspace)|belong|scope|confine|never see|own (organi|compan)|same `)
	softRE      = regexp.MustCompile(`soft|delet|archiv|tombston|remov|voided|revok|suspend|disabl|deactivat|inactive|\bleft\b|ended|erased|hidden|discard|withdrawn|trash|retired|purged|struck|cancell?ed rows|gone|absent|not exist`)
	secretRE    = regexp.MustCompile(`in no (result|output|response|answer|list)|no (result|statement|query|fragment) (ever )?(returns|contains|shows|gives|holds)|nobody (gets|may|can|ever|sees|is)|no one (gets|may|can|ever|sees)|only (be )?(shown|visible|returned|revealed|readable|disclosed)|never (be )?(return|expos|select|leav|show|disclos|read|sent|appear|giv|output|reach)|(must|may|do|does|can|should|shall) ?not (be )?(return|expos|appear|leav|select|show|disclos|be (part|in)|giv|reach)|never in |never (be )?part |not (be )?(part of|in|among|included in) (any|the|a) (result|output|response|answer)|sensitive|confidential|secret|leave[s]? the (database|server|ledger)|stays? (in|inside) the|nothing .*(return|reveal)|masked|redact`)
	limitRE     = regexp.MustCompile(`\blimit|page|pagin|at most \d|no more than \d|maximum of|max(imum)? \d|bounded|unbounded|capped|cap of|row cap|(more|fewer|less) than \d+ |exceed|up to \d+|at a time|never .{0,30}\d+ (rows|records|results|lines|entries|items)|\d+ (rows|records|results|lines|entries|items) (per|each|at most|or fewer)`)
	permRE      = regexp.MustCompile(`\brole|permission|\bmember|\bgrant|authori[sz]|assigned|\bowner|\bowns\b|privileg|allowed to|entitled|only (the|a|an|by) |only .{1,40} (may|can)|may (only|be|see|read|change|approve)|access to|acting (user|person|staff)|caller|actor|mandate|\bpower|needs? (a|an|the|to be|to hold)|requires? (a|an|the|that|to)|\bholds?\b|must (be|hold|have) (a|an|the)|restricted to|reserved (to|for)|entitle|delegat|consent|is (not )?allowed|in charge|responsible|on behalf`)
	stateRE     = regexp.MustCompile(`status|state|transition|→|->|lifecycle|moves? (from|to|only)|only (while|when|from|if)|may (only )?(be|become)|while .* is|still|no longer be|final|frozen|closed|locked|immutable`)
	timeRE      = regexp.MustCompile(`expir|valid|effective|window|until|before|after|as of|time|hours|days|minutes|half-open|inclusive|exclusive|start|\bend|clock|now\(\)|date|period|in force|current|past|future|deadline|embargo|published`)
	auditRE     = regexp.MustCompile(`audit|\blog(ged|s)?\b|trail|journal|history|record(ed)? (in|who)|leaves? (a|an) (row|record|entry)|writes? (a|an) (row|record|entry|event)|same (statement|transaction)`)
	versionRE   = regexp.MustCompile(`version|optimistic|lost update|concurren|\block|race|idempot|for update|twice|stale|double`)
	groupRE     = regexp.MustCompile(`(fewer|less|smaller) than \d+|at least \d+ (distinct |different )?\w+.*(group|aggregat|count|statistic|average)|(group|aggregat|cohort|cell|statistic|average)\w*.*(fewer|less|at least|minimum|smaller|least) (than )?(\d+|two|three|four|five|six|seven|eight|nine|ten)`)
)

// classify says which kinds of demand a requirement makes. Several may hold.
func (s *spec) classify(r *requirement) {
	set := func(k kindOf, on bool) {
		if on {
			r.kinds[k] = true
		}
	}
	set(kInjection, strings.Contains(r.text, "${") || textRE.MatchString(r.low) || injectionRE.MatchString(r.low) && (strings.Contains(r.low, "sql") || strings.Contains(r.low, "statement") || strings.Contains(r.low, "parameter") || strings.Contains(r.low, "value") || strings.Contains(r.low, "text") || strings.Contains(r.low, "identifier")))
	tenantCol := false
	for _, c := range r.cols {
		tenantCol = tenantCol || contains(s.tenants, c.col)
	}
	rootWord := s.root != "" && (hasRun(stemsOf(r.text), s.root) || len(s.root) > 4 && strings.Contains(r.low, " "+strings.TrimSuffix(s.root, "s")))
	set(kTenant, len(s.tenants) > 0 && !r.kinds[kInjection] && (tenantRE.MatchString(r.low) || s.namesScope(r)) && (tenantCol || rootWord || strings.Contains(r.low, "tenan") || strings.Contains(r.low, "isolat")))
	// A requirement that names the tenant column and nothing else to check is about it.
	set(kTenant, tenantCol && len(r.cols) == 1 && !r.kinds[kInjection] && len(r.values) == 0)
	soft := s.softCols(r)
	if len(soft) > 0 && regexp.MustCompile(`cannot|can not|must not|may not|no longer|never`).MatchString(r.low) && len(r.cols) == len(soft) {
		r.kinds[kSoft] = true
	}
	set(kSoft, (softRE.MatchString(r.low) || goneRE.MatchString(r.low)) && len(soft) > 0)
	set(kSecret, (secretRE.MatchString(r.low) || negativeRE.MatchString(r.low) && s.plainOnly(r)) && len(s.secretCols(r)) > 0)
	set(kLimit, len(r.cols) == 0 && len(r.values) == 0 && (listRE.MatchString(r.low) || len(r.tables) > 0 && limitRE.MatchString(r.low)) && len(r.nums) == 1 && r.nums[0] >= 5 && !groupRE.MatchString(r.low))
	set(kLimit, limitRE.MatchString(r.low) && regexp.MustCompile(`rows|result|record|list|item|page|limit|quer|line|entr`).MatchString(r.low) && !r.kinds[kInjection] && s.limitLike(r))
	if loose := unitRE.ReplaceAllString(r.low, ""); len(r.nums) > 0 && !numRE.MatchString(loose) {
		delete(r.kinds, kLimit) // "up to 24 hours" counts no rows
	}
	if offLimitRE.MatchString(r.low) && len(r.nums) == 0 {
		delete(r.kinds, kLimit)
	}
	set(kPerm, (permRE.MatchString(r.low) || s.firmRole(r)) && !r.kinds[kInjection] && len(s.permTables(r)) > 0 && (!r.kinds[kTenant] || s.firmRole(r)))
	set(kState, (stateRE.MatchString(r.low) || readWordRE.MatchString(r.low) || len(readLife(r.text, r.values).prior) > 0) && len(r.values) > 0 && s.stateLike(r))
	set(kTime, timeRE.MatchString(r.low) && len(s.timeCols(r)) > 0)
	set(kAudit, auditRE.MatchString(r.low) && s.auditTable(r) != "")
	if r.kinds[kAudit] && !s.firmRole(r) && !(s.saysRole(r) && onlyMayRE.MatchString(r.low)) {
		delete(r.kinds, kPerm)
	}
	set(kVersion, versionRE.MatchString(r.low) && !r.kinds[kInjection])
	set(kSelf, selfRE.MatchString(r.low) && !r.kinds[kInjection])
	set(kBound, boundWordRE.MatchString(r.low) && !r.kinds[kInjection] && len(s.boundCols(r)) > 0)
	set(kOnce, onceRE.MatchString(r.low) && !r.kinds[kInjection])
	set(kPattern, literalRE.MatchString(r.low))
	set(kOrder, totalRE.MatchString(r.low))
	set(kAuthor, !r.kinds[kInjection])
	set(kGroup, groupRE.MatchString(r.low))
	if len(r.kinds) > 1 && r.kinds[kInjection] {
		delete(r.kinds, kState)
		delete(r.kinds, kSecret)
	}
}

var onlyMayRE = regexp.MustCompile(`only (by )?(an? |the )?[\w-]+ (may|can)\b|only by (an? |the )?[\w-]+`)

// namesScope: the requirement names a parameter that stands for the tenant.
func (s *spec) namesScope(r *requirement) bool {
	for _, p := range paramsIn(r.low) {
		if s.scopeP[p] {
			return true
		}
	}
	return false
}

// unitRE finds numbers that measure something else than rows.
var unitRE = regexp.MustCompile(`\b\d[\d,_.]*[ -]?(seconds?|minutes?|hours?|days?|weeks?|months?|years?|characters?|letters|digits?|bytes?|bits?|[kmg]i?b|percent|%|cents?|euros?|dollars?|attempts?|times|tries)\b`)

var offLimitRE = regexp.MustCompile(`off limits|limited to (the|a|an|rows|data|records|its|their)`)

// plainOnly: all columns that the requirement names hold plain data: no keys, states
// or times.
func (s *spec) plainOnly(r *requirement) bool {
	for _, c := range r.cols {
		if col := s.columnOf(c); col != nil && col.isBool() {
			return false
		}
	}
	return len(r.cols) > 0 && len(s.secretCols(r)) == len(r.cols) && len(r.values) == 0 && len(r.conds) == 0 && len(r.nums) == 0
}

func (s *spec) limitLike(r *requirement) bool {
	for _, n := range r.nums {
		if n >= 2 {
			return true
		}
	}
	return strings.Contains(r.low, "bounded") || strings.Contains(r.low, "limit")
}

func (s *spec) stateLike(r *requirement) bool {
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			if isStateCol(c) {
				for _, v := range r.values {
					if contains(c.enum, v) {
						return true
					}
				}
			}
		}
	}
	return false
}

var stateNameRE = regexp.MustCompile(`(^|_)(status|state|stage|phase|lifecycle|condition)(_|$)`)

func isStateCol(c *column) bool { return stateNameRE.MatchString(c.name) }

var softNameRE = regexp.MustCompile(`^(is_)?(soft_)?(deleted|archived|removed|erased|voided|discarded|trashed|withdrawn|retired|tombstoned?|purged|deactivated|disabled|struck|hidden|cancelled|canceled|closed|revoked|left|ended|suspended)(_at|_on|_ts|_date|_time|_flag)?$|^is_active$|^active$|^enabled$|^is_live$|^live$|^tombstone$`)

// softCols lists the columns of a requirement that mark rows as gone.
func (s *spec) softCols(r *requirement) []string {
	var out []string
	for _, c := range r.cols {
		if (softNameRE.MatchString(c.col) || s.marksGone(c) && goneRE.MatchString(r.low)) && !contains(out, c.col) {
			out = append(out, c.col)
		}
	}
	for _, e := range r.conds { // `x_at IS NULL` says it, whatever the name
		if e.kind == eIs && e.op == "null" && strip(e.args[0]).kind == eCol {
			n := strip(e.args[0]).name
			c := n[len(n)-1]
			if s.anyColumn(c) != nil && !contains(out, c) && !regexp.MustCompile(`until|expire|_to$|end`).MatchString(c) {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 && regexp.MustCompile(`soft-?\s?delet|deleted|archived|voided|removed|withdrawn|retired`).MatchString(r.low) {
		for _, t := range s.sch.order {
			for _, c := range t.cols {
				if softNameRE.MatchString(c.name) && !endingRE.MatchString(c.name) && hasRun(stemsOf(r.text), regexp.MustCompile(`^is_|_(at|on|ts|date|time|flag)$`).ReplaceAllString(c.name, "")) && !contains(out, c.name) {
					out = append(out, c.name)
				}
			}
		}
	}
	for _, d := range s.defined(r.text) { // "Erased: having `deleted_at` not null"
		if !softRE.MatchString(strings.ToLower(d.term)) {
			continue
		}
		for _, c := range s.readRequirement(0, d.text).cols {
			if softNameRE.MatchString(c.col) && !contains(out, c.col) {
				out = append(out, c.col)
			}
		}
	}
	sort.Strings(out)
	return out
}

// endingRE are names of columns that may mark a state of the thing (closed, ended) as
// well as its removal: a requirement has to name them.
var endingRE = regexp.MustCompile(`closed|ended|left|suspended|cancel|active|enabled|live`)

// marksGone: a nullable time named after an act that ends a row (ed_at, ed_on).
func (s *spec) marksGone(c colRef) bool {
	col := s.columnOf(c)
	return col != nil && col.isTime() && !col.notNull && endedRE.MatchString(c.col) && !lifeNameRE.MatchString(c.col)
}

var endedRE = regexp.MustCompile(`(ed|en|wn|ft|ne)_(at|on|date|ts)$`)

func (s *spec) anyColumn(name string) *column {
	for _, t := range s.sch.order {
		if c := t.column(name); c != nil {
			return c
		}
	}
	return nil
}

// secretCols lists the columns that a requirement forbids to give out: those that it
// names up to an exception, save those that say who or which row.
func (s *spec) secretCols(r *requirement) []colRef {
	var out []colRef
	for _, c := range r.cols {
		if strings.HasSuffix(c.col, "_id") || c.col == "id" || contains(s.tenants, c.col) || softNameRE.MatchString(c.col) || versionNameRE.MatchString(c.col) || c.col == "status" || c.col == "state" || c.col == "role" {
			continue
		}
		col := s.columnOf(c)
		if col != nil && (col.isTime() || len(col.enum) > 0) || strings.HasSuffix(c.col, "_by") {
			continue
		}
		out = append(out, c)
	}
	out = append(out, s.looseCols(r)...)
	for _, d := range s.defined(r.text) { // a word that stands for a list of columns
		if cols := s.readRequirement(0, d.text).cols; len(cols) > 1 && len(cols)*25 > len(d.text) && givenOutRE.MatchString(r.low) {
			out = append(out, cols...)
		}
	}
	return out
}

func (s *spec) columnOf(c colRef) *column {
	if t := s.sch.tables[c.table]; t != nil {
		return t.column(c.col)
	}
	return s.anyColumn(c.col)
}

// permTables lists the tables that carry a permission for a requirement: those it
// names that tie a person to something, with a role or a grant in them.
func (s *spec) permTables(r *requirement) []string {
	var out []string
	for _, t := range s.sch.order {
		if !r.tables[t.name] && !s.namesRoleOf(r, t) && !s.namesFlag(r, t) || !s.hasRole(t) && s.onlyMakers(t) {
			continue
		}
		if len(s.personCols(t)) > 0 && (permNameRE.MatchString(t.name) || s.hasRole(t)) || s.isPerson(t) && (s.hasRole(t) || s.namesFlag(r, t)) {
			out = append(out, t.name)
		}
	}
	if len(out) == 0 && aloneRE.MatchString(r.low) {
		for _, t := range s.sch.order {
			if r.tables[t.name] && s.saysHolder(r, t) {
				out = append(out, t.name)
			}
		}
	}
	if len(out) == 0 {
		for _, c := range r.cols {
			for _, t := range s.sch.order {
				if (c.table == "" || c.table == t.name) && t.column(c.col) != nil && contains(s.personCols(t), c.col) && !makerRE.MatchString(c.col) && !s.markOf(t, c.col) {
					out = append(out, t.name)
				}
			}
		}
	}
	return out
}

// markOf: the column says who did what t keeps the time of too (redeemed_by beside
// redeemed_at): it is filled by the act and permits nothing.
func (s *spec) markOf(t *table, col string) bool {
	base := strings.TrimSuffix(col, "_by")
	return base != col && (t.column(base+"_at") != nil || t.column(base+"_on") != nil)
}

// namesFlag: the requirement names a boolean of t that is no mark of deletion
// (`board_seat`).
func (s *spec) namesFlag(r *requirement, t *table) bool {
	for _, c := range t.cols {
		if c.isBool() && !softNameRE.MatchString(c.name) && !heldNameRE.MatchString(c.name) && s.isPerson(t) && (namesCol(r, t.name, c.name) || strings.HasPrefix(c.name, "is_") && meets(r.plain, strings.TrimPrefix(c.name, "is_"))) {
			return true
		}
	}
	return false
}

// firmRole: the requirement names, in backticks or quotes, a role or power, or the
// column that holds one.
func (s *spec) firmRole(r *requirement) bool {
	firm := *r
	firm.values = r.firm
	for _, t := range s.sch.order {
		if (len(s.personCols(t)) > 0 || s.isPerson(t)) && s.namesRoleOf(&firm, t) {
			return true
		}
	}
	return false
}

// saysRole: the text names a role, in whatever type.
func (s *spec) saysRole(r *requirement) bool {
	for _, t := range s.sch.order {
		if (len(s.personCols(t)) > 0 || s.isPerson(t)) && s.namesRoleOf(r, t) {
			return true
		}
	}
	return false
}

// namesRoleOf: the requirement speaks of a value or column that this table alone has.
func (s *spec) namesRoleOf(r *requirement, t *table) bool {
	for _, c := range t.cols {
		if !roleNameRE.MatchString(c.name) && (len(c.enum) == 0 || isStateCol(c) || len(s.personCols(t)) == 0 && !s.isPerson(t)) {
			continue
		}
		for _, v := range r.values {
			if contains(c.enum, v) {
				return true
			}
		}
		for _, x := range r.cols {
			if x.col == c.name && (x.table == "" || x.table == t.name) {
				return true
			}
		}
	}
	return false
}

var roleNameRE = regexp.MustCompile(`(^|_)(roles?|permissions?|powers?|duty|capacity|rank|function|level|privilege|capability|right|rights|access|kind|scope|is_admin|can_[a-z]+|may_[a-z]+)(_|$)|^can_|^may_|^is_(admin|owner|manager|lead)`)

func (s *spec) hasRole(t *table) bool {
	for _, c := range t.cols {
		if roleNameRE.MatchString(c.name) && c.name != "kind" || len(c.enum) > 0 && !isStateCol(c) && (permNameRE.MatchString(t.name) || s.people[t.name] || s.isMembership(t)) {
			return true
		}
	}
	return false
}

var (
	firmNameRE   = regexp.MustCompile(`^(operator|agent|customer|client|member|contact|principal|profile|practice|account)s?$`)
	personAttrRE = regexp.MustCompile(`email|login|passw|pin_|phone|full_name|first_name|last_name|surname|display_name|birth`)
)

// timeCols lists the columns of time that a requirement names, and those of soft
// deletion not among them.
func (s *spec) timeCols(r *requirement) []colRef {
	var out []colRef
	for _, c := range r.cols {
		col := s.columnOf(c)
		if col != nil && col.isTime() && !softNameRE.MatchString(c.col) {
			out = append(out, c)
		}
	}
	return out
}

var auditNameRE = regexp.MustCompile(`audit|log|journal|history|trail|events?$|ledger_changes|changes$`)

func (s *spec) auditTable(r *requirement) string {
	for _, t := range s.sch.order {
		if r.named[t.name] && auditNameRE.MatchString(t.name) {
			return t.name
		}
	}
	for _, t := range s.sch.order {
		if r.tables[t.name] && regexp.MustCompile(`audit|log|trail|journal|history`).MatchString(t.name) {
			return t.name
		}
	}
	return ""
}
