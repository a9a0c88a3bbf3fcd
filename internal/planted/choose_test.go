package planted

// With makes exactly these sites bad and leaves all else as it is written.
func (p *Template) With(bad ...string) *Draw { return p.with(bad) }

// WithSeed makes exactly these sites bad; the seed chooses everything else.
func (p *Template) WithSeed(seed uint64, bad ...string) *Draw { return p.shuffled(bad, seed) }
