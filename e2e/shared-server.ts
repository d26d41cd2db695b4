import type { Addresses } from 'mkopo-test/client';
import { CONSOLE_TOKEN, DEPLOYED, startServer } from './server';

const SHARED = 'MKOPO_E2E_SHARED';

/** Runs before the workers start: one server, in which each journey has a sandbox. */
export default async function start() {
  if (DEPLOYED) return undefined;
  const { address, console, stop } = await startServer();
  const addresses: Addresses = { url: address, consoleUrl: console, consoleToken: CONSOLE_TOKEN };
  // The workers inherit it.
  process.env[SHARED] = JSON.stringify(addresses);
  return stop;
}

/** The addresses of the server that all workers share. */
export const sharedServer = () => JSON.parse(process.env[SHARED] ?? '') as Addresses;
