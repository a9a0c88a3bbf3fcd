package seal

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Lock locks a file and creates it if necessary. It waits until no other caller, of this
// process or another, holds the lock. Closing the result, or the end of the process, releases
// it.
func Lock(ctx context.Context, file string) (io.Closer, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		held, err := tryLock(f)
		if held {
			return f, nil
		}
		if err == nil {
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		return nil, errors.Join(err, f.Close())
	}
}
