package main

import (
	"fmt"
	"os"
	"time"

	"assay/internal/auditor"
	"assay/internal/suite"
)

type readingsCmd struct {
	Ask  askCmd  `cmd:"" help:"Write the requests of a sample of cases and modules, a file each, as a model would get them."`
	Keep keepCmd `cmd:"" help:"Make replies the recording of a reviewer, and drop those to requests that are others today."`
}

type askCmd struct {
	Dir     string `arg:"" help:"Folder for <tier>/<number>.request.txt and, not to be shown to a reader, index.tsv." type:"path"`
	Root    string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Lacking string `help:"Only what the recording of this reader lacks." placeholder:"READER"`
}

func (c *askCmd) Run() error {
	n, err := suite.Readings{Root: c.Root, Dir: c.Dir}.Ask(c.Lacking)
	if err != nil {
		return err
	}
	fmt.Printf("%d requests in %s: a reply to plain/001.request.txt goes to plain/001.READER.reply.txt\n", n, c.Dir)
	return nil
}

type keepCmd struct {
	Reader string `arg:"" help:"Name of the reviewer: a folder of fixtures/recordings/bench."`
	Dir    string `arg:"" optional:"" help:"What assay readings ask wrote, with replies; without it only what is stale is dropped." type:"existingdir"`
	Root   string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Model  string `help:"Who replied: the model with its version, as far as it is known."`
	Asked  string `help:"How it was asked: one request a conversation or several, glance or care, with which words."`
	Had    string `help:"What it had beside the request: nothing, tools, earlier requests."`
	Date   string `help:"Of the last reply; default: today." placeholder:"YYYY-MM-DD"`
}

func (c *keepCmd) Run() error {
	if c.Date == "" {
		c.Date = time.Now().UTC().Format(time.DateOnly)
	}
	if _, err := time.Parse(time.DateOnly, c.Date); err != nil {
		return fmt.Errorf("--date is %q: expected a day like 2026-11-23", c.Date)
	}
	about := auditor.Readings{Reader: c.Reader, Model: c.Model, Asked: c.Asked, Had: c.Had, Date: c.Date}
	return suite.Readings{Root: c.Root, Dir: c.Dir}.Keep(about, os.Stdout)
}
