import { useEffect, useState } from 'react';
import classes from './CopyButton.module.css';
import { Icon } from './Icon';
import { uiTexts } from './ui-texts';
import { Unseen } from './Unseen';

const SHOWN_MS = 2000;

const ICONS = { copied: 'check', notCopied: 'alert' } as const;

/**
 * Copies `text`; `label` names the action, such as 'Copy phone number'. Draws nothing where the browser
 * offers no clipboard, which it does on HTTPS pages and on localhost only; it may refuse to use it, too.
 */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState<'copied' | 'notCopied' | null>(null);

  useEffect(() => {
    if (!result) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);

  if (!('clipboard' in navigator)) return null;
  return (
    <>
      <button
        type="button"
        className={classes.copy}
        aria-label={label}
        title={label}
        onClick={() =>
          void navigator.clipboard.writeText(text).then(
            () => setResult('copied'),
            () => setResult('notCopied'),
          )
        }
      >
        <Icon name={result ? ICONS[result] : 'copy'} size={15} />
      </button>
      <Unseen role="status">{result ? uiTexts()[result] : ''}</Unseen>
    </>
  );
}
