import { bodyOf } from '../call-failed';
import type { ConsoleClient, Schemas } from '../clients';

/** All of a sandbox under a name: data, sessions, messages, faults, outcomes and clock. */
export class Snapshots {
  readonly #console: ConsoleClient;

  constructor(console: ConsoleClient) {
    this.#console = console;
  }

  /** Saves everything. */
  async save(name: string): Promise<void> {
    await bodyOf(this.#console.POST('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** Restores everything exactly as it was saved. */
  async restore(name: string): Promise<void> {
    await bodyOf(this.#console.PUT('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** Deletes one. */
  async remove(name: string): Promise<void> {
    await bodyOf(this.#console.DELETE('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** All of them, by name. */
  async list(): Promise<Schemas['Snapshot'][]> {
    return bodyOf(this.#console.GET('/console/api/data/snapshots'));
  }
}
