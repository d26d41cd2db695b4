import type { ComponentProps, ReactNode } from 'react';
import classes from './Input.module.css';

/** The element of an `Input`. */
export type InputRef = HTMLInputElement;

/** The props of an `Input`: those of the element, and its looks. */
export interface InputProps extends Omit<ComponentProps<'input'>, 'prefix' | 'size'> {
  /** 36 or 40 px high. */
  size?: 'middle' | 'large';
  /** Draws it as invalid. */
  status?: 'error' | '';
  /** Drawn inside the frame, before what is typed. */
  prefix?: ReactNode;
  /** Drawn inside the frame, after what is typed. */
  suffix?: ReactNode;
}

/** A text field. */
export function Input({ size = 'middle', status = '', prefix, suffix, className, ...input }: InputProps) {
  const looks = [classes.field, size === 'large' && classes.large, status && classes.error, className]
    .filter(Boolean)
    .join(' ');
  if (!prefix && !suffix) return <input type="text" {...input} className={looks} />;
  return (
    <span className={`${looks} ${classes.framed}`} data-frame data-disabled={input.disabled}>
      {prefix ? <span className={classes.prefix}>{prefix}</span> : null}
      <input type="text" {...input} />
      {suffix ? <span className={classes.suffix}>{suffix}</span> : null}
    </span>
  );
}
