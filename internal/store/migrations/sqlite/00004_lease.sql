-- +goose Up
-- Who writes: one process at a time.
CREATE TABLE lease (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    token TEXT NOT NULL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    pids TEXT NOT NULL, -- names the table of processes that pid is of; empty where it has no name
    taken TEXT NOT NULL,
    seen TEXT NOT NULL
);
