-- 0: a server of an earlier release. On one file, nothing else differs between the two.
ALTER TABLE server_lease ADD COLUMN release INTEGER NOT NULL DEFAULT 0;
