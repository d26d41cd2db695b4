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
  onTimeOver: () => void;
  onDismiss: () => void;
}

export function ToastCard({ toast, isHeld, onTimeOver, onDismiss }: ToastCardProps) {
  const { type, message, duration } = toast;
  const left = useRef(duration);
  const timeOver = useEffectEvent(onTimeOver);

  useEffect(() => {
    if (isHeld || duration === 0) return;
    const started = performance.now();
    const timer = setTimeout(timeOver, left.current);
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
        onClick={onDismiss}
      >
        <Icon name="close" size={15} />
      </button>
    </div>
  );
}
