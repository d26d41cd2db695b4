import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import classes from './Tooltip.module.css';

interface TooltipProps {
  /** The text; assistive technology reads it as the description of `children`. */
  text: ReactNode;
  children: ReactNode;
}

/**
 * Additional text, shown on hover, focus or tap. The tooltip can be hovered, stays until pointer and
 * focus have left, and closes on Escape (WCAG 1.4.13).
 */
export function Tooltip({ text, children }: TooltipProps) {
  const id = useId();
  const whole = useRef<HTMLSpanElement>(null);
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isShown = isHovered || isFocused;

  useEffect(() => {
    if (!isShown) return;
    const hide = () => {
      setHovered(false);
      setFocused(false);
    };
    const hideOnEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      // The tooltip is on top, so Escape closes it and nothing below it.
      event.stopPropagation();
      hide();
    };
    const hideOnTapElsewhere = ({ target }: PointerEvent) => {
      if (!whole.current?.contains(target as Node)) hide();
    };
    document.addEventListener('keydown', hideOnEscape, { capture: true });
    document.addEventListener('pointerdown', hideOnTapElsewhere);
    return () => {
      document.removeEventListener('keydown', hideOnEscape, { capture: true });
      document.removeEventListener('pointerdown', hideOnTapElsewhere);
    };
  }, [isShown]);

  return (
    <span
      ref={whole}
      className={classes.whole}
      onPointerEnter={({ pointerType }) => setHovered(pointerType !== 'touch')}
      onPointerLeave={() => setHovered(false)}
    >
      <button
        type="button"
        className={classes.trigger}
        aria-describedby={id}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        // Safari does not focus a button that is clicked or tapped.
        onClick={() => setFocused(true)}
      >
        {children}
      </button>
      <span id={id} role="tooltip" className={classes.place} hidden={!isShown}>
        <span className={`raised ${classes.text}`}>{text}</span>
      </span>
    </span>
  );
}
