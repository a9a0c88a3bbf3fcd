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
