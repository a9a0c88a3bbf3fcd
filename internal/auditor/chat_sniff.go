package auditor

import (
	"bufio"
	"io"
)

// A sniffer tells the first byte of a body that is no white space, and gives the
// body from there on.
type sniffer struct {
	*bufio.Reader
	io.Closer
}

func newSniffer(body io.ReadCloser) *sniffer { return &sniffer{bufio.NewReaderSize(body, 512), body} }

func (s *sniffer) first() (byte, error) {
	for {
		b, err := s.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case b != ' ' && b != '\t' && b != '\r' && b != '\n':
			return b, s.UnreadByte()
		}
	}
}
