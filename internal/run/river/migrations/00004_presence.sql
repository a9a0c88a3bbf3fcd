-- +goose Up
-- When a worker last showed itself, by the one clock that all of them share.
ALTER TABLE spread_workers DROP COLUMN seen, ADD COLUMN shown TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp();
