import { bodyOf, CallFailed } from './call-failed';
import { type ConsoleClient, consoleClient } from './clients';
import { bodyOfStart, Mkopo, type Start } from './mkopo';
import type { Duration } from './time';
import { checkVersion } from './version';

/** Where a portal and its console are. */
export interface Addresses {
  url: string;
  consoleUrl: string;
  /** The operator's token, which makes sandboxes. */
  consoleToken: string;
}

/** A sandbox to make. */
export interface NewSandbox extends Start {
  name?: string;
  /** The time for which it is kept without being used; `24h` if missing. */
  expiresIn?: Duration;
  /** The name of a story to tell, in place of a start. */
  story?: string;
}

/** A running portal, in which sandboxes are made. */
export class Portal {
  readonly #addresses: Addresses;
  readonly #console: ConsoleClient;

  private constructor(addresses: Addresses) {
    this.#addresses = addresses;
    this.#console = consoleClient({ url: addresses.consoleUrl, token: addresses.consoleToken });
  }

  /** Connects to a portal; fails if it has another version than this kit. */
  static async connect(addresses: Addresses): Promise<Portal> {
    const trimmed = { ...addresses, url: origin(addresses.url), consoleUrl: origin(addresses.consoleUrl) };
    await checkVersion(trimmed.url);
    return new Portal(trimmed);
  }

  /**
   * The portal itself, outside of sandboxes. Everybody who uses the portal shares it, and nothing resets it but
   * `reset`, which without a start goes back to the demo data and the real time. Messages and payouts of before are
   * not returned by the verbs that wait.
   */
  async main(): Promise<Mkopo> {
    const { url, consoleUrl, consoleToken } = this.#addresses;
    const made = { name: 'main', url, console_url: `${consoleUrl}/console`, token: consoleToken };
    return new Mkopo(this.#addresses, made, {}).begin();
  }

  /** Makes a sandbox. A reset returns to its start exactly, so its clock starts at a time that is known. */
  async makeSandbox({ name, expiresIn, story, ...start }: NewSandbox = {}): Promise<Mkopo> {
    const known = story === undefined ? exact(start) : undefined;
    const body = {
      ...(name && { name }),
      ...(expiresIn && { expires_in: expiresIn }),
      ...(story !== undefined && { story }),
      ...bodyOfStart(known ?? start),
    };
    const made = await bodyOf(this.#console.POST('/console/api/sandboxes', { body })).catch(
      (error: unknown) => {
        if (error instanceof CallFailed && error.code === 'not_found')
          throw new Error(
            `No sandbox can be made at ${this.#addresses.consoleUrl}: it is not the address of the console, ` +
              'or MKOPO_SANDBOXES, a setting of the portal, is 0',
            { cause: error },
          );
        throw error;
      },
    );
    return new Mkopo(this.#addresses, made, known).begin();
  }

  /** Removes a sandbox with all its data. */
  async removeSandbox({ name }: { name: string }): Promise<void> {
    await bodyOf(this.#console.DELETE('/console/api/sandboxes/{name}', { params: { path: { name } } }));
  }
}

/** The start with all its values; the time is now, in whole seconds, if none is given. */
export function exact({ seed = 1, now, frozen = false }: Start): Required<Start> {
  const second = 1000;
  return { seed, now: now ?? new Date(Math.floor(Date.now() / second) * second), frozen };
}

/** The address without a path, such as that of the console's pages. */
function origin(address: string): string {
  return new URL(address).origin;
}
