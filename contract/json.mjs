/** Writes the contract as JSON, which the server reads: it needs no parser of YAML then. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const file = (name) => new URL(name, import.meta.url);
const contract = parse(readFileSync(file('openapi.yaml'), 'utf8'));
writeFileSync(file('openapi.json'), `${JSON.stringify(contract, null, 2)}\n`);
