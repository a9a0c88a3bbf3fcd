package suite

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A folder of planted projects that cannot be read is not one without projects.
func TestUnreadablePlantedProjectsAreAnError(t *testing.T) {
	none, err := PlantedNames(fstest.MapFS{})
	require.NoError(t, err)
	require.Empty(t, none)
	unreadable := fstest.MapFS{plantedDir: {Data: []byte("a file")}}
	_, err = PlantedNames(unreadable)
	require.ErrorContains(t, err, plantedDir)
	_, _, err = Drawn(unreadable, "shop")
	require.ErrorContains(t, err, plantedDir)
}

// A draw is chosen by the name that pages and records give it.
func TestADrawIsFilteredByItsName(t *testing.T) {
	for filter, want := range map[string][]string{"marina@5": {"marina@5"}, "marina@1": {"marina"},
		"planted-all@5": {"planted-all@5"}, "marina@0": {"marina@0"}, "marina@x": nil,
		"marina":         {"marina@7", "marina@8"},
		"marina.stays":   {"marina.stays@7", "marina.stays@8"},
		"marina.stays@7": {"marina.stays@7"}} {
		e, err := checkout("../..", Settings{Filter: filter, Seed: 7, Seeds: 2})
		require.NoError(t, err)
		targets, err := e.drawnTargets()
		require.NoError(t, err)
		var names []string
		for _, one := range targets {
			names = append(names, one.project.Name)
		}
		require.Equal(t, want, names, filter)
	}
}
