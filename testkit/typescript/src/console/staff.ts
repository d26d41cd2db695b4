import { createHash } from 'node:crypto';
import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { emailOf, PASSWORD, type Who } from '../who';
import { Verbs } from './verbs';

/** A staff account. */
export type Account = Schemas['Account'];

/** An account to open; what is missing is made up from the address. */
export type NewAccount = Pick<Schemas['AccountToOpen'], 'email'> & Partial<Schemas['AccountToOpen']>;

/** The staff accounts. */
export class Staff extends Verbs {
  /** The passwords of the accounts that were opened here, by e-mail address in lower case. */
  readonly #passwords = new Map<string, string>();

  /** All accounts, by e-mail address. */
  async list(): Promise<Account[]> {
    return bodyOf(this.console.GET('/console/api/staff'));
  }

  /** One account. */
  async get(who: Who): Promise<Account> {
    return bodyOf(
      this.console.GET('/console/api/staff/{email}', { params: { path: { email: emailOf(who) } } }),
    );
  }

  /** Opens an account: an agent's, if no role is given. */
  async open(account: NewAccount): Promise<Account> {
    const name = account.email.split('@')[0] ?? account.email;
    const body = {
      first_name: name.charAt(0).toUpperCase() + name.slice(1),
      last_name: 'Wekesa',
      phone_number: phoneOf(account.email),
      role: 'agent' as const,
      password: PASSWORD,
      ...account,
    };
    const opened = await bodyOf(this.console.POST('/console/api/staff', { body }));
    this.#passwords.set(opened.email.toLowerCase(), body.password);
    return opened;
  }

  /** Gives an account another role. */
  async setRole(who: Who, role: Schemas['Role']): Promise<Account> {
    return this.#change(who, { role });
  }

  /** Deactivates an account and ends its sessions. */
  async deactivate(who: Who): Promise<Account> {
    return this.#change(who, { is_active: false });
  }

  /** Activates an account again. */
  async activate(who: Who): Promise<Account> {
    return this.#change(who, { is_active: true });
  }

  /** The password of an account: a demo account's, or the one it was opened with here. */
  passwordOf(who: Who): string {
    return this.#passwords.get(emailOf(who).toLowerCase()) ?? PASSWORD;
  }

  async #change(who: Who, change: Schemas['AccountChange']): Promise<Account> {
    const params = { path: { email: emailOf(who) } };
    return bodyOf(this.console.PATCH('/console/api/staff/{email}', { params, body: change }));
  }
}

/** A phone number for an address, always the same: no two accounts may have one. */
function phoneOf(email: string): string {
  const digest = createHash('sha256').update(email.toLowerCase()).digest();
  return `+25471${String(digest.readUInt32BE() % 10_000_000).padStart(7, '0')}`;
}
