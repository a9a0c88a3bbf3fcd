package assay

import "embed"

// shipped holds the fixtures, the cases and the smoke fixture, so that the suites
// run wherever this package is imported.
//
//go:embed fixtures/*.md fixtures/prompts fixtures/projects fixtures/recordings fixtures/baselines fixtures/*.tsv
//go:embed fixtures/planted
//go:embed tests/*/*.md tests/*/*.sql tests/*/*.mjs tests/*/*.py tests/*/*.txt
//go:embed smoke-test-fixture
var shipped embed.FS
