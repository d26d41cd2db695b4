#!/bin/sh
# Runs once, as the superuser, when the image sets up an empty volume. Creates the servers' role, which
# owns their database and may do nothing else, and removes the superuser's password: from then on the
# superuser can only connect from inside the container.
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'END'
\getenv password POSTGRES_PASSWORD
CREATE ROLE mkopo LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE mkopo OWNER mkopo;
REVOKE ALL ON DATABASE mkopo, postgres, template1 FROM PUBLIC;
ALTER ROLE CURRENT_USER PASSWORD NULL;
END
