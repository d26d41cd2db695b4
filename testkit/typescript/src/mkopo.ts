import type { Page } from '@playwright/test';
import { bodyOf, ifAllowed } from './call-failed';
import { type ConsoleClient, consoleClient, type PortalClient, portalClient, type Schemas } from './clients';
import { Clock } from './console/clock';
import { Events } from './console/events';
import { Faults } from './console/faults';
import { Loans } from './console/loans';
import { MobileMoney } from './console/mobile-money';
import { Outbox } from './console/outbox';
import { Payouts } from './console/payouts';
import { Sessions } from './console/sessions';
import { Snapshots } from './console/snapshots';
import { Staff } from './console/staff';
import { Story } from './console/story';
import { Traffic } from './console/traffic';
import type { Addresses } from './portal';
import { type Moment, written } from './time';
import { emailOf, type Who } from './who';

/** The name, the addresses and the token of a sandbox, or of `main`. */
type Place = Pick<Schemas['MadeSandbox'], 'name' | 'url' | 'console_url' | 'token'>;

/** The initial data and clock of a sandbox. Equal starts give equal data, ids included. */
export interface Start {
  /** The seed of the demo data, or `empty` for the demo accounts without loans and payouts. */
  seed?: number | 'empty';
  /** The time that the clock starts with; the machine's if missing. */
  now?: Moment;
  /** `true` if the clock is stopped. */
  frozen?: boolean;
}

/** The start as the contract writes it. */
export function bodyOfStart({ seed, now, frozen }: Start) {
  return {
    ...(seed !== undefined && { seed }),
    ...(now && { now: written(now) }),
    ...(frozen !== undefined && { frozen }),
  };
}

/** A sandbox (an isolated instance of the whole service) or `main`, and verbs for all that its console can do. */
export class Mkopo {
  readonly name: string;
  /** The address of its portal, for browsers. */
  readonly url: string;
  /** The address of the pages of its console. */
  readonly consoleUrl: string | null;
  /** Opens its console: a sandbox's opens nothing else, and `main`'s is the operator's. */
  readonly token: string;
  /** Every call of the portal's API, typed, signed out; `sessions.open` signs in. */
  readonly portal: PortalClient;
  /** Every call of its console's API, typed. */
  readonly console: ConsoleClient;
  readonly clock: Clock;
  readonly events: Events;
  readonly faults: Faults;
  readonly loans: Loans;
  readonly mobileMoney: MobileMoney;
  readonly sessions: Sessions;
  readonly snapshots: Snapshots;
  /** The story that was given when the sandbox was made. */
  readonly story: Story;
  readonly traffic: Traffic;
  /** The messages that the portal has sent, with their codes. */
  outbox: Outbox;
  payouts: Payouts;
  staff: Staff;
  readonly #start: Start | undefined;

  /** `start` is what a reset returns to; `undefined` if the sandbox tells a story. */
  constructor({ url, consoleUrl }: Addresses, made: Place, start: Start | undefined) {
    this.name = made.name;
    this.url = made.url;
    this.consoleUrl = made.console_url;
    this.token = made.token;
    const target = { url, sandbox: made.name };
    this.portal = portalClient(target);
    this.console = consoleClient({ url: consoleUrl, sandbox: made.name, token: made.token });
    this.clock = new Clock(this.console);
    this.events = new Events(this.console);
    this.faults = new Faults(this.console);
    this.loans = new Loans(this.console);
    this.mobileMoney = new MobileMoney(this.console);
    this.outbox = new Outbox(this.console);
    this.payouts = new Payouts(this.console);
    this.snapshots = new Snapshots(this.console);
    this.story = new Story(this.console);
    this.staff = new Staff(this.console);
    this.sessions = new Sessions(
      this.console,
      target,
      (who) => this.staff.passwordOf(who),
      () => this.payouts,
    );
    this.traffic = new Traffic(this.console);
    this.#start = start;
  }

  /** Goes back to the start, or to another one: data, clock, messages, faults, outcomes, sessions, snapshots. */
  async reset(start: Start | undefined = this.#start): Promise<void> {
    if (!start)
      throw new Error(`A reset ends the story of ${this.name}: give it a start, or make another sandbox`);
    await bodyOf(this.console.POST('/console/api/data/reset', { body: bodyOfStart(start) }));
    for (const { name } of await this.snapshots.list()) await this.snapshots.remove(name);
    this.staff = new Staff(this.console);
    await this.begin();
  }

  /** @internal Skips the messages and settled payouts so far: no verb that waits returns them. */
  async begin(): Promise<this> {
    this.outbox = new Outbox(this.console);
    this.payouts = new Payouts(this.console);
    await Promise.all([ifAllowed(this.outbox.skip()), ifAllowed(this.payouts.begin())]);
    return this;
  }

  /** Returns whether mobile money's ledger matches the records, and no loan was paid twice. */
  async invariant(): Promise<Schemas['Invariant']> {
    return bodyOf(this.console.GET('/console/api/invariant'));
  }

  /**
   * Signs in by password on the screen of a page where nobody is signed in. The page is then at the dashboard, or at the
   * screen that had led it to sign-in.
   */
  async signIn(page: Page, who: Who, password = this.staff.passwordOf(who)): Promise<void> {
    await page.goto(`${this.url}/login`);
    await page.getByLabel('Email').fill(emailOf(who));
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('#content h1').first().waitFor();
  }

  /** Opens a loan from the list of pending loans, as people do; its address alone does not show it. */
  async openLoan(page: Page, { loan_id }: { loan_id: string }): Promise<void> {
    await page.goto(`${this.url}/pending-loans`);
    await page.getByRole('searchbox', { name: 'Search pending loans' }).fill(loan_id);
    await page.locator(`a[href="/loans/${encodeURIComponent(loan_id)}"]`).click();
    await page.getByRole('heading', { level: 1, name: 'Loan Details' }).waitFor();
  }
}
