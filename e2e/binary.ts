import { join } from 'node:path';

/** The program under test. */
export const BINARY = process.env.MKOPO_BINARY ?? join(import.meta.dirname, '../server/target/debug/mkopo');
