package proof

import (
	"maps"
	"math"
	"slices"
	"strings"

	"assay/audit"
)

// A BagFigure is what a bag of code tokens reaches on one application.
type BagFigure struct {
	App         string
	AUC         float64 // chance that a bad looks worse than a good, 0 to 1; 0.5 is a coin
	Balanced    float64 // balanced accuracy, 0 to 1
	Goods, Bads int
	TrainedOn   int // cases of the other applications
}

// BagOfTokens learns, for each application, from all cases of the others which
// code tokens (comments apart, in lower case) go with bad, and judges the
// application by them: naive Bayes over the tokens that a case holds or lacks
// (Bernoulli, one count added, labels equally likely; McCallum and Nigam 1998, A
// Comparison of Event Models for Naive Bayes Text Classification). It is what the
// words alone give, without any understanding of the code; it is shown and not
// gated, as words of true guards are part of being good.
func BagOfTokens(apps []*audit.App) []BagFigure {
	var figures []BagFigure
	tokens := once(tokensOf)
	for _, held := range apps {
		b := bag{tokensOf: tokens}
		for _, app := range apps {
			if app != held {
				b.learn(app)
			}
		}
		if b.cases[0] > 0 && b.cases[1] > 0 {
			figures = append(figures, b.judge(held))
		}
	}
	return figures
}

// A bag counts, by label (0 good, 1 bad), cases and the cases that hold a token.
type bag struct {
	tokensOf func(*audit.Case) map[string]bool
	cases    [2]float64
	with     map[string]*[2]float64
}

func (b *bag) learn(app *audit.App) {
	if b.with == nil {
		b.with = map[string]*[2]float64{}
	}
	for _, fam := range app.Families {
		for _, c := range fam.Cases {
			b.cases[label(c)]++
			for t := range b.tokensOf(c) {
				if b.with[t] == nil {
					b.with[t] = new([2]float64)
				}
				b.with[t][label(c)]++
			}
		}
	}
}

func (b *bag) judge(app *audit.App) BagFigure {
	var odds [2][]float64                     // by label
	known := slices.Sorted(maps.Keys(b.with)) // in order: sums of floats depend on it
	for _, fam := range app.Families {
		for _, c := range fam.Cases {
			odds[label(c)] = append(odds[label(c)], b.odds(known, b.tokensOf(c)))
		}
	}
	goods, bads := odds[0], odds[1]
	right := [2]float64{}
	for _, o := range goods {
		right[0] += flag(o <= 0)
	}
	above := 0.0
	for _, o := range bads {
		right[1] += flag(o > 0)
		for _, g := range goods {
			above += flag(o > g) + flag(o == g)/2
		}
	}
	ng, nb := float64(max(1, len(goods))), float64(max(1, len(bads)))
	return BagFigure{App: app.App, AUC: above / (ng * nb),
		Balanced: (right[0]/ng + right[1]/nb) / 2,
		Goods:    len(goods), Bads: len(bads), TrainedOn: int(b.cases[0] + b.cases[1])}
}

// odds gives the logarithm of how much likelier tokens are in a bad than in a good.
func (b *bag) odds(known []string, tokens map[string]bool) float64 {
	odds := 0.0
	for _, t := range known {
		n := b.with[t]
		good := (n[0] + 1) / (b.cases[0] + 2)
		bad := (n[1] + 1) / (b.cases[1] + 2)
		if !tokens[t] {
			good, bad = 1-good, 1-bad
		}
		odds += math.Log(bad / good)
	}
	return odds
}

func label(c *audit.Case) int {
	if c.Label == audit.Bad {
		return 1
	}
	return 0
}

func tokensOf(c *audit.Case) map[string]bool {
	tokens := map[string]bool{}
	for _, t := range dialectOf(c.Language).cut(c.Code) {
		if t.code() {
			tokens[strings.ToLower(t.text)] = true
		}
	}
	return tokens
}
