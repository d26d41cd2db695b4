/** One event of a stream, as the HTML standard's `text/event-stream` has it. */
export interface StreamEvent {
  id: string | undefined;
  name: string;
  data: string;
}

/**
 * Reads the events of a body until it ends. `onBytes` is called for everything that arrives, heartbeats
 * included.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
  onBytes: () => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let unread = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    unread += decoder.decode(value, { stream: true });
    const blocks = unread.split(/\r?\n\r?\n/);
    unread = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventFrom(block);
      if (event) onEvent(event);
    }
  }
}

function eventFrom(block: string): StreamEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name) fields.set(name, name === 'data' && fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  if (data === undefined) return null;
  return { id: fields.get('id'), name: fields.get('event') ?? 'message', data };
}
