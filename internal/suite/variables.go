package suite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// variables are the settings without a flag.
var variables = []string{
	"ASSAY_ROOT", "ASSAY_DB", "ASSAY_BASE_URL", "ASSAY_API_KEY", "ASSAY_MIRROR", "ASSAY_GIT_TOKEN",
	"ASSAY_CACHE", "ASSAY_PG_URL", "ASSAY_SANDBOX", "ASSAY_PROGRESS", "ASSAY_PROOF", "ASSAY_CHECK",
}

// variableValues are the values of settings that take no others.
var variableValues = map[string][]string{
	"ASSAY_SANDBOX": {"off", "require"}, "ASSAY_PROOF": {"all", "update"},
	"ASSAY_PROGRESS": {"0", "1"},
}

// checkVariables returns an error for each variable of the environment whose name differs from
// that of a setting by one or two characters, or whose value the setting does not take.
func checkVariables(environ []string) error {
	known := variables
	for _, o := range options {
		known = append(known, variable(o.name))
	}
	var errs []error
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(strings.ToUpper(name), "ASSAY") ||
			strings.HasPrefix(name, "ASSAY_TEST_") {
			continue
		}
		nearest, least := "", 3
		for _, k := range known {
			if d := editDistance(strings.ToUpper(name), k); d < least {
				nearest, least = k, d
			}
		}
		switch {
		case nearest != "" && nearest != name:
			errs = append(errs, fmt.Errorf("%s is no setting: expected %s?", name, nearest))
		case value != "" && variableValues[name] != nil &&
			!slices.Contains(variableValues[name], value):
			errs = append(errs, fmt.Errorf("%s is %q: expected %s or nothing", name, value,
				strings.Join(variableValues[name], ", ")))
		}
	}
	return errors.Join(errs...)
}

// editDistance returns how many characters are added, left out or replaced between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

// deciding matches variables that decide which programs run or whether they are confined. A file
// .env may come with a foreign folder.
var deciding = regexp.MustCompile(`^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|TMPDIR|ASSAY_SANDBOX|` +
	`GO(?:FLAGS|ROOT|PATH|ENV|BIN|PROXY|TOOLCHAIN|WORK)|` +
	`(?:LD_|DYLD_|GIT_|SSH_|CGO_|NODE_|NPM_|PYTHON|PERL|RUBY|JAVA_|JDK_|XDG_)\w*)$`)
