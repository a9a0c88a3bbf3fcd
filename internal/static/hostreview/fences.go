package hostreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	filesRE   = regexp.MustCompile(`(?i)\b(files?|paths?|folders?|director(y|ies)|asset|document|below|inside)\b`)
	hostsRE   = regexp.MustCompile(`(?i)\bhosts?\b`)
	folderVar = regexp.MustCompile(`(?i)^(base|root|dir|folder|home|parent|prefix|area|fence)$|(_?(dir|root|folder|base))$|(Dir|Root|Folder|Base)$`)
	pathMade  = regexp.MustCompile(`(?i)realpath|\bresolve\(|filepath\.(Join|Clean|Abs)|path\.(join|resolve|normalize)|abspath|normpath|_DIR\b|_ROOT\b`)
	linksRE   = regexp.MustCompile(`(?i)\b(sym(bolic)? ?links?|links and dots|real path|links? (and|are|is) [^.;]*resolved)\b`)
	followsRE = regexp.MustCompile(`(?i)realpath|EvalSymlinks|os\.Root|OpenRoot|OpenInRoot|\.resolve\(strict|toRealPath|lstat|is_symlink`)
)

// fences: a path is held to a folder with its separator, a host to a name with its dot.
func fences(v *view, r Requirement) *Breach {
	for _, c := range v.calls {
		why := ""
		switch c.Name {
		case "startswith", "startsWith", "HasPrefix":
			if v.b.asks(filesRE, r) && v.bareFolder(c) {
				why = "also lets a folder through whose name begins like it"
			}
		case "endswith", "endsWith", "HasSuffix":
			if v.b.asks(hostsRE, r) && v.bareHost(c) {
				why = "also lets a host through whose name ends like it"
			}
		}
		if why != "" {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(v.f.Text(c)) + " " + why, CWEs: []audit.CWE{22, 918, 20}, Confidence: 0.85}
		}
	}
	return nil
}

// tested gives what a prefix or suffix is looked for in, and what it is.
func tested(c *lang.Node) (in, what *lang.Node) {
	switch {
	case len(c.List) == 2:
		return c.List[0], c.List[1]
	case len(c.List) == 1:
		return c.X, c.List[0]
	}
	return nil, nil
}

func (v *view) bareFolder(c *lang.Node) bool {
	in, what := tested(c)
	what = plain(what)
	if what == nil || in == nil {
		return false
	}
	if what.Kind == lang.Ident {
		if !folderVar.MatchString(what.Name) && !pathMade.MatchString(v.origin(what)) {
			return false
		}
		for _, y := range v.values[what.Name] {
			if separated(v.f.Text(y)) {
				return false
			}
		}
		return pathMade.MatchString(v.origin(what)) || folderVar.MatchString(what.Name)
	}
	t := v.f.Text(what)
	return what.Kind == lang.Call && expr(`(?i)^(filepath|path|os\.path)\.(Join|join|resolve|Clean)\(`).MatchString(t) && !separated(t) || what.Kind == lang.Ident && folderVar.MatchString(what.Name)
}

// separated: the text puts a separator at its end.
func separated(t string) bool {
	return expr(`(?i)\bsep\b|Separator|["'` + "`" + `][^"'` + "`" + `]*/["'` + "`" + `]\s*\)*$|os\.sep|['"]/['"]`).MatchString(t)
}

func (v *view) bareHost(c *lang.Node) bool {
	in, what := tested(c)
	if in == nil || what == nil || !expr(`(?i)host|domain|netloc`).MatchString(v.f.Text(in)) {
		return false
	}
	return what.Kind == lang.Ident && !strings.Contains(v.origin(what), `"."`) && !strings.Contains(v.origin(what), `'.'`)
}

// links: where links are to be resolved, a path that the client has a part in is.
func links(v *view, r Requirement) *Breach {
	if !v.b.asks(linksRE, r) || v.f.Lang == lang.Go && !strings.Contains(strings.ToLower(r.Text), "link") || followsRE.MatchString(v.text) || v.f.Lang == lang.Python && strings.Contains(v.text, ".resolve(") {
		return nil
	}
	for _, c := range v.calls {
		if !expr(`^(createReadStream|readFile|readFileSync|sendFile|send_file|open|ReadFile|Open|ServeFile|open_binary|read_bytes)$`).MatchString(c.Name) || len(c.List) == 0 {
			continue
		}
		if t := v.origin(c.List[0]); expr(`(?i)\b(req|request)\b[\w.]*\.(query|body|args|params)\b|query_arg\(`).MatchString(t) && pathMade.MatchString(t) {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(v.f.Text(c)) + " follows links: nothing resolves them before", CWEs: []audit.CWE{59, 22}, Confidence: 0.75}
		}
	}
	return nil
}

var (
	bitsRE   = regexp.MustCompile(`(?i)\b(\d{2,3}) (?:random )?bits\b`)
	bytesOf  = regexp.MustCompile(`^(randomBytes|token_hex|token_urlsafe|token_bytes|urandom|getrandbits)$`)
	madeByte = regexp.MustCompile(`\bmake\(\[\]byte,\s*(\d+)\)`)
	weakRand = regexp.MustCompile(`Math\.random\(|\brandom\.(randint|random|choice|choices|randrange|sample|getrandbits)\(|\bmrand\.|\brand\.(Intn?|Int63n?|Int31n?|IntN|Uint32|Uint64|Perm)\(|uuid1\(`)
	cryptoRE = regexp.MustCompile(`(?i)\bcryptograph\w*|secure random|csprng|from ` + "`?" + `crypto|unguessable|unpredictable`)
)

// randomness: what opens something is drawn from a cryptographic source, with as many
// bits as a sentence asks for.
func randomness(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		if cryptoRE.MatchString(part) {
			if m := weakRand.FindString(v.text); m != "" && !(strings.Contains(m, "rand.") && strings.Contains(v.text, "crand.")) && v.keepsSecret(part) {
				return &Breach{Why: "requirement " + itoa(r.Number) + ": " + m + ") is no cryptographic source", CWEs: []audit.CWE{330, 338}, Confidence: 0.8}
			}
		}
		m := bitsRE.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		need, _ := strconv.Atoi(m[1])
		for _, c := range v.calls {
			if bytesOf.MatchString(c.Name) && len(c.List) == 1 && c.List[0].Kind == lang.Lit {
				n, err := strconv.Atoi(v.f.Text(c.List[0]))
				if c.Name == "getrandbits" {
					n /= 8
				}
				if err == nil && n*8 < need {
					return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(v.f.Text(c)) + " gives less than " + m[1] + " bits", CWEs: []audit.CWE{331, 334}, Confidence: 0.85}
				}
			}
		}
		if b := madeByte.FindStringSubmatch(v.text); b != nil && strings.Contains(v.text, "rand.Read") {
			if n, _ := strconv.Atoi(b[1]); n > 0 && n*8 < need {
				return &Breach{Why: "requirement " + itoa(r.Number) + ": " + b[1] + " random bytes are less than " + m[1] + " bits", CWEs: []audit.CWE{331, 334}, Confidence: 0.85}
			}
		}
	}
	return nil
}

// keepsSecret: the fragment writes a column that is named after a token or a hash, or
// names a thing of the sentence.
func (v *view) keepsSecret(part string) bool {
	for _, w := range v.writes() {
		if hashCol.MatchString(w.col) || expr(`(?i)token|secret|code|key`).MatchString(w.col) {
			return true
		}
	}
	return v.speaksOf(part)
}
