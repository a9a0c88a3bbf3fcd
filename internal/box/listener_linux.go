package box

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The proxy's listener must be made in the box, which has a network of its own, and be served
// outside. So this binary is started once in the box before the gate: it makes the listener,
// sends it out and ends. It may hold the answers, so nothing of it is left when the program starts.

// Descriptors of the process that makes the listener: this binary, and where to send the listener.
const (
	makerFile = "/proc/self/fd/7"
	makerOut  = 8
)

const listenerMaker = "assay-listener"

func init() {
	if len(os.Args) == 2 && os.Args[0] == makerFile && os.Args[1] == listenerMaker {
		if err := handOutListener(); err != nil {
			fmt.Fprintln(os.Stderr, "assay: the proxy of the run cannot listen in the box:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func handOutListener() error {
	l, err := net.Listen("tcp4", boxAddress)
	if err != nil {
		return err
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	return unix.Sendmsg(makerOut, []byte{0}, unix.UnixRights(int(f.Fd())), nil, 0)
}

func handOver() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX,
		unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("the proxy of the run: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "listener"), os.NewFile(uintptr(pair[1]), "listener"), nil
}

func takeListener(from *os.File) (net.Listener, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("the proxy of the run: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("the proxy of the run: no listener came out of the box"),
			err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("the proxy of the run: no listener came out of the box"),
			err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}
