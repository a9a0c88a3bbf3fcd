package hostreview

import (
	"regexp"
	"sync"
)

// exprs holds what expr has compiled: patterns with the names of a SPEC in them come
// again with every fragment of it.
var exprs = struct {
	sync.RWMutex
	of map[string]*regexp.Regexp
}{of: map[string]*regexp.Regexp{}}

// expr compiles a pattern once. The store is emptied when it has grown large.
func expr(pattern string) *regexp.Regexp {
	exprs.RLock()
	re := exprs.of[pattern]
	exprs.RUnlock()
	if re != nil {
		return re
	}
	re = regexp.MustCompile(pattern)
	exprs.Lock()
	defer exprs.Unlock()
	if len(exprs.of) > 1<<13 {
		clear(exprs.of)
	}
	exprs.of[pattern] = re
	return re
}
