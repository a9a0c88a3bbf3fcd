package score

// Show gives a figure as people read it: shares in percent, counts as numbers,
// and "undefined".
func Show(metric string, v Value) string { return showMetric(metric, v) }
