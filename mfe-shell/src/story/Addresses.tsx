import { CopyButton } from 'mfe-kit/ui';
import type { ReactNode } from 'react';
import classes from './StoryCard.module.css';

export function Addresses({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <div className={classes.invitations}>
      <h3>{title}</h3>
      <p className="detail">{text}</p>
      <ul role="list">{children}</ul>
    </div>
  );
}

interface AddressProps {
  name: string;
  url: string;
  copy: string;
}

export function Address({ name, url, copy }: AddressProps) {
  return (
    <li>
      <span>
        {name}
        <span className={`detail ${classes.address}`}>{url}</span>
      </span>
      <CopyButton text={url} label={copy} />
    </li>
  );
}
