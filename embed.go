package assay

import "embed"

// shipped holds the fixtures, the cases and the smoke fixture, so that the suites run wherever
// this package is imported.
var shipped embed.FS
