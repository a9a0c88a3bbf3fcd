// Package planted reads planted projects, draws targets from them, and proves
// that their keys are true.
//
// A planted project is an application of our own below fixtures/planted. At each
// of its sites the source holds two variants between line comments, a good one
// and a bad one; project.md says what the bad one is. The path:
//
//   - [Read] gives a [Project], or everything that is wrong with it by
//     file and line.
//   - [Project.Draw] lets a seed choose which sites are bad, in which order
//     functions stand, and what tables and files are called. [Draw.Render] gives
//     the files of that draw with the place of every site, and [Combine] sets
//     several side by side. [Project.DrawArea] draws one area.
//   - [Target.Write] and [Target.Export] put the files into a folder, and
//     [Target.Project] gives the key: bad sites as known vulnerabilities, good
//     ones as decoys.
//   - [Verify] builds and starts draws over a PostgreSQL of its own and runs the
//     application's tests, the functional tests and one exploit a site, which must
//     succeed exactly when that site is bad.
//
// A draw depends on the project and the seed alone: the same bytes for ever, on
// any machine.
package planted
