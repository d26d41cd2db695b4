import type { ComponentProps, KeyboardEvent, MouseEvent, ReactNode } from 'react';
import classes from './Button.module.css';

/** The props of a `Button`: those of the element, and its looks. */
export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  /** A page has one primary button; `text` and `link` have no frame. */
  type?: 'default' | 'primary' | 'text' | 'link';
  /** 27, 36 or 40 px high. */
  size?: 'small' | 'middle' | 'large';
  /** For what can't be undone. */
  danger?: boolean;
  /** Spans the width of its place. */
  block?: boolean;
  /** Drawn before the label; a button with nothing else needs an `aria-label`. */
  icon?: ReactNode;
  /** While true, the icon turns and clicks do nothing. */
  loading?: boolean;
  /** `submit` sends the form around it. */
  htmlType?: 'button' | 'submit' | 'reset';
}

/** A button. */
export function Button({
  type = 'default',
  size = 'middle',
  danger = false,
  block = false,
  icon,
  loading = false,
  htmlType = 'button',
  className,
  children,
  onClick,
  onKeyDown,
  ...button
}: ButtonProps) {
  const looks = [
    classes.button,
    classes[type],
    classes[size],
    danger && classes.danger,
    block && classes.block,
    (children ?? null) === null && classes.square,
    loading && classes.loading,
    className,
  ];
  const ignore = (event: MouseEvent) => event.preventDefault();
  return (
    <button
      {...button}
      type={htmlType}
      className={looks.filter(Boolean).join(' ')}
      data-primary={type === 'primary' || undefined}
      aria-busy={loading || undefined}
      onClick={loading ? ignore : onClick}
      onKeyDown={(event) => {
        onKeyDown?.(event);
        ignoreRepeat(event);
      }}
    >
      {loading ? <Turning /> : icon ? <span className={classes.icon}>{icon}</span> : null}
      {typeof children === 'string' ? <span>{children}</span> : children}
    </button>
  );
}

/** Enter that is held down would click again and again, also what has the focus by then. */
function ignoreRepeat(event: KeyboardEvent) {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
}

function Turning() {
  return (
    <svg className={classes.turning} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M12 2a10 10 0 0 1 10 10" />
    </svg>
  );
}
