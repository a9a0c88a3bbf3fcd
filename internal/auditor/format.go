package auditor

import "assay/audit/findings"

// ReportFormat tells a model how to write the text audit report that
// audit/findings reads. An agent finds it in the file that $ASSAY_FORMAT names.
const ReportFormat = findings.Instructions
