package findings

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// rootBases are the names, upper case, of a base that is the project's root.
var rootBases = words("SRCROOT PROJECTROOT ROOTPATH ROOT PROJECT_ROOT SOURCEROOT WORKSPACE REPOROOT")

// findRoot finds the project root: the base named like one (%SRCROOT%), the only
// absolute base, or the working directory of the last invocation that names one.
func (r *run) findRoot() {
	var abs []string
	root := ""
	for _, id := range slices.Sorted(maps.Keys(r.bases)) {
		dir := r.base(id, 0)
		if !isAbs(dir) {
			continue
		}
		abs = append(abs, dir)
		if rootBases[strings.ToUpper(strings.Trim(id, "%"))] {
			first(&root, dir)
		}
	}
	if len(abs) == 1 {
		first(&root, abs[0])
	}
	if dir := r.path(r.workdir, r.line); isAbs(dir) {
		first(&root, dir)
	}
	r.root = strings.TrimSuffix(root, "/")
	clear(r.paths) // those below the root have become relative
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && drive.MatchString(p) || strings.Contains(p, "://")
}

// base gives the folder of a base ID, nested bases joined; "" when it is unknown.
func (r *run) base(id string, deep int) string {
	b, ok := r.bases[id]
	if !ok || deep > 16 {
		return ""
	}
	dir, _ := uriPath(b.URI)
	if b.Base == "" || isAbs(dir) {
		return dir
	}
	return join(r.base(b.Base, deep+1), dir)
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

// maxPaths bounds the paths that are known; a larger map is slower than they are made.
const maxPaths = 1 << 12

// path gives the path of an artifact, equal ones in one place in memory. What was
// relative to the root, by whatever bases, stays relative; what was absolute stays
// absolute.
func (r *run) path(a artifact, line int) string {
	p, ok := r.paths[a]
	if !ok && a != (artifact{}) {
		if len(r.paths) > maxPaths {
			clear(r.paths)
		}
		p = r.find(a, line)
		r.paths[a] = p
	}
	return p
}

func (r *run) find(a artifact, line int) string {
	if a.URI == "" && a.Base == "" {
		entry := at(r.artifacts, a.Index)
		if entry == nil || entry.Location == (artifact{}) {
			r.add(line, "the artifact index %d leads nowhere: the run has %d artifacts", int(a.Index)-1, len(r.artifacts))
			return ""
		}
		a = entry.Location
	}
	name, good := uriPath(a.URI)
	if !good {
		r.add(line, "the URI %q has broken percent-encoding: taken as it stands", clip(a.URI))
	}
	if a.Base == "" || isAbs(name) {
		return name
	}
	full := join(r.base(a.Base, 0), name)
	if rel, ok := strings.CutPrefix(full, r.root+"/"); ok && r.root != "" {
		return rel
	}
	return full
}
