/** Milliseconds that what a page reports waits for more of it. */
const WAIT_MS = 1000;

/** The server accepts calls of 8 KiB with 20 items. */
const MAX_ITEMS = 20;
const MAX_BYTES = 4096;

interface Limits<Item> {
  /** The number of items that wait; later ones are dropped. */
  most?: number;
  /** Items that are dropped, because they have waited for too long. */
  isOutdated?: (item: Item) => boolean;
}

/**
 * Sends items to an address in as few calls as take them: a while after the first is added, and when the page is left.
 * What the browser does not take waits for the next item.
 */
export function beacon<Item>(
  address: string,
  bodyOf: (items: readonly Item[]) => object,
  { most = Infinity, isOutdated = () => false }: Limits<Item> = {},
) {
  let waiting: Item[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    waiting = waiting.filter((item) => !isOutdated(item));
    while (waiting.length > 0) {
      const part = waiting.slice(0, MAX_ITEMS);
      let body = blobOf(bodyOf(part));
      while (body.size > MAX_BYTES && part.length > 1) {
        part.pop();
        body = blobOf(bodyOf(part));
      }
      if (!navigator.sendBeacon(address, body)) return;
      waiting = waiting.slice(part.length);
    }
  }

  const onHidden = () => {
    if (document.visibilityState === 'hidden') flush();
  };
  document.addEventListener('visibilitychange', onHidden);
  return {
    add: (item: Item) => {
      if (waiting.length >= most) return;
      waiting.push(item);
      timer ??= setTimeout(flush, WAIT_MS);
    },
    stop: () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onHidden);
    },
  };
}

function blobOf(body: object): Blob {
  return new Blob([JSON.stringify(body)], { type: 'application/json' });
}
