package assay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/suite"
)

type nobody struct{}

func (nobody) Name() string { return "nobody" }

func (nobody) Audit(context.Context, audit.AuditTask) (audit.AuditRun, error) {
	return audit.AuditRun{}, nil
}

func (nobody) Review(context.Context, audit.ReviewTask) (audit.Review, error) {
	return audit.Review{}, nil
}

func TestOptionsReachTheSuites(t *testing.T) {
	var o suite.Options
	for _, option := range []Option{Dir("testdata/assay"), Shipped(), Auditor(nobody{}),
		Reviewer(nobody{})} {
		option.set(&o)
	}
	require.Equal(t, suite.Options{Dir: "testdata/assay", Both: true,
		Auditors: []audit.Auditor{nobody{}}, Reviewers: []audit.Reviewer{nobody{}}}, o)
}
