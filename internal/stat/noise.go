package stat

import "math"

// sample returns the project's recall in each trial, weighted by the root of its entries:
// a sum of credits would hang on the largest project, a plain mean on the smallest.
func (p ProjectTrials) sample() Sample {
	n := float64(p.Entries)
	s := Sample{Weight: math.Sqrt(n)}
	for _, v := range p.Baseline {
		s.Baseline = append(s.Baseline, v/n)
	}
	for _, v := range p.Now {
		s.Now = append(s.Now, v/n)
	}
	return s
}

// drop returns the drop of the mean, as a share of the entries.
func (p ProjectTrials) drop() float64 {
	return (average(p.Baseline) - average(p.Now)) / float64(p.Entries)
}

// average returns the mean of the values.
func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Sigma returns the standard deviation of a project's recall between runs of an unchanged
// auditor. It is a table, fitted to published runs of 17 language models on 13 small
// projects (docs/maintainers/gate.md): credits of one project vary several times as much
// as independent entries would. A side without trials does not count.
func (p ProjectTrials) Sigma() float64 {
	k, sides := 0.0, 0.0
	for _, x := range [][]float64{p.Baseline, p.Now} {
		if len(x) > 0 {
			k, sides = k+average(x), sides+1
		}
	}
	n := float64(p.Entries)
	q := (k/max(1, sides) + 0.5) / (n + 1)
	return math.Sqrt(q * (1 - q) * (0.5/n + 0.02))
}

// SE returns the standard error of the drop by the noise table.
func SE(projects []ProjectTrials) float64 { return seOf(projects, 0, 0) }

// SENow returns the standard error of the new side's recall.
func SENow(projects []ProjectTrials) float64 {
	variance, weight := 0.0, 0.0
	for _, p := range projects {
		n := float64(p.Entries)
		variance += n * p.Sigma() * p.Sigma() / float64(len(p.Now))
		weight += math.Sqrt(n)
	}
	return math.Sqrt(variance) / weight
}

// seOf takes b baseline and m new trials, or with 0 those that are there.
func seOf(projects []ProjectTrials, b, m int) float64 {
	variance, weight := 0.0, 0.0
	for _, p := range projects {
		n, was, is := float64(p.Entries), float64(len(p.Baseline)), float64(len(p.Now))
		if b > 0 {
			was, is = float64(b), float64(m)
		}
		variance += n * p.Sigma() * p.Sigma() * (1/was + 1/is)
		weight += math.Sqrt(n)
	}
	return math.Sqrt(variance) / weight
}

// Phi returns how much more than the noise table the trials of both sides vary around
// their means. Ten degrees of freedom of a table that is right keep it near 1.
func Phi(projects []ProjectTrials) float64 {
	squares, df := 10.0, 10.0
	for _, p := range projects {
		sigma := p.Sigma() * float64(p.Entries)
		for _, x := range [][]float64{p.Baseline, p.Now} {
			if len(x) == 0 {
				continue
			}
			mean := average(x)
			for _, v := range x {
				squares += (v - mean) * (v - mean) / (sigma * sigma)
			}
			df += float64(len(x) - 1)
		}
	}
	return math.Sqrt(squares / df)
}

// D80 returns the drop in recall that b baseline and m new trials of each project find
// with 80 % power (57 to 97 % as measured). The projects' own trials only say which recall
// is expected. It returns +Inf where the design has too few exchanges to call any drop
// but a collapse.
func D80(projects []ProjectTrials, phi float64, b, m int) float64 {
	if math.Pow(binomial(b+m, m), float64(len(projects))) < noExchanges {
		return math.Inf(1)
	}
	return d80(projects, phi, b, m)
}

// d80 takes the trials that are there where b is 0.
func d80(projects []ProjectTrials, phi float64, b, m int) float64 {
	factor := 4.0
	if b == 1 && m == 1 {
		factor = 4.4
	}
	return factor * phi * seOf(projects, b, m)
}

// binomial returns the number of ways to choose k of n.
func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}
