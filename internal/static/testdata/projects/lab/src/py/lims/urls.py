from django.urls import path

from samples import views

urlpatterns = [
    path("samples/", views.SampleListView.as_view(), name="sample-list"),
    path("samples/<int:pk>/", views.SampleDetailView.as_view(), name="sample-detail"),
    path("samples/<int:pk>/results/", views.sample_results, name="sample-results"),
    path("samples/<int:pk>/amend/", views.amend_sample, name="sample-amend"),
    path("samples/<int:pk>/notes/", views.edit_notes, name="sample-notes"),
    path("samples/<int:pk>/derive/", views.derive_value, name="sample-derive"),
    path("samples/<int:pk>/labels/", views.print_labels, name="sample-labels"),
    path("statistics/", views.statistics, name="statistics"),
    path("batches/import/", views.import_batch, name="batch-import"),
    path("batches/archive/", views.upload_archive, name="batch-archive"),
]
