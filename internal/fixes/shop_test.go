package fixes_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A shop is a small repository, made by script, whose commits are named by letters.
type shop struct {
	t       *testing.T
	dir     string
	minutes int
	when    string // day of the commits; "" for the first of March
	commits map[string]string
	text    string // of the table of its fixes
}

func (s *shop) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git",
		append([]string{"-C", s.dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c",
			"commit.gpgSign=false"}, args...)...)
	date := fmt.Sprintf("%sT%02d:%02d:00Z", cmp.Or(s.when, "2026-03-01"),
		s.minutes/60, s.minutes%60)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// commit edits files by pairs of file, old and new text ("" old: the whole file), and commits.
func (s *shop) commit(name, message string, edits ...string) string {
	s.t.Helper()
	s.minutes++
	for i := 0; i < len(edits); i += 3 {
		file := filepath.Join(s.dir, edits[i])
		text := edits[i+2]
		if edits[i+1] != "" {
			old, err := os.ReadFile(file)
			require.NoError(s.t, err)
			require.Equal(s.t, 1, strings.Count(string(old), edits[i+1]), "%s: %q",
				edits[i], edits[i+1])
			text = strings.Replace(string(old), edits[i+1], text, 1)
		}
		require.NoError(s.t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(s.t, os.WriteFile(file, []byte(text), 0o644))
	}
	s.git("add", "-A")
	s.git("commit", "-qm", message)
	s.commits[name] = s.git("rev-parse", "HEAD")
	return s.commits[name]
}

const payGo = `package shop

import "errors"

// charge takes money.
func charge(user string, amount int) error {
	balance := balances[user]
	balances[user] = balance - amount
	return nil
}

func refund(user string, amount int) error {
	balances[user] += amount
	return nil
}

func load(path string) string {
	return read("/srv/" + path)
}

func invoice(id string) string {
	return load("invoices/" + id)
}

func logo(id string) string {
	return load("logos/" + id)
}

var balances = map[string]int{}

var errAmount = errors.New("amount")
`

const usersPy = `import db


class Users:
    def find(self, name):
        return db.query("select * from users where name = '" + name + "'")

    def remove(self, user, id):
        db.run("delete from users where id = %s", id)
        return True


def export(request):
    rows = db.query("select * from users")
    out = []
    for row in rows:
        line = row.name + "," + row.mail
        out.append(line)
        count(line)
    return "\n".join(out)


def admin(request):
    everyone = db.query("select * from users")
    return everyone


def profile(request, usr):
    page = "<h1>" + usr.name + "</h1>"
    total = len(usr.orders)
    return page + str(total)
`

const ordersJS = `const db = require('./db')

exports.list = function (req, res) {
  const rows = db.all('orders')
  res.send(rows)
}

const show = async (req, res) => {
  const order = await db.get('orders', req.params.id)
  res.send(order)
}

class Basket {
  add (item) {
    this.items.push(item)
    return this.sum()
  }

  sum () {
    return this.items.reduce((a, b) => a + b.price, 0)
  }
}
`

const viewPHP = `<html>
<?php $name = $_GET['name']; ?>
<h1>Hello <?= $name ?></h1>
<p>Welcome</p>
</html>
`

const mailJava = `package shop;

class Mail {
  private final Sender sender;

  void send(String to, String text) {
    sender.send("To: " + to, text);
  }

  String subject(String s) {
    return "Re: " + s;
  }
}
`

var made *shop

// theShop returns the repository, which no test changes.
func theShop(t *testing.T) *shop {
	if made == nil {
		made = newShop(t)
	}
	made.t = t
	return made
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made != nil {
		os.RemoveAll(made.dir)
	}
	os.Exit(code)
}

// newShop makes the repository: twelve fixes that become entries, one for each rule, and the
// commits of which assay fixes add complains.
func newShop(t *testing.T) *shop {
	dir, err := os.MkdirTemp("", "assay-shop")
	require.NoError(t, err)
	s := &shop{t: t, dir: dir, commits: map[string]string{}}
	s.git("init", "-q", "-b", "main")
	s.commit("root", "First version", "pay.go", "", payGo, "users.py", "", usersPy, "orders.js", "",
		ordersJS,
		"view.php", "", viewPHP, "Mail.java", "", mailJava, "go.mod", "",
		"module shop\n\nrequire example.com/x v1.0.0\n",
		"pay_test.go", "", "package shop\n", "README.md", "", "# Shop\n")
	// The change that brings a flaw: blame finds it.
	s.commit("coupons", "Add coupons", "coupon.go", "",
		"package shop\n\nfunc apply(code string, user string) int {\n\treturn coupons[code]\n}\n",
		"pay.go", "func refund",
		"func coupon(user, code string) error {\n\tbalances[user] += apply(code, user)\n\treturn nil\n}\n\nfunc refund")
	s.commit("plain", "Add a greeting", "README.md", "# Shop",
		"# The shop\n\nSee GHSA-2222-3333-4444.")
	// 1: a guard is added (the place is the function, at that point); tests, documents and imports
	// are no places (rules 1, 2).
	s.commit("guard", "Reject amounts below zero: security", "pay.go",
		"\tbalance := balances[user]\n",
		"\tif amount < 0 {\n\t\treturn errAmount\n\t}\n\tbalance := balances[user]\n",
		"pay.go", "import \"errors\"", "import (\n\t\"errors\"\n\t\"fmt\"\n)", "pay.go",
		"// charge takes money.", "// charge takes money; no negative one.",
		"pay_test.go", "package shop", "package shop\n\nfunc TestCharge() {}", "README.md",
		"# The shop\n", "# The shop\n\nSafe.\n")
	// 2: a helper is new: nothing outside of functions that were there (rule 3).
	s.commit("query", "Fix SQL injection in find (CWE-89)", "users.py",
		`"select * from users where name = '" + name + "'"`,
		`"select * from users where name = %s", plain(name)`,
		"users.py", "def export(request):",
		"def plain(name):\n    return str(name)\n\n\ndef export(request):")
	// 3: callers follow a changed signature (rule 4).
	s.commit("traversal", "Path traversal in load, GHSA-2222-3333-4444", "pay.go",
		"func load(path string) string {\n\treturn read(\"/srv/\" + path)",
		"func load(kind, path string) string {\n\treturn read(\"/srv/\" + kind + clean(path))",
		"pay.go", `load("invoices/" + id)`, `load("invoices/", id)`, "pay.go",
		`load("logos/" + id)`, `load("logos/", id)`)
	// 4: a block returns in a new function (rule 5): what guards it is the place.
	s.commit("export", "Check permission before export", "users.py",
		"def export(request):\n    rows = db.query(\"select * from users\")\n    out = []\n    for row in rows:\n        line = row.name + \",\" + row.mail\n        out.append(line)\n        count(line)\n    return \"\\n\".join(out)\n",
		"def export(request):\n    rows = db.query(\"select * from users\")\n    return lines(rows)\n\n\ndef lines(rows):\n    out = []\n    for row in rows:\n        line = row.name + \",\" + row.mail\n        out.append(line)\n        count(line)\n    return \"\\n\".join(out)\n",
		"users.py", "        db.run(\"delete",
		"        if not user.admin:\n            raise Forbidden()\n        db.run(\"delete")
	// 5: a pure rename follows (rule 6).
	s.commit("xss", "Escape names in profile: XSS", "users.py", `"<h1>" + usr.name`,
		`"<h1>" + escape(usr.name)`,
		"users.py", "    everyone = db.query(\"select * from users\")\n    return everyone\n",
		"    people = db.query(\"select * from users\")\n    return people\n")
	// 6: of two places the one that gains guards comes first (rule 7).
	s.commit("owner", "Orders of others: access control", "orders.js",
		"  const rows = db.all('orders')", "  const rows = db.all('orders', 'id')",
		"orders.js", "  res.send(order)",
		"  if (order.owner !== req.user.id) {\n    throw new Forbidden()\n  }\n  res.send(order)")
	// 7: a template has no functions: its changed lines (rule 3).
	s.commit("template", "Escape the name in the template", "view.php",
		"<h1>Hello <?= $name ?></h1>", "<h1>Hello <?= htmlspecialchars($name) ?></h1>")
	// 8: a decorator belongs to its function.
	s.commit("login", "Only admins see admin: unauthorized access", "users.py",
		"def admin(request):", "@login_required\ndef admin(request):")
	// 9: a method in Java, with white space alone elsewhere.
	s.commit("header", "Header injection in mail", "Mail.java",
		"    sender.send(\"To: \" + to, text);",
		"    sender.send(\"To: \" + to.replace(\"\\n\", \"\"), text);",
		"Mail.java", "    return \"Re: \" + s;", "\treturn \"Re: \" + s;")
	// 10: the change that brought it is one commit.
	s.commit("coupon", "Coupons of others: authorization bypass", "coupon.go",
		"\treturn coupons[code]",
		"\tif owners[code] != user {\n\t\treturn 0\n\t}\n\treturn coupons[code]")
	// 11: the same function as 1: its twin is contested.
	s.commit("again", "Reject amounts above the balance: security", "pay.go",
		"\tbalances[user] = balance - amount\n",
		"\tif amount > balance {\n\t\treturn errAmount\n\t}\n\tbalances[user] = balance - amount\n")
	// 12: a place that somebody names.
	s.commit("basket", "Price of an item is checked: business logic", "orders.js",
		"    this.items.push(item)", "    this.items.push(price(item))",
		"orders.js", "a + b.price", "a + Math.max(b.price, 0)")
	// What add complains of.
	s.commit("tests", "Security test", "pay_test.go", "func TestCharge() {}",
		"func TestCharge() { charge(\"x\", -1) }", "README.md", "Safe.", "Safer.")
	s.commit("component", "Update x: CVE-2026-11111", "go.mod", "v1.0.0", "v1.0.1")
	s.commit("wrong", "Limit refunds: security", "pay.go", "\tbalances[user] += amount\n",
		"\tbalances[user] += min(amount, 100)\n")
	s.git("revert", "--no-edit", s.commits["wrong"])
	s.commits["revert"] = s.git("rev-parse", "HEAD")
	many := "package shop\n"
	for i := range 15 {
		many += fmt.Sprintf("\nfunc f%d(s string) string {\n\treturn s\n}\n", i)
	}
	s.commit("helpers", "Helpers", "a/many.go", "", many, "b/many.go", "", many,
		"c/many.go", "", many)
	five := func(text string) string {
		for i := range 5 {
			text = strings.Replace(text, fmt.Sprintf("f%d(s string) string {\n\treturn s\n", i),
				fmt.Sprintf("f%d(s string) string {\n\treturn escape(s)\n", i), 1)
		}
		return text
	}
	s.commit("many", "Escape everywhere: security", "a/many.go", "", five(many), "b/many.go", "",
		five(many), "c/many.go", "", five(many))
	s.git("checkout", "-q", "-b", "stable", s.commits["plain"])
	s.minutes++
	s.git("cherry-pick", "-x", s.commits["query"])
	s.commits["backport"] = s.git("rev-parse", "HEAD")
	s.git("checkout", "-q", "main")
	return s
}
