import createClient, { type Client } from 'openapi-fetch';
import { send } from './call-failed';
import type { components, paths } from 'mkopo-contract';

/** The schemas of the contract, by name. */
export type Schemas = components['schemas'];

type PathsBelow<Root extends string> = {
  [Path in keyof paths as Path extends `${Root}${string}` ? Path : never]: paths[Path];
};

/** Every call of the portal's API, typed: `portal.GET('/api/v1/auth/me')`. */
export type PortalClient = Client<PathsBelow<'/api/v1'>>;

/** Every call of the console's API, typed: `console.GET('/console/api/slices')`. */
export type ConsoleClient = Client<PathsBelow<'/console/api'>>;

/** Where a client's calls go. */
export interface Target {
  url: string;
  /** The sandbox; without one, the calls are for `main`. */
  sandbox?: string;
  /** Of a session or of the console. */
  token?: string;
}

/** A client of the portal's API. */
export function portalClient(target: Target): PortalClient {
  return createClient<PathsBelow<'/api/v1'>>(optionsFor(target));
}

/** A client of the console's API. */
export function consoleClient(target: Target): ConsoleClient {
  return createClient<PathsBelow<'/console/api'>>(optionsFor(target));
}

function optionsFor({ url, sandbox, token }: Target) {
  const headers = {
    ...(sandbox && { 'Mkopo-Sandbox': sandbox }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  return { baseUrl: url, headers, fetch: send };
}
