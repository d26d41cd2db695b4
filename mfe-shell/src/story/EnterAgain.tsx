import { Link, useLocation } from 'react-router';
import { storyHeight } from '../layout/told-height';
import { tabStorage } from '../tab-storage';
import { ENTRY_CODE } from './open-session';
import classes from './StoryCard.module.css';
import { storyTexts } from './story-texts';

/** The way back for a guest who has signed out, or whose session ended: they were never given a password. */
export default function EnterAgain() {
  const { pathname } = useLocation();
  const code = tabStorage.read(ENTRY_CODE);
  if (typeof code !== 'string' || pathname === '/enter') return null;
  return (
    <p className={`raised ${classes.card} ${classes.notice}`} ref={storyHeight}>
      <Link to={`/enter#${code}`}>{storyTexts().enterAgain}</Link>
    </p>
  );
}
