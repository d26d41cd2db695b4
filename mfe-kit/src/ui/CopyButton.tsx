import { useEffect, useState } from 'react';
import classes from './CopyButton.module.css';
import { Icon } from './Icon';
import { uiTexts } from './ui-texts';
import { Unseen } from './Unseen';

const SHOWN_MS = 2000;

/**
 * Copies `text`; `label` names the action, such as 'Copy phone number'. Draws nothing where the browser
 * offers no clipboard, which it does on HTTPS pages and on localhost only.
 */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);

  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  if (!('clipboard' in navigator)) return null;
  return (
    <>
      <button
        type="button"
        className={classes.copy}
        aria-label={label}
        title={label}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        <Icon name={isCopied ? 'check' : 'copy'} size={15} />
      </button>
      <Unseen role="status">{isCopied ? uiTexts().copied : ''}</Unseen>
    </>
  );
}
