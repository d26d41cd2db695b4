import type { ShowNotification } from 'mfe-kit';

export interface Toast {
  /** Unique, and new for a replacement, whose timer starts again. */
  id: number;
  key: string | undefined;
  type: ShowNotification['type'];
  message: string;
  /** Milliseconds; 0 stays until it is dismissed. */
  duration: number;
}

/** The default duration in milliseconds (REQ-377). */
const DEFAULT_MS = 5000;

/** Browsers fire longer timers at once. */
const LONGEST_MS = 2 ** 31 - 1;

const TYPES: readonly unknown[] = ['success', 'error', 'warning', 'info', 'loading'];

let last = 0;

/** Reads an event's detail, which any script on the page may have sent; `null` without a message. */
export function readToast(detail: Partial<ShowNotification> | null | undefined): Toast | null {
  const { type, message, duration, key } = detail ?? {};
  if (typeof message !== 'string' || message === '') return null;
  return {
    id: ++last,
    key,
    type: type && TYPES.includes(type) ? type : 'info',
    message,
    duration: typeof duration === 'number' && duration >= 0 ? Math.min(duration, LONGEST_MS) : DEFAULT_MS,
  };
}

/** The number of earlier errors that stay where other toasts make room. */
const KEPT_ERRORS = 2;

/** `makesRoom` is `true` if earlier toasts leave for the new one. */
export type ToastChange =
  | { act: 'show'; toast: Toast; makesRoom: boolean }
  | { act: 'remove'; id: number }
  | { act: 'dismiss'; key: string };

/** The toasts after a change; a new one replaces one with the same key, or that says the same. */
export function changeToasts(toasts: Toast[], change: ToastChange): Toast[] {
  switch (change.act) {
    case 'show': {
      const { toast } = change;
      const others = toasts.filter(
        ({ key, type, message }) =>
          (key === undefined || key !== toast.key) && (type !== toast.type || message !== toast.message),
      );
      return [...(change.makesRoom ? keptFrom(others) : others), toast];
    }
    case 'remove':
      return toasts.filter(({ id }) => id !== change.id);
    case 'dismiss':
      return toasts.filter(({ key }) => key !== change.key);
  }
}

/** The toasts that stay when another one is shown: the last errors, and what ends with what it is about. */
function keptFrom(toasts: Toast[]): Toast[] {
  const errors = toasts.filter(({ type }) => type === 'error').slice(-KEPT_ERRORS);
  return toasts.filter((toast) => errors.includes(toast) || toast.duration === 0);
}
