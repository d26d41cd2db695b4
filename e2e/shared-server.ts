import { DEPLOYED, startServer } from './server';

/** Names the variable with the address of the console of the server that all workers share. */
export const SHARED_CONSOLE = 'MKOPO_E2E_SHARED_CONSOLE';

/** Runs before the workers start: one server, in which each journey has a sandbox. */
export default async function start() {
  if (DEPLOYED) return undefined;
  const { console, stop } = await startServer();
  process.env[SHARED_CONSOLE] = console;
  return stop;
}
