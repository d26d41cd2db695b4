/** One event of a stream, as the HTML standard's `text/event-stream` has it; its name is not read. */
export interface StreamEvent {
  id: string | undefined;
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
  const valuesOf = (field: string) =>
    [...block.matchAll(new RegExp(`^${field}: ?(.*)$`, 'gm'))].map(([, value = '']) => value);
  const data = valuesOf('data');
  return data.length > 0 ? { id: valuesOf('id').at(-1), data: data.join('\n') } : null;
}
