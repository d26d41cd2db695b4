import { PASSWORD, Portal } from 'mkopo-test';
import portalOfTheRun from 'mkopo-test/portal';
import { startReceiver } from './receiver';

/** What is never in a span, whoever it belongs to: phones, addresses, tokens and codes. */
const SECRET = /\b(254|0)[17]\d{8}\b|[\w.+-]+@[\w-]+\.\w+|eyJ[\w-]{10,}|mkopo_deploy_|"\d{6}"/;

/** Fields that are numbers, in which a value may stand by chance. */
const NUMBERS = /^(traceId|(parentS|s)panId|(start|end)?[tT]imeUnixNano|intValue)$/;

/**
 * Playwright's `globalSetup` of journeys whose portals export their traces. When all are over, no span may have a value
 * of the demo data.
 */
export default async function portalWhoseTracesAreExported() {
  const receiver = await startReceiver();
  Object.assign(process.env, receiver.settings);
  const stop = await portalOfTheRun();
  const values = await demoValues();
  return async () => {
    await stop?.();
    receiver.stop();
    const spans = receiver.spans();
    if (spans.length === 0) throw new Error('no trace was exported');
    const texts = receiver.exported.map((text) =>
      JSON.stringify(JSON.parse(text), (name, value: unknown) => (NUMBERS.test(name) ? undefined : value)),
    );
    const found = texts.flatMap((text) => [
      ...values.filter((value) => text.includes(value)),
      ...(SECRET.exec(text)?.slice(0, 1) ?? []),
    ]);
    if (found.length > 0) throw new Error(`among ${spans.length} spans: ${[...new Set(found)].join(', ')}`);
    console.log(`${values.length} values of the demo data are in none of ${spans.length} spans`);
  };
}

/** The names, phones, addresses and numbers in the demo data. */
async function demoValues() {
  const { MKOPO_URL: url = '', MKOPO_CONSOLE_URL: consoleUrl = '' } = process.env;
  const { MKOPO_CONSOLE_TOKEN: consoleToken = '' } = process.env;
  const mkopo = await (await Portal.connect({ url, consoleUrl, consoleToken })).main();
  const { portal } = await mkopo.sessions.open('agent');
  const { data: loans = [] } = await portal.GET('/api/v1/disbursements/pending');
  const staff = await mkopo.staff.list();
  const payouts = await mkopo.payouts.list();
  const values = [
    ...loans.flatMap((loan) => [
      loan.customer_first_name,
      loan.customer_last_name,
      loan.customer_phone_number,
      loan.customer_id_number,
      loan.account_number,
      loan.notes,
    ]),
    ...payouts.flatMap((payout) => [payout.customer_last_name, payout.phone, payout.transaction_id]),
    ...staff.flatMap((person) => [person.first_name, person.last_name, person.phone_number]),
    PASSWORD,
  ];
  return [...new Set(values)].filter((value) => value !== null);
}
