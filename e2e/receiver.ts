import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Mkopo, PASSWORD } from 'mkopo-test';

/** The values that are never in a span, whoever they belong to: phones, addresses, tokens and codes. */
const SECRET = /\b(254|0)[17]\d{8}\b|[\w.+-]+@[\w-]+\.\w+|eyJ[\w-]{10,}|mkopo_deploy_|"\d{6}"/;

/** Fields that are numbers, in which a value may stand by chance. */
const NUMBERS = /^(traceId|(parentS|s)panId|(start|end)?[tT]imeUnixNano|intValue)$/;

/** A span as it is exported (OTLP as JSON), as far as it matters here. */
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Span[] }[];
  }[];
}

/** Receives traces, as a collector does. */
export async function startReceiver() {
  const exported: string[] = [];
  const server = createServer((request, response) => {
    const body: Buffer[] = [];
    request.on('data', (bytes: Buffer) => body.push(bytes));
    request.on('end', () => {
      exported.push(Buffer.concat(body).toString());
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const spans = () =>
    exported.flatMap((text) =>
      (JSON.parse(text) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) => {
        const name = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
        return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service: name })));
      }),
    );
  /** The given values that were exported, and any other secret that was. */
  const findings = (values: string[]) => {
    const found = exported.flatMap((body) => {
      const text = JSON.stringify(JSON.parse(body), (name, value: unknown) =>
        NUMBERS.test(name) ? undefined : value,
      );
      return [...values.filter((value) => text.includes(value)), ...(SECRET.exec(text)?.slice(0, 1) ?? [])];
    });
    return [...new Set(found)];
  };
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  /** The settings of a server that exports its traces here. */
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BSP_MAX_QUEUE_SIZE: '20000',
  };
  return { settings, spans, findings, stop };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** The names, phones, addresses and numbers in the data of a portal or a sandbox. */
export async function valuesOf(mkopo: Mkopo) {
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
    ...staff.flatMap((person) => [person.first_name, person.last_name, person.phone_number, person.email]),
    PASSWORD,
  ];
  return [...new Set(values)].filter((value) => value !== null);
}
