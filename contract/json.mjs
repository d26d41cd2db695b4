/** Writes the contract as JSON, which the server reads: it needs no parser of YAML then. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const file = (name) => new URL(name, import.meta.url);
const contract = parse(readFileSync(file('openapi.yaml'), 'utf8'));
const json = `${JSON.stringify(contract, null, 2)}\n`;
// The server is compiled again when the file is written.
if (!existsSync(file('openapi.json')) || readFileSync(file('openapi.json'), 'utf8') !== json)
  writeFileSync(file('openapi.json'), json);
