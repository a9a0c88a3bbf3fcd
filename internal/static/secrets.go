package static

import (
	"bytes"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

// Formats of keys that services issue: a match needs no context.
var issuedKey = regexp.MustCompile(`\b(AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}|glpat-[\w-]{20}|xox[baprs]-[\w-]{20,}|[sr]k_live_[A-Za-z0-9]{16,}|AIza[\w-]{35}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{36}|sk-[A-Za-z0-9]{32,}|EAACEdEose0cBA\w+)\b|-----BEGIN (RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY( BLOCK)?-----`)

// keyParts are the fixed parts of these formats: a quick look at a whole file.
var keyParts = bytes.Fields([]byte("AKIA ASIA gh glpat- xox _live_ AIza SG. ya29. npm_ sk- PRIVATE"))

var (
	secretName  = regexp.MustCompile(`(?i)(passwd|password|passphrase|\bpwd|_pwd|pwd$|secret|api_?key|apikey|access_?key|private_?key|signing_?key|encrypt(ion)?_?key|auth_?token|access_?token|jwt_?key|credential|secret_?key|crypto_?key|hmac_?key|client_?secret|aes_?key|master_?key|session_?key|cookie_?key|\bpass$|_pass$|dbpass|token_?key|salt$)`)
	secretNot   = regexp.MustCompile(`(?i)(field|label|name$|url$|uri$|path|file|header|prefix|suffix|regex|pattern|column|param|placeholder|message|msg|error|hint|text|title|endpoint|length|(?:^|_)(?:min|max)(?:imum)?(?:_|$)|expire|expiry|ttl|type$|format|encoder|policy|attribute|property|reset|forgot|change|confirm|input|form|view|page|template|route|event|action|enabled|required|strength|_id$|id$|key_?id|public|question|provider|manager|store|algorithm|alg$|class|method|query|sql|css|selector|xpath|locator|key_?name|cache_?key|primary|foreign|\bi18n|translation|scheme|hash$|digest|env|var$)`)
	placeholder = regexp.MustCompile(`(?i)^(\$\{|\{\{|<|%|#\{|\$\(|\$[A-Z_]+$|@|__)|^(x+|\*+|\.+|-+|_+)$|your[-_ ]?|change[-_ ]?me|^(replace|todo|placeholder|example|dummy|redacted|insert|enter|fill)|redacted|none$|null$|undefined|true$|false$|^(string|text|password|passwd|secret|token|required|optional|default|value|key|apikey|api_key|env|vault|hidden|empty|test|n/a)$|process\.env|getenv|environ|os\.|config\.|settings\.|\bENC\(`)
	looksCode   = regexp.MustCompile(`^(required|nullable|sometimes|confirmed|string)\b|\||_with(out)?:|^[a-z]+([._-][a-z]+)+$|^/|^https?://|^[a-z]+:[a-z]|\s|[<>{}()\[\]]|^\.|\.(js|css|html|xml|json|png|java|py|go|php)$|^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	// strongName are names that hold nothing but a secret, whatever the value looks like.
	strongName = regexp.MustCompile(`(?i)^(app_?|flask_?|django_?|jwt_?|session_?|cookie_?|token_?|access_?|refresh_?|signing_?|hmac_?|encryption_?)*(secret(_?key)?|signing_?key|jwt_?key|secret_?token|session_?key)$`)
	dashed     = regexp.MustCompile(`^[a-z]+([._-][a-z0-9]+)+$`)
	// inAddress finds a password within the address of a service.
	inAddress = regexp.MustCompile(`\b(postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|redis|amqps?|ftp|https?|smtp|mssql|jdbc:\w+)(?:\+\w+)?://[\w.%-]+:([^@\s/"'$<>{}%*]{3,})@[\w.-]+`)
	hashWord  = regexp.MustCompile(`^(md5|sha1|sha256|sha512|bcrypt|hmac|hs256|rs256|aes|basic|bearer)`)
)

// checkSecrets looks for passwords and keys in code and settings: by the formats
// that services issue, and by the name of what a literal is given to, when the
// literal is neither a placeholder nor a name.
func (a *application) checkSecrets() {
	units := map[string]*flow.Unit{}
	for _, u := range a.project.Units {
		units[u.File.Path] = u
	}
	a.each(func(a *application, s *source) {
		if s.raw == nil || isTest(s.path) || !secretFile(s.path) {
			return
		}
		n, issued := 0, slices.ContainsFunc(keyParts, func(w []byte) bool { return bytes.Contains(s.raw, w) })
		for l := range bytes.Lines(s.raw) {
			n++
			l = bytes.TrimSuffix(l, []byte("\n"))
			if len(l) > 4000 || len(l) < 8 {
				continue
			}
			if name, key := secretIn(s.path, l, issued); name != "" || key {
				a.secret(s.path, units[s.path], n, name, key)
				if lang.Of(s.path) == "" {
					break // further secrets of the same settings say nothing new
				}
			}
		}
	})
}

// secretFile tells files whose secrets harm: neither tried out, shown or shipped as an
// example, nor texts for people, nor of a developer's machine or a test run.
func secretFile(p string) bool {
	b := strings.ToLower(path.Base(p))
	return !elsewhere.MatchString(p) && !texts.MatchString(b) && (!strings.HasSuffix(b, ".properties") || !bundle.MatchString(b))
}

var (
	elsewhere = regexp.MustCompile(`(?i)(^|/)(tests?|testing|docs?|examples?|samples?|demo|fixtures?|mocks?|dev|\.github|\.circleci|\.devcontainer)/|docker-compose|\.mock\.|(^|/)compose\.ya?ml$|(^|/)(i18n|locales?|langs?|translations|messages)/`)
	texts     = regexp.MustCompile(`^(package-lock\.json|messages.*)$|\.(lock|txt|html?|dist)$|\.(min|example|sample|template)\b`)
)

// bundle tells texts of a user interface by the file's name.
var bundle = regexp.MustCompile(`(resource|message|label|i18n|lang|text|bundle|display|ui)|_[a-z]{2}(_[a-z]{2})?\.properties$`)

// secretIn gives the name that a secret is given to, or key for an issued key.
func secretIn(p string, l []byte, issued bool) (name string, key bool) {
	if issued {
		if k := issuedKey.Find(l); k != nil && !bytes.Contains(l, []byte("EXAMPLE")) {
			return "", true
		}
	}
	if bytes.Contains(l, []byte("://")) {
		if m := inAddress.FindSubmatch(l); m != nil && !commented.Match(l) && !placeholder.Match(m[2]) && !bytes.Contains(l, []byte("example.com")) {
			return "password", false
		}
	}
	switch {
	case !mayNameSecret(l):
	case lang.Of(p) == "":
		name = secretSetting(p, string(l))
	case bytes.ContainsAny(l, "\"'`"):
		name = secretLiteral(string(l))
	}
	return name, false
}

var commented = regexp.MustCompile(`^\s*(//|#|\*|/\*|<!--|;)`)

// mayNameSecret is a quick look for the first letters of a telling word.
func mayNameSecret(l []byte) bool {
	last := uint32(0) // three letters, small
	for _, c := range l {
		switch last = last<<8&0xffffff | uint32(c|0x20); last {
		case 'p'<<16 | 'a'<<8 | 's', 'p'<<16 | 'w'<<8 | 'd', 's'<<16 | 'e'<<8 | 'c', 's'<<16 | 'a'<<8 | 'l', 'k'<<16 | 'e'<<8 | 'y', 't'<<16 | 'o'<<8 | 'k', 'c'<<16 | 'r'<<8 | 'e':
			return true
		}
	}
	return false
}

var literal = regexp.MustCompile(`([A-Za-z_$][\w$.\-]*)["'\]]?\s*(?::\s*[A-Za-z]+\s*)?(?:=>|:=|=|:)\s*(?:\[\]byte\(|new String\(|Buffer\.from\()?(?:[a-zA-Z]{0,2})?["'` + "`" + `]([^"'` + "`" + `]{3,200})["'` + "`" + `]`)

// secretLiteral finds name = "value" in a line of code.
func secretLiteral(l string) string {
	if commented.MatchString(l) {
		return ""
	}
	if strings.Contains(l, "env") || strings.Contains(l, "ENV") || strings.Contains(l, "Env") || strings.Contains(l, "@Value") {
		for _, m := range fallback.FindAllStringSubmatch(l, 3) {
			for i := 1; i+1 < len(m); i += 2 {
				if n := m[i]; n != "" && secretName.MatchString(n) && !secretNot.MatchString(n) && secretValue(n, m[i+1]) {
					return n
				}
			}
		}
	}
	for _, m := range slices.Concat(literal.FindAllStringSubmatch(l, 3), storedSecret.FindAllStringSubmatch(l, 1)) {
		n := m[1][strings.LastIndexByte(m[1], '.')+1:]
		if secretName.MatchString(n) && !secretNot.MatchString(n) && secretValue(n, m[2]) {
			return n
		}
	}
	return ""
}

// storedSecret is name and value as the arguments of a call that keeps them.
var storedSecret = regexp.MustCompile(`\b(?:set|put|add)\w*\(\s*["']([\w.\-]+)["']\s*,\s*["']([^"']{3,200})["']`)

// fallback is a value that stands in for a variable of the environment.
var fallback = regexp.MustCompile(`(?:process\.env|import\.meta\.env)\.(\w+)\s*(?:\|\||\?\?)\s*['"` + "`" + `]([^'"` + "`" + `]{6,})['"` + "`" + `]|(?i:getenv|environ\.get|\benv|get_?env\w*|env_?or\w*|env_?default|lookup_?env\w*)\(\s*['"](\w+)['"]\s*,\s*['"]([^'"]{6,})['"]|(?:getenv\(\s*|\$_ENV\[|\$_SERVER\[|process\.env\[|environ\[)['"](\w+)['"]\s*[)\]]\s*(?:\?:|\?\?|\|\||or)\s*['"]([^'"]{6,})['"]|@Value\(\s*"\$\{([\w.\-]+):([^}"]{6,})\}"`)

// settingDefault is the same in settings.
var settingDefault = regexp.MustCompile(`^\$\{[\w.\-]+:-?([^}{$]{6,})\}$`)

var setting = regexp.MustCompile(`^\s*(?:export\s+|ENV\s+|ARG\s+|-\s+)?["']?([\w.\-/]+)["']?\s*(?:=|:|\s)\s*["']?([^"'\s#,][^"'#,]*?)["']?\s*,?\s*(?:#.*)?$|<(?:\w+:)?(?:property|entry|add|param|constructor-arg)\s+(?:name|key)="([\w.\-]+)"\s+value="([^"]+)"|<([\w.]+)>([^<\s]+)</`)

func secretSetting(p, l string) string {
	if commented.MatchString(l) {
		return ""
	}
	m := setting.FindStringSubmatch(l)
	if m == nil {
		return ""
	}
	for i := 1; i+1 < len(m); i += 2 {
		n, v := m[i], strings.TrimSpace(m[i+1])
		if n == "" {
			continue
		}
		n = n[strings.LastIndexAny(n, "./")+1:]
		if d := settingDefault.FindStringSubmatch(v); d != nil && secretValue(n, d[1]) {
			v = d[1]
		}
		if n == "key" || !secretName.MatchString(n) || secretNot.MatchString(n) || len(v) < 3 || placeholder.MatchString(v) && !weakDefaults[strings.ToLower(v)] {
			continue
		}
		if strings.Contains(v, "do-not-use") || strings.EqualFold(n, "secrets") || v == "inherit" || strings.IndexFunc(v, func(r rune) bool { return r > 127 }) >= 0 {
			continue
		}
		if strings.ContainsAny(v, " {}[]()<>") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "&") || strings.HasPrefix(v, "*") || strings.HasSuffix(v, ":") {
			continue
		}
		if !noSettings[strings.ToLower(path.Ext(p))] {
			return n
		}
	}
	return ""
}

// noSettings are the extensions of templates, texts and build scripts.
var noSettings = lang.Words(".jsp .ftl .vm .ejs .pug .hbs .twig .xhtml .vue .mustache .j2 .md .gradle .kts .tmpl .gohtml")

// spoken tells texts for people and names of columns: words alone, or the name again.
func spoken(name, v string) bool {
	return strings.ContainsAny(v, " /") && !strings.ContainsAny(v, "0123456789+=") || words.MatchString(v) || hashed.MatchString(v) ||
		strings.Contains(strings.ToLower(v), "do-not-use")
}

var (
	words  = regexp.MustCompile(`(?i)^([a-z]+[-_ ])*(password|passwd|secret|token|credential|key|pass)s?([-_ ]?(hash|field|label|name|text|confirm\w*|again|new|old|\w+_at))?$|^(any|open|null|some)\w*$`)
	hashed = regexp.MustCompile(`^(\$\w{1,8}\$|pbkdf2|\{\w+\})`)
)

// weakDefaults are words that are placeholders in code and passwords in settings.
var weakDefaults = lang.Words("password secret passwd test changeme change_me")

// secretValue: v is no name, message or placeholder.
func secretValue(name, v string) bool {
	if strongName.MatchString(name) && dashed.MatchString(v) && len(v) >= 8 && !placeholder.MatchString(v) && !strings.HasSuffix(v, ".secret") && strings.Count(v, ".") == 0 {
		return true
	}
	if spoken(name, v) || placeholder.MatchString(v) || looksCode.MatchString(v) || hashWord.MatchString(strings.ToLower(v)) && len(v) < 10 {
		return false
	}
	fold := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	if strings.Contains(fold(name), fold(v)) || strings.Contains(fold(v), fold(name)) && entropy(v) < 3.3 {
		return false
	}
	if strings.Contains(strings.ToLower(name), "pass") || strings.Contains(strings.ToLower(name), "pwd") {
		return len(v) >= 4 && (strings.ContainsAny(v, "0123456789!@#$%^&*") || entropy(v) >= 2.2)
	}
	if len(v) < 6 {
		return false
	}
	if strings.ContainsAny(v, "0123456789") || len(v) >= 16 {
		return entropy(v) >= 2.5
	}
	return entropy(v) >= 2.6 && !camel.MatchString(v)
}

var camel = regexp.MustCompile(`^[a-z]+([A-Z][a-z]+)+$`)

// entropy is Shannon's, in bits a character.
func entropy(s string) float64 {
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	e := 0.0
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(s))
			e -= p * math.Log2(p)
		}
	}
	return e
}

func (a *application) secret(p string, u *flow.Unit, n int, name string, key bool) {
	f := finding(a.set.ByID["secret.hardcoded"], p, line(n))
	lower := strings.ToLower(name)
	switch {
	case key:
		f.Confidence = 0.9
	case strings.Contains(lower, "pass") || strings.Contains(lower, "pwd"):
		f.CWEs = []audit.CWE{259, 798}
	case strings.Contains(lower, "key") || strings.Contains(lower, "secret") || strings.Contains(lower, "salt"):
		f.CWEs = []audit.CWE{798, 321}
	}
	if u != nil {
		f.Function = functionAt(u, n)
	}
	a.add(f)
}

// functionAt names the innermost function around a line, "" where none with a name is.
func functionAt(u *flow.Unit, line int) string {
	name, size := "", int32(1<<30)
	for _, fn := range u.Funcs {
		n := fn.Node
		if fn.Name != "" && int(n.Start) <= line && line <= int(n.End) && n.End-n.Start < size {
			name, size = fn.Name, n.End-n.Start
		}
	}
	return name
}
