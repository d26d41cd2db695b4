import type { ConsoleClient } from '../clients';

/** Verbs that call the API of a console. */
export abstract class Verbs {
  protected readonly console: ConsoleClient;

  constructor(console: ConsoleClient) {
    this.console = console;
  }
}
