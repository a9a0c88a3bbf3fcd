-- +goose Up
-- How many audits a worker runs at once: one that takes none is no help to them.
ALTER TABLE spread_workers ADD COLUMN audits INTEGER NOT NULL DEFAULT 0;
