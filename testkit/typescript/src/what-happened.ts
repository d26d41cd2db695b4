import { ifAllowed } from './call-failed';
import type { Schemas } from './clients';
import type { Call } from './console/traffic';
import type { Message } from './console/outbox';
import type { Payout } from './console/payouts';
import type { Mkopo } from './mkopo';

/** The maximum number of entries of each list that are shown. */
const LATEST = 50;

/** The longest body that is shown, in characters. */
const MAX_BODY = 500;

/** A sandbox's state as text: payouts since its start, calls, messages. Codes and tokens are masked. */
export async function whatHappened(mkopo: Mkopo): Promise<string> {
  const [clock, payouts, calls, messages, faults, scenario, invariant] = await Promise.all([
    ifAllowed(mkopo.clock.now()),
    ifAllowed(mkopo.payouts.sinceStart()),
    mkopo.traffic.calls(),
    ifAllowed(mkopo.outbox.messages()),
    mkopo.faults.list(),
    ifAllowed(mkopo.mobileMoney.behaviour()),
    ifAllowed(mkopo.invariant()),
  ]);
  const codes = messages?.flatMap(({ code }) => code ?? []) ?? [];
  const lines = [
    `The sandbox ${mkopo.name}${clock ? ` at ${clock.toISOString()}` : ''}; ` +
      `${mkopo.url}, console ${mkopo.consoleUrl ?? 'off'}`,
    ...list('Payouts', payouts, lineOfPayout),
    ...list('Calls', calls, lineOfCall),
    ...lineOfTrace(mkopo.consoleUrl, calls),
    ...list('Messages', messages, lineOfMessage),
    ...list('Faults that still apply', faults.filter(isLeft), (fault) => JSON.stringify(fault)),
    ...list('Outcomes that are still queued', scenario?.next, (outcome) => outcome),
    ...(invariant ? [lineOfInvariant(invariant)] : []),
  ];
  return masked(lines.join('\n'), [...codes, mkopo.token]);
}

/** The latest of a list, oldest first; nothing for an empty list. */
function list<T>(title: string, newestFirst: readonly T[] = [], line: (one: T) => string): string[] {
  if (newestFirst.length === 0) return [];
  const shown = newestFirst.slice(0, LATEST).reverse();
  const left = newestFirst.length - shown.length;
  return [
    `${title}${left > 0 ? `, the latest ${LATEST} of ${newestFirst.length}` : ''}:`,
    ...shown.map((one) => `  ${line(one)}`),
  ];
}

function lineOfPayout({ created_at, loan_id, status, amount, user_email, mpesa_ref, error_message }: Payout) {
  const details = [mpesa_ref, error_message].filter(Boolean).join(' ');
  return `${created_at}  ${loan_id}  ${status}  KES ${amount}  by ${user_email}  ${details}`.trimEnd();
}

function lineOfCall(call: Call) {
  const { at, method, path, status, ms, user, fault, ...bodies } = call;
  // A call that a fault kept from the service has no user, signed in or not.
  const last = fault ? [user, `fault: ${fault}`] : [user ?? 'signed out'];
  return [
    [at, `${method} ${path}`, status ?? 'no response', `${ms} ms`, ...last].filter(Boolean).join('  '),
    ...(isGood(call)
      ? []
      : [`    sent ${body(bodies.request_body)}`, `    got  ${body(bodies.response_body)}`]),
  ].join('\n  ');
}

/** The trace of the call that explains the failure best: the last one that failed, or else the last that sent data. */
function lineOfTrace(consoleUrl: string | null, newestFirst: readonly Call[]): string[] {
  const call = newestFirst.find((one) => !isGood(one)) ?? newestFirst.find(({ method }) => method !== 'GET');
  return consoleUrl && call ? [`Trace: ${consoleUrl}/traces?id=${encodeURIComponent(call.request_id)}`] : [];
}

function isGood({ status, fault }: Call): boolean {
  return status !== null && status < 400 && !fault;
}

function lineOfInvariant(invariant: Schemas['Invariant']): string {
  return invariant.ok
    ? 'Every shilling is accounted for.'
    : `NOT ACCOUNTED FOR: ${JSON.stringify(invariant)}`;
}

/** A fault that is used up stays in the list. */
function isLeft({ times, hits }: Schemas['Fault']): boolean {
  return times === null || hits < times;
}

function lineOfMessage({ created_at, channel, to, subject, body: text }: Message) {
  const words = [subject, text].filter(Boolean).join(': ').replaceAll(/\s+/g, ' ');
  return `${created_at}  ${channel} to ${to}  ${words.slice(0, MAX_BODY)}`;
}

function body(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}…` : text;
}

function masked(text: string, secrets: string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '•'.repeat(6)), text);
}
