import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import type { Duration } from '../time';
import { emailOf, type Who } from '../who';
import { Verbs } from './verbs';

/** A message that was sent. */
export type Message = Schemas['OutboxMessage'];

/** Which messages are meant. */
export interface MessageFilter {
  /** An account, an e-mail address or a phone number; everybody if missing. */
  to?: Who;
  channel?: Schemas['Channel'];
}

/** The maximum time to wait for a message. */
export interface Waiting {
  /** At most `25s`; `10s` if missing. */
  wait?: Duration;
}

/** The messages that the portal has sent. */
export class Outbox extends Verbs {
  /** The messages that are not returned: they were, or they are the past. */
  readonly #passed = new Set<string>();
  /** The latest message that was looked at, by recipient and channel. */
  readonly #read = new Map<string, string>();

  /** The messages sent so far, newest first. */
  async messages({ to, channel }: MessageFilter = {}): Promise<Message[]> {
    return this.#list({ to, channel });
  }

  /** The next message, and waits for it: each message is returned once, the oldest first. */
  async next({ to, channel, wait = '10s' }: MessageFilter & Waiting = {}): Promise<Message> {
    return this.#next({ to, channel, wait }, () => true, 'message');
  }

  /** The code of the next message that has one, and waits for it: each code is returned once, the oldest first. */
  async code({ to, channel, wait = '10s' }: MessageFilter & Waiting = {}): Promise<string> {
    const { code } = await this.#next({ to, channel, wait }, (message) => message.code !== null, 'code');
    return code ?? '';
  }

  /** Skips the messages that were sent so far: `next` and `code` return only what follows. */
  async skip(): Promise<void> {
    for (const { id } of await this.messages()) this.#passed.add(id);
  }

  /** Deletes all messages. */
  async clear(): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/outbox'));
  }

  /** The first message that is wanted; those before it are the past then. */
  async #next(
    { to, channel, wait }: MessageFilter & { wait: Duration },
    isWanted: (message: Message) => boolean,
    what: string,
  ): Promise<Message> {
    const reader = [to ?? '', channel ?? ''].join(' ');
    for (;;) {
      const found = await this.#list({ to, channel, after: this.#read.get(reader), wait });
      if (found.length === 0) throw new Error(`No new ${what} for ${to ?? 'anybody'} within ${wait}`);
      for (const message of found.reverse()) {
        this.#read.set(reader, message.id);
        if (this.#passed.has(message.id)) continue;
        this.#passed.add(message.id);
        if (isWanted(message)) return message;
      }
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
    return bodyOf(this.console.GET('/console/api/outbox', { params: { query: wanted } }));
  }
}

function isPhone(to: string): boolean {
  return /^\+?[\d ]+$/.test(to);
}
