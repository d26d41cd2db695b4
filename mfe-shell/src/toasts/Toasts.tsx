import type { ShowNotification } from 'mfe-kit';
import { Icon, type IconName } from 'mfe-kit/ui';
import { useEffect, useState } from 'react';
import classes from './Toasts.module.css';

/** Milliseconds a toast stays when it does not say. */
const DEFAULT_MS = 5000;

interface Toast extends ShowNotification {
  id: number;
  key: string;
}

const ICONS: Record<ShowNotification['type'], IconName> = {
  success: 'success',
  error: 'failure',
  warning: 'alert',
  info: 'info',
  loading: 'clock',
};

let shown = 0;

/** Draws what `showNotification` events ask for, top-right; errors interrupt a screen reader, the others wait. */
export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const remove = (id: number) => setToasts((all) => all.filter((toast) => toast.id !== id));

  useEffect(() => {
    const show = (event: Event) => {
      const detail = (event as CustomEvent<ShowNotification>).detail;
      const id = ++shown;
      const toast = { ...detail, id, key: detail.key ?? `toast-${id}` };
      setToasts((all) => [...all.filter(({ key }) => key !== toast.key), toast]);
    };
    const dismiss = (event: Event) => {
      setToasts((all) => all.filter(({ key }) => key !== (event as CustomEvent<string>).detail));
    };
    window.addEventListener('showNotification', show);
    window.addEventListener('dismissNotification', dismiss);
    return () => {
      window.removeEventListener('showNotification', show);
      window.removeEventListener('dismissNotification', dismiss);
    };
  }, []);

  const draw = (toast: Toast) => <ToastCard key={toast.id} toast={toast} onRemove={() => remove(toast.id)} />;
  return (
    <div className={classes.corner}>
      <div role="alert">{toasts.filter(({ type }) => type === 'error').map(draw)}</div>
      <div role="status">{toasts.filter(({ type }) => type !== 'error').map(draw)}</div>
    </div>
  );
}

function ToastCard({ toast, onRemove }: { toast: Toast; onRemove: () => void }) {
  const [isHeld, setHeld] = useState(false);
  const duration = toast.duration ?? DEFAULT_MS;

  // Held under the pointer or the focus, it starts its time anew when it is let go.
  useEffect(() => {
    if (isHeld || duration === 0) return;
    const timer = setTimeout(onRemove, duration);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a toast's time does not start anew when another comes
  }, [isHeld, duration]);

  return (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- it only waits longer; nothing is done here
    <div
      className={`${classes.toast} ${classes[toast.type]}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={ICONS[toast.type]} />
      <span>{toast.message}</span>
      <button type="button" aria-label="Dismiss" onClick={onRemove}>
        <Icon name="close" size={15} />
      </button>
    </div>
  );
}
