import { bodyOf } from '../call-failed';
import type { ConsoleClient, Schemas } from '../clients';
import type { Duration } from '../time';
import { emailOf, type Who } from '../who';

/** A message that was sent. */
export type Message = Schemas['OutboxMessage'];

/** Which messages are meant. */
export interface MessageFilter {
  /** An account, an e-mail address or a phone number; everybody if missing. */
  to?: Who;
  channel?: Schemas['Channel'];
}

/** How long to wait for a message. */
export interface Waiting {
  /** At most `25s`; `10s` if missing. */
  wait?: Duration;
}

/** The messages that the portal has sent. */
export class Outbox {
  readonly #console: ConsoleClient;
  /** The newest message that was returned to each recipient's readers. */
  readonly #read = new Map<string, string>();

  constructor(console: ConsoleClient) {
    this.#console = console;
  }

  /** The messages sent so far, newest first. */
  async messages({ to, channel }: MessageFilter = {}): Promise<Message[]> {
    return this.#list({ to, channel });
  }

  /** The next message, and waits for it: each message is returned once. */
  async next({ to, channel, wait = '10s' }: MessageFilter & Waiting = {}): Promise<Message> {
    return this.#next({ to, channel, wait }, () => true, 'message');
  }

  /** The code of the next message that has one, and waits for it: each code is returned once. */
  async code({ to, channel, wait = '10s' }: MessageFilter & Waiting = {}): Promise<string> {
    const { code } = await this.#next({ to, channel, wait }, (message) => message.code !== null, 'code');
    return code ?? '';
  }

  /** Deletes all messages. */
  async clear(): Promise<void> {
    await bodyOf(this.#console.DELETE('/console/api/outbox'));
  }

  /** The newest message that is wanted, of those that were not returned yet. */
  async #next(
    { to, channel, wait }: MessageFilter & { wait: Duration },
    isWanted: (message: Message) => boolean,
    what: string,
  ): Promise<Message> {
    const reader = [to ?? '', channel ?? ''].join(' ');
    for (;;) {
      const found = await this.#list({ to, channel, after: this.#read.get(reader), wait });
      const [newest] = found;
      if (!newest) throw new Error(`No new ${what} for ${to ?? 'anybody'} within ${wait}`);
      this.#read.set(reader, newest.id);
      const wanted = found.find(isWanted);
      if (wanted) return wanted;
    }
  }

  async #list({
    to,
    ...query
  }: {
    to?: Who | undefined;
    channel?: Schemas['Channel'] | undefined;
    after?: string | undefined;
    wait?: Duration;
  }): Promise<Message[]> {
    const recipient = to && (isPhone(to) ? to : emailOf(to));
    const wanted = { ...query, ...(recipient && { to: recipient }) };
    return bodyOf(this.#console.GET('/console/api/outbox', { params: { query: wanted } }));
  }
}

function isPhone(to: string): boolean {
  return /^\+?[\d ]+$/.test(to);
}
