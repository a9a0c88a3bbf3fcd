package auditor

import (
	"context"

	"assay/audit"
)

// A staticReviewer is the embedded analyser as a reviewer. It is no paid or slow
// one, so it says nothing about settings and cost, and is asked anew in every
// run: results of rules that have changed since are worth nothing.
type staticReviewer struct {
	review func(context.Context, audit.ReviewTask) audit.Review
}

// StaticReviewer gives the embedded analyser as a reviewer named "static";
// review is internal/static's.
func StaticReviewer(review func(context.Context, audit.ReviewTask) audit.Review) audit.Reviewer {
	return &staticReviewer{review}
}

// Name is "static".
func (s *staticReviewer) Name() string { return "static" }

// Review judges one fragment. It never fails for good: the next fragment is
// another one.
func (s *staticReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	if err := ctx.Err(); err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}, nil
	}
	return s.review(ctx, task), nil
}
