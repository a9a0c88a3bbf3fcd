package findings

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// runPaths turns the keys that artifact made into paths, each once.
type runPaths struct {
	run  *run
	root string
	memo map[string]string
}

// rootBases are the names, upper case, of a base that is the project's root.
var rootBases = words("SRCROOT PROJECTROOT ROOTPATH ROOT PROJECT_ROOT SOURCEROOT WORKSPACE REPOROOT")

// paths finds the project root: the base named like one (%SRCROOT%), the only
// absolute base, or the working directory of the last invocation that names one.
func (r *run) paths() *runPaths {
	rp := &runPaths{run: r, memo: map[string]string{"": ""}}
	var abs []string
	for _, id := range slices.Sorted(maps.Keys(r.bases)) {
		dir := rp.base(id, 0)
		if !isAbs(dir) {
			continue
		}
		abs = append(abs, dir)
		if rootBases[strings.ToUpper(strings.Trim(id, "%"))] {
			first(&rp.root, dir)
		}
	}
	if len(abs) == 1 {
		first(&rp.root, abs[0])
	}
	if dir := rp.path(r.workdir, r.line); isAbs(dir) {
		first(&rp.root, dir)
	}
	rp.root = strings.TrimSuffix(rp.root, "/")
	clear(rp.memo)
	return rp
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && isLetter(p[0]) || strings.Contains(p, "://")
}

// base gives the folder of a base ID, nested bases joined; "" when it is unknown.
func (rp *runPaths) base(id string, deep int) string {
	b, ok := rp.run.bases[id]
	if !ok || deep > 16 {
		return ""
	}
	dir, _ := uriPath(b.URI)
	if b.Base == "" || isAbs(dir) {
		return dir
	}
	return join(rp.base(b.Base, deep+1), dir)
}

func join(dir, name string) string {
	if dir == "" || isAbs(name) {
		return name
	}
	if strings.Contains(dir, "://") {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return path.Join(dir, name)
}

// path gives the path of a key. What was relative to the root, by whatever
// bases, stays relative; what was absolute stays absolute.
func (rp *runPaths) path(key string, line int) string {
	if p, ok := rp.memo[key]; ok || key == "" {
		return p
	}
	if len(rp.memo) > maxKnown {
		clear(rp.memo)
	}
	p := rp.find(key, line, 0)
	rp.memo[key] = p
	return p
}

func (rp *runPaths) find(key string, line, deep int) string {
	uri, rest, ok := strings.Cut(key, "\x00")
	base, num, _ := strings.Cut(rest, "\x00")
	if ok && uri == "" && base == "" && deep == 0 {
		i, err := strconv.Atoi(num)
		if err != nil || i < 0 || i >= len(rp.run.artifacts) || rp.run.artifacts[i] == "" {
			rp.run.add(line, "the artifact index %s leads nowhere: the run has %d artifacts", clip(num), len(rp.run.artifacts))
			return ""
		}
		return rp.find(rp.run.artifacts[i], line, deep+1)
	}
	name, good := uriPath(uri)
	if !good {
		rp.run.add(line, "the URI %q has broken percent-encoding: taken as it stands", clip(uri))
	}
	if base == "" || isAbs(name) {
		return name
	}
	full := join(rp.base(base, 0), name)
	if rel, ok := strings.CutPrefix(full, rp.root+"/"); ok && rp.root != "" {
		return rel
	}
	return full
}
