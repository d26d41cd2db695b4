import { useRef } from 'react';
import { Link, useLocation } from 'react-router';
import { useHeight } from '../layout/useHeight';
import { tabStorage } from '../tab-storage';
import { ENTRY_CODE } from './open-session';
import classes from './StoryCard.module.css';
import { storyTexts } from './story-texts';

/** The way back for a guest who has signed out, or whose session ended: they were never given a password. */
export default function EnterAgain() {
  const { pathname } = useLocation();
  const code = tabStorage.read(ENTRY_CODE);
  return typeof code === 'string' && pathname !== '/enter' ? <Again code={code} /> : null;
}

function Again({ code }: { code: string }) {
  const part = useRef<HTMLParagraphElement>(null);
  useHeight(part, '--story');
  return (
    <p className={`${classes.card} ${classes.notice}`} ref={part}>
      <Link to={`/enter#${code}`}>{storyTexts().enterAgain}</Link>
    </p>
  );
}
