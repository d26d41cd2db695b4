import { storage } from '../storage/storage';

export type Theme = 'light' | 'dark';

const KEY = 'theme';
/** A choice that the browser did not store holds for this page. */
let unstored: Theme | null = null;

/** Paper is white, also for what is drawn in colours that style sheets can't change. */
let isPrinting = false;

const listeners = new Set<() => void>();
const systemDark = () => window.matchMedia('(prefers-color-scheme: dark)');

/** Light or dark: the stored choice, else the system's preference (REQ-165, REQ-166). */
export const theme = {
  get current(): Theme {
    if (isPrinting) return 'light';
    return stored() ?? (systemDark().matches ? 'dark' : 'light');
  },

  /** Marks the page, and follows the system, the other tabs and the printer. Called once by the shell. */
  start(): void {
    systemDark().addEventListener('change', changed);
    window.addEventListener('storage', ({ key }) => {
      if (key === null || key === KEY) changed();
    });
    for (const event of ['beforeprint', 'afterprint'] as const)
      window.addEventListener(event, () => {
        isPrinting = event === 'beforeprint';
        changed();
      });
    changed();
  },

  /** Switches the theme and stores the choice. */
  toggle(): void {
    const next = theme.current === 'dark' ? 'light' : 'dark';
    unstored = storage.set(KEY, next) ? null : next;
    changed();
  },

  /** Calls back on every change; returns a function that unsubscribes. */
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

function stored(): Theme | null {
  const value = unstored ?? storage.get(KEY);
  return value === 'light' || value === 'dark' ? value : null;
}

function changed() {
  document.documentElement.classList.toggle('dark', theme.current === 'dark');
  for (const listener of listeners) listener();
}
