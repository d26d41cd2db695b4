import { Icon, type IconName } from 'mfe-kit/ui';
import { useEffect, useEffectEvent, useRef } from 'react';
import { shellTexts } from '../shell-texts';
import type { Toast } from './toast-list';
import classes from './Toasts.module.css';

const ICONS: Record<Toast['type'], IconName> = {
  success: 'success',
  error: 'failure',
  warning: 'alert',
  info: 'info',
  loading: 'clock',
};

interface ToastCardProps {
  toast: Toast;
  isHeld: boolean;
  /** Called when its time is over, or it is dismissed. */
  onClose: () => void;
}

export function ToastCard({ toast, isHeld, onClose }: ToastCardProps) {
  const { type, message, duration } = toast;
  const left = useRef(duration);
  const close = useEffectEvent(onClose);

  useEffect(() => {
    if (isHeld || duration === 0) return;
    const started = performance.now();
    const timer = setTimeout(close, left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(0, left.current - (performance.now() - started));
    };
  }, [isHeld, duration]);

  return (
    <div className={`raised ${classes.toast} ${classes[type]}`}>
      <Icon name={ICONS[type]} />
      <span>{message}</span>
      <button
        type="button"
        aria-label={shellTexts().dismiss}
        // A click must not move the focus here, which would pause the other toasts.
        onMouseDown={(event) => event.preventDefault()}
        onClick={onClose}
      >
        <Icon name="close" size={15} />
      </button>
    </div>
  );
}
