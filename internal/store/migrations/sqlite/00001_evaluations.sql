-- +goose Up
CREATE TABLE IF NOT EXISTS evaluations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp TEXT,
    test_file TEXT,
    model_name TEXT,
    expected_result TEXT,
    actual_result TEXT,
    explanation TEXT
);
