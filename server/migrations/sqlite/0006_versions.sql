-- How often the lists and the sessions changed. Bodies and sessions kept in memory carry the
-- number they were read at; one read of this table tells whether they still hold.

CREATE TABLE version (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

INSERT INTO version (name, value) VALUES ('pending', 0), ('records', 0), ('sessions', 0);
