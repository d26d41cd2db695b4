import { queryClient } from '../query/query-client';
import { areActsRecorded, beginOpening, endAct, moveToScreen, type OpenAct, setScreen } from './act';

/** A screen that polls, or whose calls hang, counts as opened after this time, in milliseconds. */
const LONGEST_MS = 10_000;

/** The time within which a screen starts a query that depends on the last answer, in milliseconds. */
const QUIET_MS = 100;

/** The key in the tab's storage of a reload that tries again. */
const TRIED_AGAIN = 'tried_again';

interface Opening {
  act: OpenAct;
  isDrawn: boolean;
  look: () => void;
  end: (at?: number) => void;
}

let opening: Opening | null = null;

/** Measures how long screens take to open, from the address to the last of their data. Called by the shell. */
export const screenAct = {
  /** A person goes to a screen, or the portal sends them on to another one. `pattern` is that of its path. */
  open(pattern: string, isSentOn: boolean): void {
    if (!areActsRecorded()) return;
    setScreen(pattern);
    if (opening && isSentOn) moveToScreen(opening.act);
    else begin(isReloaded() ? 'try again' : 'open a screen');
  },

  /** The screen is drawn, or what is drawn in its place when it has failed; its data may be missing still. */
  drawn(hasFailed: boolean): void {
    if (!opening) return;
    if (hasFailed) opening.act.failed = true;
    opening.isDrawn = true;
    opening.look();
  },

  /** A person presses Retry, and the screen is loaded again on this page. */
  tryAgain(): void {
    begin('try again');
  },

  /** Reloads the page because a person presses Retry. */
  reload(): void {
    opening?.end();
    // The act is the next page's, which ends it.
    if (areActsRecorded()) stored((storage) => storage.setItem(TRIED_AGAIN, 'true'));
    window.location.reload();
  },
};

function begin(name: 'open a screen' | 'try again') {
  opening?.end();
  const act = beginOpening(name);
  if (!act) return;
  let quiet: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    const isSettled = current.isDrawn && queryClient.isFetching() === 0;
    if (!isSettled) {
      clearTimeout(quiet);
      quiet = undefined;
    } else quiet ??= setTimeout(end, QUIET_MS, performance.now());
  };
  const end = (at?: number) => {
    clearTimeout(quiet);
    clearTimeout(longest);
    stop();
    if (opening === current) opening = null;
    if (hasFailedQuery()) act.failed = true;
    endAct(act, at);
  };
  const longest = setTimeout(end, LONGEST_MS);
  const stop = queryClient.getQueryCache().subscribe(look);
  const current: Opening = { act, isDrawn: false, look, end };
  opening = current;
}

/** A body that can't be read fails a screen, and no call. */
function hasFailedQuery(): boolean {
  const shown = queryClient.getQueryCache().findAll({ type: 'active' });
  return shown.some(({ state }) => state.status === 'error');
}

function isReloaded(): boolean {
  return stored((storage) => {
    const found = storage.getItem(TRIED_AGAIN) !== null;
    storage.removeItem(TRIED_AGAIN);
    return found;
  });
}

/** Runs `act` on the tab's storage; returns whether it returned `true`, `false` if the storage fails. */
function stored(act: (storage: Storage) => unknown): boolean {
  try {
    return act(sessionStorage) === true;
  } catch {
    return false;
  }
}
