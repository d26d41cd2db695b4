import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { Verbs } from './verbs';

/** A fault to add. */
export type NewFault = Schemas['NewFault'];

/** A fault that applies until it is removed, used up, or the test ends. */
export type ActiveFault = Schemas['Fault'] & { remove: () => Promise<void> };

/** Faults in the calls of the portal's API. They end with the test. */
export class Faults extends Verbs {
  /** Adds a fault, which applies from the next call. */
  async add(fault: NewFault): Promise<ActiveFault> {
    const added = await bodyOf(this.console.POST('/console/api/faults', { body: fault }));
    return { ...added, remove: () => this.#remove(added.id) };
  }

  /** Does `act` while there is a fault, and removes the fault. */
  async during<T>(fault: NewFault, act: () => Promise<T>): Promise<T> {
    const added = await this.add(fault);
    try {
      return await act();
    } finally {
      await added.remove();
    }
  }

  /** The faults, used-up ones too, with how many calls each has hit. */
  async list(): Promise<Schemas['Fault'][]> {
    return bodyOf(this.console.GET('/console/api/faults'));
  }

  /** Removes all faults. */
  async clear(): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/faults'));
  }

  async #remove(id: string): Promise<void> {
    const { error, response } = await this.console.DELETE('/console/api/faults/{id}', {
      params: { path: { id } },
    });
    // A fault that `clear` or a reset removed is gone already.
    if (response.status !== 404) await bodyOf(Promise.resolve({ error, response }));
  }
}
