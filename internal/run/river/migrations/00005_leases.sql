-- +goose Up
-- A lease ends with its try, with its worker, or when its trial is begun anew.
ALTER TABLE spread_leases DROP COLUMN expires;
