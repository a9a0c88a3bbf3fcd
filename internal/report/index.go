package report

import "slices"

// An indexPage lists the rows of one page of several, so that a page's filter
// finds what stands on the others.
type indexPage struct {
	Page string   `json:"page"` // as the pages link to each other
	Rows []string `json:"rows"`
}

// indexMost is how many bytes of rows a page carries for the search across pages.
const indexMost = 500_000

// bounded gives the index, or nothing where it is too large for every page to
// carry: the page then says that its filter covers itself alone.
func bounded(index []indexPage) []indexPage {
	n := 0
	for _, p := range index {
		for _, r := range p.Rows {
			n += len(r) + 3
		}
	}
	if n > indexMost {
		return nil
	}
	return index
}

// here gives links to all pages with the n-th marked.
func here(pages []pageLink, n int) []pageLink {
	out := slices.Clone(pages)
	out[n].Here = true
	return out
}
