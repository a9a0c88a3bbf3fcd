// Package check decodes the manifests for Kubernetes strictly into its own types:
// a field that the API does not know, or of another type, is an error. It is a
// module of its own, so that the program does not carry those types along.
//
//	cd deploy/check && go test -count=1 ./...
package check

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestManifestsDecodeStrictly(t *testing.T) {
	var d appsv1.Deployment
	decode(t, "../kubernetes.yaml", &d, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"})
	require.Equal(t, d.TypeMeta, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"})
	require.Equal(t, d.Spec.Selector.MatchLabels, d.Spec.Template.Labels)
	pod(t, &d.Spec.Template.Spec)

	var j batchv1.Job
	decode(t, "../kubernetes-run.yaml", &j, metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"})
	require.Equal(t, batchv1.IndexedCompletion, *j.Spec.CompletionMode)
	require.Equal(t, *j.Spec.Completions, *j.Spec.Parallelism)
	require.Equal(t, corev1.RestartPolicyNever, j.Spec.Template.Spec.RestartPolicy, "an Indexed Job that counts failures by index needs it")
	pod(t, &j.Spec.Template.Spec)
}

func decode(t *testing.T, name string, into any, want metav1.TypeMeta) {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.False(t, bytes.Contains(b, []byte("\n---\n")), "one object a file")
	var is metav1.TypeMeta
	require.NoError(t, yaml.Unmarshal(b, &is))
	require.Equal(t, want, is)
	require.NoError(t, yaml.UnmarshalStrict(b, into))
}

// pod checks what every pod of ours keeps to.
func pod(t *testing.T, p *corev1.PodSpec) {
	require.True(t, *p.SecurityContext.RunAsNonRoot)
	require.False(t, *p.AutomountServiceAccountToken)
	require.GreaterOrEqual(t, *p.TerminationGracePeriodSeconds, int64(45), "longer than the worker's --grace")
	volumes := map[string]bool{}
	for _, v := range p.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range append(append([]corev1.Container(nil), p.InitContainers...), p.Containers...) {
		require.NotEmpty(t, c.Args)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
		for _, m := range c.VolumeMounts {
			require.True(t, volumes[m.Name], m.Name)
		}
	}
}
