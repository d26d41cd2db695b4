import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { Verbs } from './verbs';

/** All of a sandbox under a name: data, sessions, messages, faults, outcomes and clock. */
export class Snapshots extends Verbs {
  /** Saves everything. */
  async save(name: string): Promise<void> {
    await bodyOf(this.console.POST('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** Restores everything exactly as it was saved. */
  async restore(name: string): Promise<void> {
    await bodyOf(this.console.PUT('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** Deletes one. */
  async remove(name: string): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/data/snapshots/{name}', { params: { path: { name } } }));
  }

  /** All of them, by name. */
  async list(): Promise<Schemas['Snapshot'][]> {
    return bodyOf(this.console.GET('/console/api/data/snapshots'));
  }
}
