import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it is exported (OTLP as JSON), as far as it matters here. */
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  links?: { traceId: string }[];
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
  return { settings, exported, spans, stop };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
