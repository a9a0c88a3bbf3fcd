package static

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestClassesOfOneName: hundreds of classes that are named as their base (Django's
// migrations) end in bounded time.
func TestClassesOfOneName(t *testing.T) {
	fsys := fstest.MapFS{"app.py": {Data: []byte("from jinja2 import Template\ndef view(request):\n    Template(request.GET['x'])\n")}}
	for i := range 120 {
		body := strings.Repeat("        migrations.AddField(model_name='a', name=models.x, field=models.y),\n", 20)
		fsys[fmt.Sprintf("m/migrations/%04d.py", i)] = &fstest.MapFile{Data: []byte("from django.db import migrations, models\nclass Migration(migrations.Migration):\n    operations = [\n" + body + "    ]\n")}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	res, err := New(Options{Workers: 1}).Analyse(ctx, fsys)
	require.NoError(t, err)
	require.Len(t, res.Findings, 1)
}
