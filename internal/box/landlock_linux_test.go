package box

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"assay/audit"
)

// escape tries what Landlock alone does not hold: sockets that it does not know, and the
// other programs of this account. Its arguments are a host with a port, a process, and the
// path of a Unix socket.
func escape(args []string) {
	host, socket := args[0], args[2]
	pid, _ := strconv.Atoi(args[1])
	say := func(what string, err error) {
		if err == nil {
			fmt.Println("OPEN", what)
		} else {
			fmt.Println("HELD", what+":", err)
		}
	}
	tcp, _ := net.ResolveTCPAddr("tcp4", host)
	to := &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())}
	connect := func(kind, protocol int) error {
		fd, err := unix.Socket(unix.AF_INET, kind, protocol)
		if err == nil {
			err = unix.Connect(fd, to)
			_ = unix.Close(fd)
		}
		return err
	}
	say("TCP", connect(unix.SOCK_STREAM, 0))
	say("multipath TCP", connect(unix.SOCK_STREAM, unix.IPPROTO_MPTCP))
	say("UDP", connect(unix.SOCK_DGRAM, 0))
	say("ICMP", connect(unix.SOCK_DGRAM, unix.IPPROTO_ICMP))
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	say("listening", err)
	_, err = net.Dial("unix", socket)
	say("a Unix socket", err)
	_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	say("a pair of datagram sockets", err)
	_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	say("a pair of streams", err)
	say("a signal", unix.Kill(pid, 0))
	say("limits of another", unix.Prlimit(pid, unix.RLIMIT_CPU, nil, &unix.Rlimit{}))
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	say("the environment of another", err)
	_, err = os.ReadDir(fmt.Sprintf("/proc/%d/root/", pid))
	say("the files of another", err)
	_, _, errno := unix.RawSyscall(unix.SYS_MSGGET, 0, 0o666|unix.IPC_CREAT, 0)
	if errno == 0 {
		err = nil
	} else {
		err = errno
	}
	say("message queues", err)
}

// TestLandlockHoldsWhatItDoesNotKnow checks that where Landlock confines, a filter of system
// calls holds the sockets that Landlock has no rule for, and that programs of the same
// account are out of reach.
func TestLandlockHoldsWhatItDoesNotKnow(t *testing.T) {
	l := newLair(t, landlocked)
	if !filtered {
		t.Skip("no filter of system calls is written for this architecture")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello\n")
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	socket := filepath.Join(l.own, "socket")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, os.Chmod(socket, 0o777))
	bystander := exec.Command("/bin/sleep", "600")
	bystander.SysProcAttr = asAccount(l.box.owner())
	require.NoError(t, bystander.Start())
	defer func() { _, _ = bystander.Process.Kill(), bystander.Wait() }()

	line := fmt.Sprintf(`"$SELF" escape %s %d %s`, host, bystander.Process.Pid, socket)
	all := []string{"TCP", "multipath TCP", "UDP", "ICMP", "listening", "a Unix socket",
		"a pair of datagram sockets",
		"a signal", "limits of another", "the environment of another", "the files of another",
		"message queues"}
	for name, network := range map[string]audit.Network{"none": {},
		"by proxy": {Hosts: []string{host}}} {
		e, _ := l.run(line, connectTo(network))
		said := string(e.Stdout)
		require.Equal(t, 0, e.Code, string(e.Stderr))
		for _, what := range all {
			if (what == "TCP" && l.box.landlock < abiTCP && !network.None()) ||
				(what == "a signal" && l.box.landlock < abiSignals) {
				continue
			}
			require.Contains(t, said, "HELD "+what+":", name)
		}
		require.Contains(t, said, "OPEN a pair of streams", name)
	}
	e, _ := l.run(line, connectTo(audit.Network{Open: true}))
	for _, what := range []string{"TCP", "UDP", "listening"} {
		require.Contains(t, string(e.Stdout), "OPEN "+what+"\n", "an open network")
	}
	require.Contains(t, string(e.Stdout), "HELD a Unix socket:")

	e, _ = l.run(`curl -s "http://`+host+
		`" | head -1; mkdir "$HOME/a" "$HOME/b" && echo x > "$HOME/a/f" && ln "$HOME/a/f" "$HOME/b/g" && cat "$HOME/b/g"`,
		connectTo(audit.Network{Hosts: []string{host}}),
		func(p *Process) { p.Env = append(p.Env, "no_proxy=", "NO_PROXY=") })
	require.Contains(t, string(e.Stdout), "x\n", string(e.Stderr))
}

// TestExposedByOlderKernels checks what is said of kernels whose Landlock holds less.
func TestExposedByOlderKernels(t *testing.T) {
	hosts := audit.Network{Hosts: []string{"api.example.com"}}
	for _, c := range []struct {
		abi   int
		drops bool
		n     audit.Network
		want  string
	}{
		{1, false, hosts,
			"confined in part (Landlock, version 1): it could empty files of this account, reach any host by TCP"},
		{3, false, audit.Network{}, ""},
		{3, true, hosts, "confined in part (Landlock, version 3): it could reach any host by TCP"},
		{3, true, audit.Network{Open: true}, ""},
		{4, true, hosts, ""},
		{6, false, hosts, ""},
	} {
		if !filtered {
			t.Skip("no filter of system calls is written for this architecture")
		}
		b := &Box{sandbox: sandbox{landlock: c.abi, drops: c.drops}}
		require.Equal(t, c.want, b.exposed("", c.n))
	}
	b := &Box{sandbox: sandbox{landlock: 4}}
	require.Equal(t,
		"the names, sizes and times of files, the list of processes, the permissions of files of this account, signals to programs of this account, other hosts at the port of the proxy", b.Unconfined(hosts))
	require.Empty(t, (&Box{sandbox: sandbox{bwrap: "bwrap"}}).Unconfined(hosts))
}

// TestOlderLandlock checks that what a kernel without Landlock's newer rights lets through is
// still run, and the files are held.
func TestOlderLandlock(t *testing.T) {
	l := newLair(t, landlocked)
	key := filepath.Join(tempDir(t), "key")
	require.NoError(t, os.WriteFile(key, []byte("the answers"), 0o644))
	for abi := 1; abi <= l.box.landlock; abi++ {
		l.box.landlock = abi
		e, _ := l.run("cat A.java " + key + "; echo mine > $HOME/mine && cat $HOME/mine")
		require.Equal(t, "class A {}\nmine\n", string(e.Stdout), string(e.Stderr))
		require.Contains(t, e.Confined, fmt.Sprintf("Landlock (version %d), as uid ", abi))
	}
}

// TestNothingConfines checks that a machine with neither is told so, and refused where the
// sandbox is required.
func TestNothingConfines(t *testing.T) {
	withoutBubblewrap = true
	t.Cleanup(func() { withoutBubblewrap = false; tried.Delete("") })
	tried.Store("", func() (sandbox, string) { return try("", nil) })
	b, exposed, err := New(&audit.AuditorEntry{Name: "a"}, "")
	require.NoError(t, err)
	require.Nil(t, b)
	require.Equal(t,
		"not confined (bubblewrap is not installed; the kernel has no Landlock): it could read what this account can read, the answer keys among it, write there, and use the network", exposed)
	t.Setenv("ASSAY_SANDBOX", "require")
	_, _, err = New(&audit.AuditorEntry{Name: "a", Pos: audit.Pos{File: "auditors.md", Line: 3}},
		"")
	require.EqualError(t, err,
		"auditors.md:3: a: ASSAY_SANDBOX=require: bubblewrap is not installed; the kernel has no Landlock")
}
