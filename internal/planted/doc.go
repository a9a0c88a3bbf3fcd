// Package planted reads planted projects, draws targets from them, and proves that their keys
// are true.
//
// A planted project is an application of our own below fixtures/planted. Each of its sites has
// two variants in the source, a good one and a bad one, between line comments; project.md
// describes the bad one.
//
//   - [Read] returns a [Template], or all of its errors with file and line.
//
// - [Template.Draw] chooses by a seed which sites are bad, the order of functions, and the names
// of tables and files. [Template.DrawArea] draws one module alone. [Draw.Render] returns the
// files of a draw with the place of every site, and [Combine] joins the draws of several
// projects.
// - [Export.Write] and [Export.Export] write the files into a folder. [Export.Template] returns
// the key: bad sites are vulnerabilities, good ones decoys.
// - [Verify] builds and starts draws with a PostgreSQL database and runs the application's
// tests, the functional tests and one exploit a site. An exploit must succeed exactly if its
// site is bad.
//
// A draw depends on the project and the seed alone: its bytes are the same on every machine and
// with every version of Go.
package planted
