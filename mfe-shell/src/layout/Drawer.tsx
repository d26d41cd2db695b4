import { Button, Icon, useFocusLoop } from 'mfe-kit/ui';
import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react';
import { shellTexts } from '../shell-texts';
import classes from './Drawer.module.css';

/** From this width the sidebar is beside the content; the same as in the style sheets. */
const WIDE = '(min-width: 768px)';

interface DrawerProps {
  label: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/**
 * The sidebar of narrow screens: slides in from the left over the page, which then neither scrolls nor
 * takes the focus. It is the browser's modal dialog, which keeps the focus inside, closes on Escape and
 * restores the focus.
 */
export function Drawer({ label, isOpen, onClose, children }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useFocusLoop(dialog, isOpen);

  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);

  useEffect(() => {
    if (!isOpen) return;
    const wide = window.matchMedia(WIDE);
    wide.addEventListener('change', onClose);
    return () => wide.removeEventListener('change', onClose);
  }, [isOpen, onClose]);

  // The content fills the dialog: a click on the dialog itself is one on its backdrop.
  const closeFromOutside = ({ target }: MouseEvent) => {
    if (target === dialog.current) onClose();
  };

  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- the dialog handles Escape
    <dialog
      className={classes.drawer}
      ref={dialog}
      aria-label={label}
      onClose={onClose}
      onClick={closeFromOutside}
    >
      <div className={classes.content}>
        <Button
          className={classes.close}
          type="text"
          icon={<Icon name="close" />}
          aria-label={shellTexts().closeMenu}
          onClick={onClose}
        />
        {children}
      </div>
    </dialog>
  );
}
