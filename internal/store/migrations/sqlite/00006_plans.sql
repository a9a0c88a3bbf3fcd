-- +goose Up
-- A run names its plan (hash of all trials), the parts that the plan was made of as JSON,
-- and the run that it continues.
ALTER TABLE runs ADD COLUMN plan TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN parts TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN continues TEXT NOT NULL DEFAULT '';
