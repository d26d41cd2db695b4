import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'react-router';
import { Button } from './Button';
import { Icon, type IconName } from './Icon';
import classes from './MenuButton.module.css';

/** One entry of a menu: a link or an action. */
export type MenuItem = { label: string; icon?: IconName } & ({ to: string } | { onSelect: () => void });

interface MenuButtonProps {
  /** Names the button. */
  label: string;
  /** The button's content. */
  face: ReactNode;
  /** Drawn above the entries. */
  heading?: ReactNode;
  items: MenuItem[];
}

/**
 * A button with a menu, as in the ARIA Authoring Practices: focus moves into the menu, arrows
 * and first letters move within it, Escape and Tab leave it. (antd's Dropdown does not move focus into its menu.)
 */
export function MenuButton({ label, face, heading, items }: MenuButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const openedAt = useRef(0);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    lines(menu.current).at(openedAt.current)?.focus();
    const closeFromOutside = ({ target }: PointerEvent) => {
      if (!root.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeFromOutside);
    return () => document.removeEventListener('pointerdown', closeFromOutside);
  }, [isOpen]);

  /** Opens with the focus on an entry: 0 is the first, -1 the last. */
  function open(at: number) {
    openedAt.current = at;
    setOpen(true);
  }

  function close() {
    setOpen(false);
    button.current?.focus();
  }

  function onMenuKey(event: KeyboardEvent) {
    const all = lines(menu.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      all.at(step % all.length)?.focus();
    } else if (event.key === 'Escape') {
      close();
    } else if (event.key === 'Tab') {
      setOpen(false);
    } else if (event.key.length === 1) {
      const letter = event.key.toLowerCase();
      [...all.slice(at + 1), ...all]
        .find(({ textContent }) => textContent.toLowerCase().startsWith(letter))
        ?.focus();
    }
  }

  return (
    <div className={classes.root} ref={root}>
      <Button
        type="text"
        ref={button}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => (isOpen ? setOpen(false) : open(0))}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          open(event.key === 'ArrowDown' ? 0 : -1);
        }}
      >
        {face}
      </Button>
      {isOpen ? (
        <div className={`raised ${classes.panel}`}>
          {heading ? <div className={classes.heading}>{heading}</div> : null}
          <div id={id} role="menu" tabIndex={-1} aria-label={label} ref={menu} onKeyDown={onMenuKey}>
            {items.map((item) => (
              <Line key={item.label} item={item} onDone={close} />
            ))}
          </div>
        </div>
      ) : null}
    </div>
  );
}

function Line({ item, onDone }: { item: MenuItem; onDone: () => void }) {
  const content = (
    <>
      {item.icon ? <Icon name={item.icon} /> : null}
      {item.label}
    </>
  );
  if ('to' in item) {
    return (
      <Link role="menuitem" tabIndex={-1} className={classes.line} to={item.to} onClick={onDone}>
        {content}
      </Link>
    );
  }
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={classes.line}
      onClick={() => {
        onDone();
        item.onSelect();
      }}
    >
      {content}
    </button>
  );
}

function lines(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
}
