package seal

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Lock waits until nobody else holds the file, in this process or another, and makes it
// where it is not there. Closing what it gives, and the end of the process, let go of it.
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
